"""What evaluation tools leave in files: one reader per form, found by what a file holds."""
