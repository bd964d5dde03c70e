"""How often tests find a difference where there is none."""
