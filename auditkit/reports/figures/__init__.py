"""Plots, one module an audit: results in, ``document.Figure`` out."""
