"""Statistics of arrays of scores: tests, resampling, corrections, effect sizes, planning."""
