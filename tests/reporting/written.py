"""A written report as a reader has it: the first screen, sections, tables, the panel of two runs.

Everything is read off the file, with names of runs in full: hovering tells them.
"""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

VOID = ("meta", "input", "br")
BLOCKS = ("p", "li", "figcaption", "dd", "summary")
"""What holds sentences."""

UNREAD = ("script", "style", "svg", "table", "select", "button", "h2", "h3", "small")
"""What holds none."""


@dataclass
class Node:
    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str = "", **wanted: str) -> Iterator[Node]:
        """Below it, in order; `class_` is one of its classes."""
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag or not tag:
                    own = {**child.attributes, "class_": wanted.get("class_")}
                    classes = str(child.attributes.get("class", "")).split()
                    if wanted.items() <= own.items() and (
                        "class_" not in wanted or wanted["class_"] in classes
                    ):
                        yield child
                yield from child.all(tag, **wanted)

    def one(self, tag: str = "", **wanted: str) -> Node:
        (found,) = self.all(tag, **wanted)
        return found

    def text(self, without: tuple[str, ...] = ()) -> str:
        """Its words; a name that is shown short, or cut, in full."""
        pieces = []
        for child in self.children:
            if isinstance(child, str):
                pieces.append(child)
            elif child.tag == "span" and child.attributes.get("title"):
                pieces.append(str(child.attributes["title"]))
            elif child.tag not in without:
                pieces.append(child.text(without))
        return " ".join("".join(pieces).split())


class _Tree(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.open = [Node("page")]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


@dataclass(frozen=True)
class WrittenBar:
    about: str
    text: str
    link: str
    is_largest: bool


class WrittenPage:
    """What a reader of the file has before him."""

    def __init__(self, path: Path):
        self.html = path.read_text("utf-8")
        self.root = _Tree(self.html).open[0]
        self.main = self.root.one("main")

    @cached_property
    def data(self) -> dict[str, Any]:
        return json.loads(self.root.one("script", id="page-data").text())

    @property
    def pairs(self) -> dict[str, Any]:
        """The panel of two runs."""
        return self.data["pairs"]

    @cached_property
    def tables(self) -> dict[str, list[dict[str, str]]]:
        return {
            name: list(
                csv.DictReader(StringIO(parts["csv"]["head"] + "".join(parts["csv"]["rows"])))
            )
            for name, parts in self.data["tables"].items()
        }

    # The first screen

    @property
    def verdict(self) -> str:
        return self.main.one("p", id="page-verdict").text()

    @property
    def line(self) -> str:
        return " ".join(node.text() for node in self.main.all("p", class_="line"))

    @property
    def cautions(self) -> list[str]:
        return [
            item.text()
            for box in self.main.all("ul", **{"aria-label": "Cautions"})
            for item in box.all("li")
        ]

    @cached_property
    def board(self) -> list[dict[str, str]]:
        table = self.main.one("section", class_="board").one("table")
        header = [cell.text() for cell in table.one("thead").all("th")]
        rows = []
        for row in table.one("tbody").all("tr"):
            cells = [node for node in row.children if isinstance(node, Node)]
            texts = [str(cell.attributes.get("title") or cell.text()) for cell in cells]
            rows.append(dict(zip(header, texts, strict=True)))
        return rows

    @cached_property
    def bars(self) -> list[WrittenBar]:
        return [
            WrittenBar(
                about=item.one("a").text(),
                text=item.one("span", class_="n").text(),
                link=str(item.one("a").attributes["href"]).removeprefix("#"),
                is_largest=any(item.all("rect", class_="largest")),
            )
            for box in self.main.all("section", class_="causes")
            for item in box.all("li")
        ]

    @property
    def not_examined(self) -> str:
        boxes = self.main.all("section", class_="causes")
        return " ".join(node.text() for box in boxes for node in box.all("p"))

    @cached_property
    def tiles(self) -> list[tuple[str, str]]:
        return [
            (item.one("strong").text(), item.text(("strong",)))
            for box in self.main.all("ul", class_="tiles")
            for item in box.all("li")
        ]

    # The rest

    @cached_property
    def sections(self) -> dict[str, Node]:
        """Those that the data support."""
        return {
            str(node.attributes["id"]): node
            for node in self.main.all("section", class_="fold")
            if not str(node.attributes["id"]).startswith("page-")
        }

    def found(self, section: str) -> list[str]:
        """What a section has found: beside its title, and below it."""
        node = self.sections[section]
        said = [*node.all("span", class_="found"), *node.all("p", class_="more")]
        return [one.text() for one in said]

    def blocks(self) -> list[str]:
        """Texts in which sentences stand, in order."""
        return list(_blocks(self.main))

    def sentences(self) -> list[str]:
        return [
            sentence
            for block in self.blocks()
            for sentence in re.split(r"(?<=[.?!]) (?=[A-Z≥])", block)
            if sentence
        ]


def _blocks(node: Node) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, Node) and child.tag not in UNREAD:
            if child.tag in BLOCKS:
                yield child.text(UNREAD)
            else:
                yield from _blocks(child)


def field_of(panel: dict[str, Any], key: str, pair: int) -> str:
    """A text of the panel of two runs, as the page's script reads it."""
    coded = panel["fields"][key]
    if "codes" not in coded:
        return coded["texts"][0]
    n = len(panel["names"])
    raw = base64.b64decode(coded["codes"])
    width = 2 * len(raw) // (n * (n - 1))
    return coded["texts"][int.from_bytes(raw[width * pair : width * (pair + 1)], "little")]


def pair_of(panel: dict[str, Any], one: str, other: str) -> int:
    """Which pair of the panel two runs are."""
    a, b = sorted(panel["names"].index(run) for run in (one, other))
    return a * (2 * len(panel["names"]) - a - 1) // 2 + b - a - 1
