"""Measures: their names, their kernels, and `evaluate`: runs + qrels -> Scores."""
