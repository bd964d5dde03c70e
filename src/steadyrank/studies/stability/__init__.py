"""How well do these topics rank and measure systems like these?"""
