"""Which component of the systems matters?"""
