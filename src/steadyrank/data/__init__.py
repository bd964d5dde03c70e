"""Runs, judgments and scores: reading, checking, writing.

The types know nothing of files. `interop` (what other tools hold) and `write` import them, and
`read` imports all three; `track` draws runs and judgments from a model.
"""

import os

PathLike = str | os.PathLike[str]
"""The name of a file."""
