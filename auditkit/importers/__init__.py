"""Importers, one a source format: they translate into members, compute nothing and fill nothing in."""
