"""Real experiments; each module runs one, resumably, and writes its page in docs/results."""
