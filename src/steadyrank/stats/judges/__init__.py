"""Cheap scores and dear ones of the same runs: correcting the first by the second, agreement."""
