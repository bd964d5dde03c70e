"""Do two runs differ? Tests, corrections, intervals and decisions."""
