"""Reports: a result becomes a document (``sections``), and each format renders documents."""
