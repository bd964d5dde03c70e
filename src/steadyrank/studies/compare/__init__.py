"""Who beats whom, how surely, by how much?"""
