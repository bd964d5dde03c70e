"""Statistics of pairwise comparisons: strengths, their errors, which battle to run next."""
