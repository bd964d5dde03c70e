"""Several steps in a row: the demo, the doctor."""
