"""Selective search."""
