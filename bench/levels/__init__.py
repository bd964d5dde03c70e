"""Count how often tests find a difference that does not exist."""
