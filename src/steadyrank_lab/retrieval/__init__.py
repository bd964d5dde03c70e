"""Makes runs: text to counts of words, to indexes, to the rankings of seventeen models."""
