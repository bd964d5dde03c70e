"""Do two runs differ? Tests, corrections, intervals and the decisions made of them."""
