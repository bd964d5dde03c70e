"""May this change ship?"""
