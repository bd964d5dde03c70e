"""How many topics would settle it?"""
