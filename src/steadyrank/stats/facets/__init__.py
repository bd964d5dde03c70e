"""Scores by judge and answer: variance components, tests of systems, and figures of judges."""
