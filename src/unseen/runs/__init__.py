"""Whole runs made of the verbs, in folders, resumable; each kind in a module of its own. Study files are here too."""
