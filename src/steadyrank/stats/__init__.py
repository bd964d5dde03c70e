"""Statistics that know numbers, not retrieval: tests, resampling, corrections, effect sizes."""
