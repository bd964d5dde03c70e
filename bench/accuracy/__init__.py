"""How many digits are right."""
