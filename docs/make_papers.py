"""Write what `steadyrank reproduce` finds into docs/papers and docs/evidence.

    python docs/make_papers.py [PAPER...]

docs/evidence/papers-PAPER.csv has all claims of a paper, as `steadyrank reproduce PAPER --format
csv` prints them. A page shows the claims that fail or are open, between `<!-- claims -->` and
`<!-- end -->`; docs/papers/index.md counts them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import steadyrank as sr
from steadyrank.present.table import Table, render, text_rows
from steadyrank_lab.papers.model import Reproduction, summary
from steadyrank_lab.papers.output import reproduction_text
from steadyrank_lab.papers.reproduce import PAPERS

DOCS = Path(__file__).parent
BLOCK = re.compile(r"<!-- claims -->\n.*?<!-- end -->", re.DOTALL)


def csv_of(paper: str) -> Path:
    """Return the file that has all claims of a paper."""
    return DOCS / "evidence" / f"papers-{paper}.csv"


def found(made: Reproduction) -> str:
    """Return what a page shows of a reproduction: its counts, and the claims that do not hold."""
    rows = [
        (each.id, claim.text, claim.published, claim.detail, claim.outcome)
        for each in made.exhibits
        for claim in each.claims
        if not claim.holds
    ]
    header = ("exhibit", "claim", "published", "here", "outcome")
    table = render(Table(header=header, rows=text_rows(rows), caption="", n_names=5), "markdown")
    return (
        f"Made from {made.data}. {summary(made.claims)} ([all claims]"
        f"(../evidence/{csv_of(made.paper).name})); seed {made.settings['seed']}, digest "
        f"`{made.settings['digest']}`. The claims that fail or are open:\n\n{table.strip()}\n"
    )


def counts(line: str) -> tuple[str, ...]:
    """Return the counts of claims in a page's text: all, and those that hold, fail and are open.

    >>> counts("Made from runs. 14 of 20 hold, 5 fail, 1 open ([all claims](x.csv))")
    ('20', '14', '5', '1')
    """
    found = re.search(r"(\d+) of (\d+) holds?, (\d+) fails?(?:, (\d+) open)?", line)
    assert found is not None, line
    held, every, failed, still_open = found.groups()
    return every, held, failed, still_open or "0"


def index_table() -> str:
    """Return the counts of all pages as a table."""
    lines = ["| paper | claims | hold | fail | open |", "|---|---:|---:|---:|---:|"]
    for paper in PAPERS:
        page = (DOCS / "papers" / f"{paper}.md").read_text("utf-8")
        block = BLOCK.search(page)
        assert block is not None, f"{paper}.md has no <!-- claims -->"
        title = page.splitlines()[0].removeprefix("# ")
        lines.append(f"| [{title}]({paper}.md) | {' | '.join(counts(block[0]))} |")
    return "\n".join(lines) + "\n"


def filled(page: str, text: str) -> str:
    """Return a page with another text between its marks."""
    return BLOCK.sub(lambda _: f"<!-- claims -->\n{text}\n<!-- end -->", page)


def main(papers: list[str]) -> None:
    """Make the papers named, or all, and write their pages."""
    for paper in papers or PAPERS:
        made = sr.reproduce(paper)
        csv_of(paper).write_text(reproduction_text(made, "csv"), encoding="utf-8")
        page = DOCS / "papers" / f"{paper}.md"
        page.write_text(filled(page.read_text("utf-8"), found(made)), encoding="utf-8")
    index = DOCS / "papers" / "index.md"
    index.write_text(filled(index.read_text("utf-8"), index_table()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
