"""Non-deterministic systems: tests over topics and instances."""
