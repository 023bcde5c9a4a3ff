"""How a classifier will do on texts it has not seen: with a few labels, with texts alone, with neither."""
