"""Commands in random environments: locale, time zone, home, umask, threads, limits.

Each case is a new process. Its result is that of a plain environment to the byte, or one
line says what is lacking.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

import steadyrank
from bench.faults.trials import write_inputs

SOURCE = Path(steadyrank.__file__).parents[1]
NO_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]

VARIABLES = {
    "LC_ALL": ("C", "POSIX", "C.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1", "nowhere"),
    "LANG": ("C", "ja_JP.SJIS", ""),
    "TZ": ("Asia/Kathmandu", "Pacific/Kiritimati", "nowhere", ""),
    "HOME": ("{read_only}", "/nowhere", "", "{file}", None),
    "XDG_CACHE_HOME": ("{read_only}", "relative", ""),
    "XDG_CONFIG_HOME": ("{read_only}", ""),
    "TMPDIR": ("{odd}", "/nowhere"),
    "PYTHONIOENCODING": ("ascii", "latin-1", "utf-16", "cp437"),
    "PYTHONUTF8": ("0", "1"),
    "PYTHONHASHSEED": ("0", "12345"),
    "PYTHONOPTIMIZE": ("1", "2"),
    "PYTHONUNBUFFERED": ("1",),
    "PYTHONDONTWRITEBYTECODE": ("1",),
    "PYTHONWARNINGS": ("error", "always"),
    "NUMBA_CACHE_DIR": ("{read_only}", "{odd}", ""),
    "NUMBA_NUM_THREADS": ("1", "2", "0"),
    "NUMBA_THREADING_LAYER": ("workqueue", "nowhere"),
    "OPENBLAS_NUM_THREADS": ("1", "0", "x"),
    "OMP_NUM_THREADS": ("1", "-1"),
    "MPLBACKEND": ("agg", "module://nowhere"),
    "MPLCONFIGDIR": ("{read_only}", "{odd}"),
    "MATPLOTLIBRC": ("/nowhere",),
    "TERM": ("dumb", "xterm-256color", ""),
    "COLUMNS": ("0", "1", "-5", "x", "1000000"),
    "NO_COLOR": ("1", ""),
    "FORCE_COLOR": ("1",),
    "PAGER": ("/nowhere",),
    "CI": ("true",),
}
"""Values of a variable; None removes it."""

COMMANDS = (
    "evaluate qrels.txt runs --format json",
    "compare qrels.txt runs --format csv",
    "topics qrels.txt runs --trials 5 --format json --plot figure.svg",
    "check qrels.txt runs --format json",
    "holes qrels.txt runs --samples 10 --format json",
)
UMASKS = ("022", "077", "000", "0777")


def write_files(place: Path) -> Path:
    """Write the inputs and unusual folders."""
    data = place / "data"
    data.mkdir()
    write_inputs(data)
    for name in ("read only", "a folder, é\N{SNOWMAN}"):
        (place / name).mkdir()
    (place / "file").write_text("no folder\n")
    (place / "read only").chmod(0o555)
    return data


def environment(number: int, place: Path) -> dict[str, str]:
    """Return environment `number`, with four unusual variables on average."""
    rng = np.random.default_rng([zlib.crc32(b"environments"), number])
    names = rng.choice(list(VARIABLES), size=int(rng.integers(1, 8)), replace=False)
    folders = {
        "read_only": place / "read only",
        "odd": place / "a folder, é\N{SNOWMAN}",
        "file": place / "file",
    }
    variables = {**os.environ, "PYTHONPATH": str(SOURCE)}
    for name in names.tolist():
        value = VARIABLES[name][rng.integers(len(VARIABLES[name]))]
        variables.pop(name, None)
        if value is not None:
            variables[name] = value.format(**folders)
    return variables


def call(words: list[str], data: Path, variables: dict[str, str], umask: str) -> tuple[int, bytes]:
    """Return exit code and output; stderr must have at most one line."""
    as_user = NO_RIGHTS if os.geteuid() == 0 and shutil.which("setpriv") else []
    command = [sys.executable, "-m", "steadyrank", *words, "--quiet"]
    made = subprocess.run(
        [*as_user, "sh", "-c", f'umask {umask} && exec "$@"', "sh", *command],
        cwd=data,
        env=variables,
        capture_output=True,
        check=False,
    )
    errors = made.stderr.decode("utf-8", "replace").splitlines()
    assert len(errors) == (1 if made.returncode else 0), made.stderr
    assert all(line.startswith("steadyrank: ") for line in errors), made.stderr
    return made.returncode, made.stdout


@functools.cache
def plain(words: tuple[str, ...], data: Path) -> bytes:
    variables = {**os.environ, "PYTHONPATH": str(SOURCE)}
    code, printed = call(list(words), data, variables, "022")
    assert code == 0
    return printed


def answer(number: int, data: Path, place: Path) -> bool:
    """Return whether environment `number` is refused."""
    rng = np.random.default_rng([zlib.crc32(b"commands"), number])
    words = COMMANDS[rng.integers(len(COMMANDS))].split()
    umask = UMASKS[rng.choice(len(UMASKS), p=[0.5, 0.3, 0.15, 0.05])]
    expected = plain(tuple(words), data)
    variables = environment(number, place)
    code, printed = call(words, data, variables, umask)
    coding = variables.get("PYTHONIOENCODING", "utf-8")
    with_letters = printed.decode(coding) if code == 0 else ""
    ascii_only = expected.isascii()
    assert code in (0, 1, 2)
    assert code or with_letters.encode() == expected or not ascii_only
    return code != 0
