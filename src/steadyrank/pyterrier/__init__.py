"""`Experiment` with PyTerrier's signature and frame, and what steadyrank adds to each measure.

For anyone who compares pipelines by `pt.Experiment`: the same call gives the same columns and,
after them, intervals of the means, p-values corrected for the number of systems and the ranks that
each system may have. Systems are result frames, transformers or functions of topics; neither
PyTerrier nor Java is needed.
"""

from __future__ import annotations

from steadyrank.pyterrier.experiment import Experiment

__all__ = ["Experiment"]
