"""Sakai & Shang, EVIA 2016."""
