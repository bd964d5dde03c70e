"""Digests of the golden figures, as `sha256sum` writes and checks them.

python tests/golden_sums.py                              writes tests/golden/SHA256SUMS
cd tests/golden && sha256sum --check --quiet SHA256SUMS     looks whether the files are these

Files that tests of this repository write themselves (`STEADYRANK_FREEZE=1`) have no digest: these
are our own promises, the others are figures of others, which nobody should change by accident.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
SUMS = GOLDEN / "SHA256SUMS"
FROZEN = {"names.json", "options.json", "outputs.json", "streams.json"}


def sums() -> str:
    """One line per file, in the order of their names."""
    paths = {path.relative_to(GOLDEN).as_posix(): path for path in GOLDEN.rglob("*")}
    golden = {
        name: path
        for name, path in paths.items()
        if path.is_file() and path != SUMS and name not in FROZEN
    }
    return "".join(
        f"{hashlib.sha256(golden[name].read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(golden)
    )


if __name__ == "__main__":
    SUMS.write_text(sums(), "utf-8")
