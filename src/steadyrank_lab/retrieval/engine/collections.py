"""Documents as text, from the forms that collections come in.

JSON lines, TREC's <DOC>, `irds:` names of ir_datasets, `builtin`, or a dictionary; plain or packed.
The first bytes of a file say what it is; errors name its line.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from steadyrank.data.interop.tables import DOCUMENT_NAMES
from steadyrank.data.read.datasets import is_dataset, load_dataset
from steadyrank.data.read.sources import PathLike, find_files, open_bytes
from steadyrank.data.read.streams import LONGEST_LINE
from steadyrank.errors import FormatError, InputError, MachineError
from steadyrank_lab.retrieval.builtin.collection import builtin_documents, is_builtin
from steadyrank_lab.retrieval.engine.tokens import decoded

Source = PathLike | Iterable[PathLike] | Mapping[str, str]
"""A file, several, a glob, a folder, `irds:NAME`, `builtin`, or {id: text}."""


class Document(NamedTuple):
    """A document: its id, and its title and text as one."""

    id: str
    text: str


Found = tuple[int, Any, Any]
"""A document as it was found: the line of its file, its id, and its text."""

_EXPECTED = "expected JSON lines (id, title, text) or TREC's <DOC>"
_ID_FIELDS = ("id", "_id", *DOCUMENT_NAMES)
_TEXT_FIELDS = ("text", "contents", "body")
_BOM = b"\xef\xbb\xbf"

_DOC = re.compile(rb"<doc\b[^<>]*>(.*?)</doc\s*>", re.IGNORECASE | re.DOTALL)
_OPEN_DOC = re.compile(rb"<doc\b", re.IGNORECASE)
_NEXT_DOC = re.compile(rb"<doc\b[^<>]*>\s*<docno\s*>", re.IGNORECASE)
_CLOSE_DOC = re.compile(rb"</doc\s*>", re.IGNORECASE)
_STARTS_WITH_DOC = re.compile(rb"\s*(?:<[^<>]*>\s*)*?<doc\b", re.IGNORECASE)
_DOCNO = re.compile(rb"<docno\s*>(.*?)</docno\s*>", re.IGNORECASE | re.DOTALL)
_HEADERS = {
    tag: re.compile(rb"<" + tag + rb"\s*>.*?</" + tag + rb"\s*>", re.IGNORECASE | re.DOTALL)
    for tag in (b"docno", b"docid", b"dochdr")
}
_OVERLONG = re.compile(r"&#[0-9]{4000,};?")  # more digits than Python turns into a number
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
_ANY_TAG = re.compile(rb"<[^<>]*>")


def read_collection(source: Source) -> Iterator[Document]:
    """Yield the documents of a collection, each id once.

    `source` is a file of JSON lines (`id`, `title`, `text`), a file of TREC's
    `<DOC><DOCNO>…</DOCNO>…</DOC>`, several of either (names, a glob, a folder), `irds:NAME`,
    `builtin` (see `builtin_collection`; a folder of this name is `./builtin`), or {id: text}.

    >>> list(read_collection({"d1": "A small collection"}))
    [Document(id='d1', text='A small collection')]
    """
    seen: set[str] = set()
    for path, (line, given, text) in _found(source):
        name = given if isinstance(given, str) else str(given)
        if name in seen or not _is_usable(name) or not isinstance(text, str):
            message = _defect(name, text, seen)
            raise FormatError(path, message, line) if path else InputError(message)
        seen.add(name)
        yield Document(name, text)
    if not seen:
        raise InputError(f"the collection holds no documents: {_EXPECTED}")


def _found(source: Source) -> Iterator[tuple[Path | None, Found]]:
    """Yield all documents, each with its file; the first file says which form all have."""
    if is_builtin(source):
        source = builtin_documents()
    if isinstance(source, Mapping):
        yield from ((None, (0, *item)) for item in source.items())
        return
    if is_dataset(source):
        yield from ((None, document) for document in _dataset(str(source)))
        return
    files = find_files(source)
    with open_bytes(files[0]) as stream:
        head = stream.read(4096).removeprefix(_BOM)
    read: Callable[[Path], Iterator[Found]]
    if head.lstrip().startswith(b"{"):
        read = _json_documents
    elif _STARTS_WITH_DOC.match(head):
        read = _trec_documents
    else:
        raise FormatError(files[0], f"{_EXPECTED}, got {head[:40]!r}" if head else "empty", 1)
    for path in files:
        yield from ((path, document) for document in read(path))


def _is_usable(name: str) -> bool:
    """Return whether a run can name a document so: no blanks, and no halves of letters."""
    if name.split() != [name]:
        return False
    try:
        return name.isascii() or bool(name.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return False


def _defect(name: str, text: Any, seen: set[str]) -> str:
    if name in seen:
        return f"the document {name!r} occurs twice: remove one"
    if not isinstance(text, str):
        return f"expected text for the document {name!r}, got {text!r:.40}"
    return f"expected a document id without blanks, got {name[:40]!r}: runs name it"


def _json_documents(path: Path) -> Iterator[Found]:
    with open_bytes(path, kept=False) as stream:
        for line, raw in enumerate(stream, start=1):
            content = raw.removeprefix(_BOM) if line == 1 else raw
            if content.isspace():
                continue
            try:
                record = json.loads(content.decode())
            except (ValueError, RecursionError):  # of JSON, or of UTF-8
                record = None
            if not isinstance(record, dict):
                got = content[:40].decode("utf-8", "replace")
                raise FormatError(path, f"expected a JSON object in UTF-8, got {got!r}", line)
            try:
                yield line, _json_id(record), _json_text(record)
            except InputError as error:
                raise FormatError(path, str(error), line) from None


def _json_id(record: dict[str, Any]) -> str | int:
    for field in _ID_FIELDS:
        value = record.get(field)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return value
    raise _lacking("'id' with text or a number", record)


def _json_text(record: dict[str, Any]) -> str:
    field = next((field for field in _TEXT_FIELDS if field in record), "")
    if not field and "title" not in record:
        raise _lacking("'text' or 'title'", record)
    title, text = record.get("title") or "", record.get(field) or ""
    if not isinstance(title, str) or not isinstance(text, str):
        raise InputError("expected title and text as strings")
    return f"{title} {text}" if title else text


def _lacking(field: str, record: dict[str, Any]) -> InputError:
    got = ", ".join(map(repr, list(record)[:8])) or "none"
    return InputError(f"expected a field {field}, got fields {got}")


def _trec_documents(path: Path) -> Iterator[Found]:
    with open_bytes(path, kept=False) as stream:
        kept, size, first = [], 0, 1  # lines behind the last </DOC>, and the number of the first
        for line, raw in enumerate(stream, start=1):
            kept.append(raw.removeprefix(_BOM) if line == 1 else raw)
            size += len(raw)
            if size > LONGEST_LINE:
                message = f"a document of more than {LONGEST_LINE >> 20} MB: is a </DOC> missing?"
                raise FormatError(path, message)
            if not _CLOSE_DOC.search(raw):
                continue
            block, done = b"".join(kept), 0
            for match in _DOC.finditer(block):
                _check_between(block[done : match.start()], path, first)
                at = first + block.count(b"\n", 0, match.start())
                yield at, *_trec_document(match[1], path, at)
                done = match.end()
            if not done:  # a </DOC> that closes nothing
                _check_between(block, path, first)
                done = len(block)
            kept, first = [block[done:]], first + block.count(b"\n", 0, done)
            size = len(kept[0])
        rest = b"".join(kept)
        opened = _OPEN_DOC.search(rest)
        _check_between(rest[: opened.start()] if opened else rest, path, first)
        if opened:
            at = first + rest.count(b"\n", 0, opened.start())
            raise FormatError(path, "this <DOC> has no </DOC>: the file was cut", at)


def _check_between(text: bytes, path: Path, line: int) -> None:
    """Refuse text around documents that is more than tags, as of an element around them all."""
    if other := _ANY_TAG.sub(b"", text).strip():
        raise FormatError(path, f"expected <DOC>, got {decoded(other[:40])!r}", line)


def _trec_document(content: bytes, path: Path, line: int) -> tuple[str, str]:
    if next_one := _NEXT_DOC.search(content):
        line += content.count(b"\n", 0, next_one.start())
        raise FormatError(path, "a <DOC> begins here before the last one ended: add </DOC>", line)
    name = _DOCNO.search(content)
    if name is None:
        raise FormatError(path, "this <DOC> has no <DOCNO>…</DOCNO>", line)
    for tag, header in _HEADERS.items():  # which are no text
        # Behind its last end no header closes: searching there would take quadratic time.
        end = content.lower().rfind(b"</" + tag) + len(tag) + 64
        content = header.sub(b" ", content[:end]) + content[end:]
    text = _TAG.sub(" ", decoded(content))
    if "&" in text:
        text = html.unescape(_OVERLONG.sub("\N{REPLACEMENT CHARACTER}", text))
    return decoded(name[1]).strip(), text


def _dataset(name: str) -> Iterator[Found]:
    held = load_dataset(name, "docs")
    try:
        for document in held.docs_iter():
            yield 0, document.doc_id, document.default_text()
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"{name}: ir_datasets could not give its documents: {reason}"
        raise MachineError(message) from error
