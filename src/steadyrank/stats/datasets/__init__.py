"""Scores of runs on many datasets: aggregates, flips, meta-analysis, ranks."""
