"""How a classifier will do where nobody has tested it: with a few labels, with texts alone, with neither."""
