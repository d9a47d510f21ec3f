"""The version of the package, of which every output carries a copy."""

__version__ = "0.1.0"
