"""Reports: one HTML file that needs nothing else, tables, cards, and comparisons of runs."""
