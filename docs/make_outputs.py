"""Write what commands print into the pages that show it: README.md, docs/report.md, docs/howto.

python docs/make_outputs.py

Below a block of commands, a `text` block under the line `<!-- output -->` holds what they print;
under `<!-- output 9 -->` its first nine lines.
All run on the track that `steadyrank demo` writes, and on what the scripts of a page make: Python
under `<!-- script NAME -->`.
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
from pathlib import Path

from steadyrank.cli import run

DOCS = Path(__file__).parent
PAGES = (DOCS.parent / "README.md", DOCS / "report.md", *sorted((DOCS / "howto").glob("*.md")))

WIDTH = 100

SHOWN = re.compile(
    r"^```sh\n(?P<commands>(?:(?!^```).*\n)+)```\n\n"
    r"<!-- output ?(?P<lines>\d*) -->\n```text\n(?P<output>(?:(?!^```).*\n)*)```$",
    re.MULTILINE,
)


SCRIPT = re.compile(r"^<!-- script [\w.]+ -->\n```python\n(.*?)```$", re.MULTILINE | re.DOTALL)


def make_track(folder: Path) -> None:
    """The track of `steadyrank demo`, without its report, and what pages' scripts write."""
    for page in PAGES:
        for script in SCRIPT.findall(page.read_text("utf-8")):
            subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    with contextlib.redirect_stdout(io.StringIO()):
        run(["demo", "--data-only", "--out", str(folder / "steadyrank-demo"), "--quiet"])


def printed(commands: str, lines: str = "") -> str:
    """What lines of commands print, run in the current folder; of many, the first so many."""
    kept = io.StringIO()
    with contextlib.redirect_stdout(kept):
        for line in commands.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["steadyrank"]:
                run([*words[1:], "--quiet"])
    return shown(kept.getvalue(), lines)


def shown(output: str, lines: str = "") -> str:
    """What a page shows of an output: all lines, or the first so many.

    Sentences are folded as a terminal would fold them; tables stay as wide as they are.
    """
    text = "".join(f"{_folded(line)}\n" for line in output.rstrip("\n").split("\n"))
    first = text.split("\n")[: int(lines)] if lines else []
    return "\n".join([*first, "…", ""]) if first else text


def _folded(line: str) -> str:
    return line.rstrip() if line.startswith(" ") else textwrap.fill(line, WIDTH)


def outputs(text: str) -> list[tuple[str, str, str]]:
    """The commands of a page with the output that it shows for them, and how many lines of it.

    >>> outputs("```sh\\nsteadyrank doctor\\n```\\n\\n<!-- output -->\\n```text\\nfine\\n```")
    [('steadyrank doctor\\n', 'fine\\n', '')]
    """
    return [(shown["commands"], shown["output"], shown["lines"]) for shown in SHOWN.finditer(text)]


def renewed(text: str) -> str:
    """A page with the output that its commands have now."""
    for commands, output, lines in outputs(text):
        head = f"{commands}```\n\n<!-- output{f' {lines}' if lines else ''} -->\n```text\n"
        text = text.replace(f"{head}{output}```", f"{head}{printed(commands, lines)}```")
    return text


def main() -> None:
    """Run the commands of every page and write what they print."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_track(Path(folder))
        for page in PAGES:
            page.write_text(renewed(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
