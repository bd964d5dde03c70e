"""Would other random instances of the systems change it?"""
