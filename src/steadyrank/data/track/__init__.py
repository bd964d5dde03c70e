"""A TREC-like track whose truth is known."""
