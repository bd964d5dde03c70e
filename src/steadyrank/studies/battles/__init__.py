"""`battles`: who wins pairwise comparisons, and how far that holds."""
