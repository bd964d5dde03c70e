"""Would other topics change the table?"""
