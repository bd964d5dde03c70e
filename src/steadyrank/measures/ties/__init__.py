"""What tied documents do to a measure."""
