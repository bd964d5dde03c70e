"""Results must not move when nothing that matters has changed."""
