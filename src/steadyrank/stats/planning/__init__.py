"""How many topics it takes."""
