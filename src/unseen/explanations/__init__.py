"""Explanations: what each unit of a text contributed to a label, and whether that can be trusted."""
