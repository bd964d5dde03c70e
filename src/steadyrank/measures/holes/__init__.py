"""Unjudged documents: where runs have them, and what their grades could change."""
