"""Other tools' objects and frames, in and out."""
