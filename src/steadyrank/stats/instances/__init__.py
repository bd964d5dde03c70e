"""Systems that vary: tests over topics and instances."""
