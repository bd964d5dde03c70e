"""Ferro, IIR 2018."""
