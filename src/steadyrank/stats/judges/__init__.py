"""Scores by people and by a judge: agreement, and estimates that combine both."""
