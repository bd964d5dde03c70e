"""Experiments of one paper, which live in the laboratory: `steadyrank_lab.papers`, by this name."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("steadyrank_lab.papers")
