"""Reporting checklists, one module a source: each point answered, missing or violated, from the result alone.

The points follow what the sources ask of a report; their wording is ours. ``missing`` tells what to add to the audit
file, so that the next audit can answer.
"""
