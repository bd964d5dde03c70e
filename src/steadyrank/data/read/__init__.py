"""Files into runs, judgments and scores."""
