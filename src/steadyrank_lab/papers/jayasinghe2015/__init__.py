"""Reproduction of Jayasinghe et al. (IP&M 2015)."""

from steadyrank_lab.papers.jayasinghe2015.exhibits import jayasinghe2015

__all__ = ["jayasinghe2015"]
