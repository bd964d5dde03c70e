"""Agreement of two rankings."""
