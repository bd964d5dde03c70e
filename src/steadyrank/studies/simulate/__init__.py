"""Would another document collection change the table?"""
