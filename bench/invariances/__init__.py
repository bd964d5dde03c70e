"""Results must not change if nothing relevant has changed."""
