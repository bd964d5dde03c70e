"""Text, index, models and search."""
