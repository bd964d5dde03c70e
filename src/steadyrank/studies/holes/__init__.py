"""Would complete judgments change the table?"""
