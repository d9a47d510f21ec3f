"""What a report says of each audit, whatever the format: verdict, tables, notes, what was skipped."""
