"""Benchmarks. `python -m benchmarks` runs them all and rewrites docs/results/splitting.md."""
