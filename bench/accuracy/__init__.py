"""Count correct digits."""
