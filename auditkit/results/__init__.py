"""Frozen result types, one module an audit; ``common`` holds what they are made of."""
