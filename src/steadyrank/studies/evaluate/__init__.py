"""Who leads, and which topics are hard?"""
