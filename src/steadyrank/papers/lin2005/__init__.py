"""Lin & Hauptmann, SIGIR 2005."""
