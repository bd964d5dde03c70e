"""Commands that are killed or interrupted, and run again."""
