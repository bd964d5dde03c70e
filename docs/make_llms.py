"""Write `llms.txt`, the list of pages for agents, and `llms-full.txt`, all pages.

python docs/make_llms.py FOLDER

Both follow the lists of docs/index.md, and `docs/conf.py` writes them into the built site: a page
that is in the index is in both.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^\n]*\]\([^\n]+\)\n+", re.MULTILINE)

SUMMARY = """\
# steadyrank

> How far can you trust this leaderboard? A command and a Python library for information-retrieval
> experiments: significance, rank sets, other topics, documents, datasets, judges and instances,
> missing judgments, sample sizes, and a gate for nightly builds.

Begin with "For agents": commands, JSON keys, exit codes, verdicts, and what never to conclude.
`llms-full.txt` has all pages in one file.
"""


def sections() -> list[tuple[str, list[Path]]]:
    """Return the index's lists of pages with their captions."""
    found = []
    for block in TOCTREE.findall((DOCS / "index.md").read_text("utf-8")):
        caption, *pages = [line for line in block.splitlines() if line and "maxdepth" not in line]
        files = [DOCS / f"{line.rstrip('>').split('<')[-1]}.md" for line in pages]
        found.append((caption.removeprefix(":caption: "), files))
    return found


def pages() -> list[Path]:
    """Return every page: the index, the pages that it lists, and the others."""
    listed = [DOCS / "index.md", *(file for _, files in sections() for file in files)]
    every = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
    return [*listed, *(page for page in every if page not in listed)]


def index_text() -> str:
    """Return `llms.txt`: each page with its title and its readers."""
    parts = [SUMMARY]
    for caption, files in sections():
        lines = [f"- [{title(file)}]({address(file)}): {readers(file)}" for file in files]
        parts.append("\n".join([f"## {caption}", "", *lines, ""]))
    return "\n".join(parts)


def full_text() -> str:
    """Return `llms-full.txt`: every page without pictures and lists of pages."""
    parts = [SUMMARY]
    for page in pages():
        text = PICTURE.sub("", TOCTREE.sub("", page.read_text("utf-8"))).strip()
        parts.append(f"<!-- {page.relative_to(DOCS).as_posix()} -->\n\n{text}\n")
    return "\n".join(parts)


def title(page: Path) -> str:
    """Return the first heading of a page."""
    return re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)[1]


def readers(page: Path) -> str:
    """Return the line of a page that names its readers."""
    return re.search(r"^\*(For [^\n]+)\*$", page.read_text("utf-8"), re.MULTILINE)[1].rstrip(".")


def address(page: Path) -> str:
    """Return the address of a page in the built site."""
    return page.relative_to(DOCS).with_suffix(".html").as_posix()


def write(folder: Path) -> None:
    """Write both files into a folder."""
    (folder / "llms.txt").write_text(index_text(), "utf-8")
    (folder / "llms-full.txt").write_text(full_text(), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
