"""Plumbing that knows neither retrieval nor statistics: kernels, threads, files.

What the environment sets for Numba is settled here, before anything imports it.
"""

import os
import re
import sys

# Numba would read `.numba_config.yaml` of the current folder, whoever put it there, and load
# machine code from the `cache_dir` that it names. What the environment says comes first. Where
# Numba is imported already, a change would make it forget settings that were made since.
if "numba" not in sys.modules:
    os.environ.setdefault("NUMBA_CACHE_DIR", "")

# No kernel uses Numba's own threads, and Numba cannot be imported with fewer than one.
if re.fullmatch(r"\s*(-\d+|0+)\s*", os.environ.get("NUMBA_NUM_THREADS", "")):
    del os.environ["NUMBA_NUM_THREADS"]
