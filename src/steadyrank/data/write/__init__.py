"""Runs and judgments into files."""
