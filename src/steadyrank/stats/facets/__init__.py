"""Scores by judges and answers beside systems and topics: what varies, and what that leaves."""
