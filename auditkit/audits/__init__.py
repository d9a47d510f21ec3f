"""The audits, one question a file."""
