"""Would other datasets change it? Leaderboards over many collections."""
