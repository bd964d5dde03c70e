"""Runs, judgments and scores: reading, checking, writing."""
