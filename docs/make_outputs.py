"""Write the outputs of commands into README.md, docs/choose.md, report.md, howto and cases.

python docs/make_outputs.py [PAGE ...]

Below a block of commands, a `text` block under the line `<!-- output -->` has what they print;
under `<!-- output 9 -->` its first nine lines; under `<!-- output last -->` its last paragraph. The
commands run on the track that `steadyrank demo` writes, and on the files that the scripts of a page
write: Python under `<!-- script NAME -->`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from steadyrank.cli import run

DOCS = Path(__file__).parent
PAGES = (
    DOCS.parent / "README.md",
    DOCS / "choose.md",
    DOCS / "report.md",
    *sorted((DOCS / "howto").glob("*.md")),
    *sorted((DOCS / "cases").glob("*.md")),
)

WIDTH = 100

SHOWN = re.compile(
    r"^```sh\n(?P<commands>(?:(?!^```).*\n)+)```\n\n"
    r"<!-- output ?(?P<lines>\d*|last) -->\n```text\n(?P<output>(?:(?!^```).*\n)*)```$",
    re.MULTILINE,
)


SCRIPT = re.compile(r"^<!-- script [\w.]+ -->\n```python\n(.*?)```$", re.MULTILINE | re.DOTALL)


def make_track(folder: Path) -> None:
    """Write the track of `steadyrank demo` without its report, and run the pages' scripts."""
    with contextlib.redirect_stdout(io.StringIO()):
        run(["demo", "--data-only", "--out", str(folder / "steadyrank-demo"), "--quiet"])
    for page in PAGES:
        for script in SCRIPT.findall(page.read_text("utf-8")):
            subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)


def printed(commands: str, lines: str = "") -> str:
    """Return what commands print in the current folder, or the first lines of it."""
    kept = io.StringIO()
    with contextlib.redirect_stdout(kept):
        for line in commands.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["steadyrank"]:
                code = run([*words[1:], "--quiet"])
                if code not in (0, 3, 4):  # a gate's verdict has 3 and 4
                    raise RuntimeError(f"exit code {code}: {line}")
    return shown(kept.getvalue(), lines)


def shown(output: str, lines: str = "") -> str:
    """Return what a page shows of an output: all lines, the first, or the last paragraph.

    Sentences are folded as in a terminal; tables keep their width.
    """
    if lines == "last":
        output = output.rstrip("\n").split("\n\n")[-1]
        lines = ""
    text = "".join(f"{_folded(line)}\n" for line in output.rstrip("\n").split("\n"))
    first = text.split("\n")[: int(lines)] if lines else []
    return "\n".join([*first, "…", ""]) if first else text


def _folded(line: str) -> str:
    return line.rstrip() if line.startswith(" ") else textwrap.fill(line, WIDTH)


def outputs(text: str) -> list[tuple[str, str, str]]:
    """Return the commands of a page, the output that it shows for each, and its number of lines.

    >>> outputs("```sh\\nsteadyrank doctor\\n```\\n\\n<!-- output -->\\n```text\\nfine\\n```")
    [('steadyrank doctor\\n', 'fine\\n', '')]
    """
    return [(shown["commands"], shown["output"], shown["lines"]) for shown in SHOWN.finditer(text)]


def renewed(text: str) -> str:
    """Return a page with the current output of its commands."""
    for commands, output, lines in outputs(text):
        head = f"{commands}```\n\n<!-- output{f' {lines}' if lines else ''} -->\n```text\n"
        text = text.replace(f"{head}{output}```", f"{head}{printed(commands, lines)}```")
    return text


def main(pages: Sequence[Path]) -> None:
    """Run the commands of these pages and write what they print."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_track(Path(folder))
        for page in pages:
            page.write_text(renewed(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main([Path(name).resolve() for name in sys.argv[1:]] or PAGES)
