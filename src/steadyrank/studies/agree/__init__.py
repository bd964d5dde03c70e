"""Do the measures agree about the ranking?"""
