"""What is wrong or odd with these files?"""
