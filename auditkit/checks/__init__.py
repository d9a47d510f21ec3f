"""Pure judgements on results: passed, failed or skipped, each with its reason."""
