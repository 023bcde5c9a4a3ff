"""Evaluation: predictions to measurements."""
