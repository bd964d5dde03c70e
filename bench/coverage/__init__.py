"""Count how often intervals cover the truth."""
