"""Commands that are killed or interrupted, and repeated."""
