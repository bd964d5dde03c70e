"""ir_metadata: what a run file's comments say about the run (Breuer et al., SIGIR 2022).

The comments hold YAML between `# ir_metadata.start` and `# ir_metadata.end`. Of it the plain
part is read: names, nested by indentation, with text, numbers or lists. Whatever else stands
there is left out: it must never keep a run from being read. doi:10.1145/3477495.3531738
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

START, END = "ir_metadata.start", "ir_metadata.end"

_MEMBER = re.compile(r"""(?P<name>"[^"]*"|'[^']*'|[^\s"'#:][^:#]*?)\s*:(?:\s+(?P<value>.*))?""")


def run_metadata(comments: Iterable[str]) -> dict[str, str]:
    """The columns of run information that comment lines hold.

    A nested name is written with dots, but for the team and the tag, which every command knows.

    >>> run_metadata(["# ir_metadata.start", "# actor:", "#   team: IRLab", "# ir_metadata.end"])
    {'team': 'IRLab'}
    """
    columns: dict[str, str] = {}
    for name, value in _members(_block(comments)):
        known = "team" if name == "actor.team" else name
        columns[known] = f"{columns[known]}, {value}" if known in columns else value
    return columns


def _block(comments: Iterable[str]) -> Iterator[str]:
    """The lines of YAML, without the hash and the space behind it."""
    inside = False
    for comment in comments:
        line = comment.removeprefix("#").removeprefix(" ")
        if line.strip() == START:
            inside = True
        elif line.strip() == END:
            return
        elif inside:
            yield line


def _members(block: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names with their values, one pair per value of a list."""
    above: list[tuple[int, str]] = []
    for line in block:
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        is_item = content.startswith("- ")
        if is_item:
            content = content[2:].lstrip(" ")
        # The items of a list may stand as far left as the name that they belong to.
        above = [(at, name) for at, name in above if at < indent or (is_item and at == indent)]
        match = _MEMBER.fullmatch(content.rstrip())
        path = ".".join(name for _, name in above)
        if match is None:
            if is_item and path and _plain(content):
                yield path, _plain(content)
            continue
        name = _plain(match["name"])
        value = _plain(match["value"] or "")
        if value:
            yield (f"{path}.{name}" if path else name), value
        elif not is_item:
            above.append((indent, name))


def _plain(text: str) -> str:
    """A value without its quotes, or without the comment behind it."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return re.sub(r"(?:^|\s+)#.*", "", text)
