"""The documentation as a site: `sphinx-build -W -b html docs docs/_build`.

Pages are Markdown (MyST). The reference of names is made by autodoc from docstrings, which
are plain text with `code` and doctests: `readable` turns them into what Sphinx reads.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from steadyrank import __version__

sys.path.append(str(Path(__file__).parent))
import make_llms

project = "steadyrank"
author = "The steadyrank developers"
project_copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = False
suppress_warnings = ["ref.python"]  # axes such as [pair] in docstrings look like references
smartquotes = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"steadyrank {__version__}"
html_static_path: list[str] = []
templates_path = ["_templates"]
published = (Path(__file__).parent / "versions.txt").read_text("utf-8").split()
short_version = ".".join(__version__.split(".")[:2])
html_context = {
    "short_version": short_version,
    "other_versions": [other for other in published if other != short_version],
}
html_show_sourcelink = False
html_copy_source = False

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "inherited-members": "BaseException"}
python_use_unqualified_type_names = True
maximum_signature_line_length = 78
add_module_names = False

SPECIAL = re.compile(r"([\\*|_])")


def readable(lines: list[str]) -> list[str]:
    """Return a plain docstring as reStructuredText: code is marked, the rest is literal.

    >>> readable(["The share |d| of `a_b` in runs_*:", "", ">>> 1 + 1", "2"])
    ['The share \\\\|d\\\\| of ``a_b`` in runs\\\\_\\\\*:', '', '>>> 1 + 1', '2']
    """
    return [line for block in _blocks(lines) for line in (*_block(block), "")][:-1]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the paragraphs of a docstring."""
    for is_text, block in groupby(lines, key=lambda line: bool(line.strip())):
        if is_text:
            yield list(block)


def _block(block: list[str]) -> list[str]:
    first = block[0].lstrip()
    if first.startswith(">>>"):
        return block
    if first.startswith("- "):
        return _literal("\n".join(block)).split("\n")
    if block[0] != first:  # An indented formula or table keeps its shape.
        return ["::", "", *(f"    {line}" for line in block)]
    return _literal("\n".join(block)).split("\n")


def _literal(text: str) -> str:
    """Return text with backquoted parts as code and the rest escaped."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(
        f"``{part.strip('`')}``" if part.startswith("`") else SPECIAL.sub(r"\\\1", part)
        for part in parts
    )


def _on_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = readable(lines)


def _on_finish(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        make_llms.write(Path(app.outdir))


def setup(app: Any) -> None:
    """Register the extension's functions."""
    app.connect("autodoc-process-docstring", _on_docstring)
    app.connect("build-finished", _on_finish)
