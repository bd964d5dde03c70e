"""How often intervals hold what they claim to."""
