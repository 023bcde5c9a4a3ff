"""The version of this package; results that are kept belong to it."""

__version__ = "0.1.0"
