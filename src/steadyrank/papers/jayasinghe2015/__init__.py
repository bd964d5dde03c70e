"""Jayasinghe et al., IP&M 2015."""
