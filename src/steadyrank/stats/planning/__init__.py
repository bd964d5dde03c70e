"""Numbers of topics: power, variance in a pilot, reversals on other topics."""
