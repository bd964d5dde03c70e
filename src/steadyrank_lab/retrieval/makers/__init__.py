"""Runs made from text: grids and instances of selective search."""
