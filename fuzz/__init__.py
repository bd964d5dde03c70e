"""Bad input: what is mutated, how, and what must come of it; the tests try fewer cases."""
