"""What only the reproduction of five papers needs."""
