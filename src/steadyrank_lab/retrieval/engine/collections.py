"""Documents as text, from the forms that collections come in.

JSON lines, TREC's SGML, a folder of text files, `irds:` names of ir_datasets, `builtin`, or a
dictionary; plain or gzip. The first bytes of a file say what it is; errors name its line.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from steadyrank.compute.executors import Progress
from steadyrank.data.interop.tables import DOCUMENT_NAMES
from steadyrank.data.read.datasets import is_dataset, load_dataset
from steadyrank.data.read.sources import CHUNK, PathLike, base_name, find_files, open_bytes
from steadyrank.data.read.streams import LONGEST_LINE, open_again, size_of
from steadyrank.errors import FormatError, InputError, MachineError
from steadyrank_lab.retrieval.builtin.collection import builtin_documents, is_builtin
from steadyrank_lab.retrieval.engine.tokens import decoded

Source = PathLike | Iterable[PathLike] | Mapping[str, str]
"""A file, several, a glob, a folder, `irds:NAME`, `builtin`, or {id: text}."""


class Document(NamedTuple):
    """A document: its id, and its title and text as one."""

    id: str
    text: str


class _Found(NamedTuple):
    """A document as it was found, in which line of its file, and in how many bytes."""

    id: Any
    text: Any
    line: int = 0
    size: int = 1


_EXPECTED = "expected JSON lines (id, title, text), TREC's <DOC>, or a folder of text files"
_ID_FIELDS = ("id", "_id", *DOCUMENT_NAMES)
_TEXT_FIELDS = ("text", "contents", "body")
_BOM = b"\xef\xbb\xbf"

_OPEN_DOC = re.compile(rb"<doc\b[^<>]*>", re.IGNORECASE)
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


def read_collection(source: Source, *, progress: Progress | None = None) -> Iterator[Document]:
    """Yield the documents of a collection, each id once.

    `source` is a file of JSON lines (`id`, `title`, `text`), a file of TREC's
    `<DOC><DOCNO>…</DOCNO>…</DOC>`, several of either (names, a glob, a folder), a folder of text
    files (the id is the path below the folder without `.txt`), `irds:NAME`, `builtin` (see
    `builtin_collection`; a folder of this name is `./builtin`), or {id: text}. `progress` is told
    the bytes read and how many there are (documents for `irds:`, `builtin` and dictionaries).

    >>> list(read_collection({"d1": "A small collection"}))
    [Document(id='d1', text='A small collection')]
    """
    if is_builtin(source):
        source = builtin_documents()
    parts: Iterable[tuple[Path | None, int, Iterator[_Found]]]
    if isinstance(source, Mapping):
        parts = [(None, len(source), (_Found(*item) for item in source.items()))]
    elif is_dataset(source):
        parts = [_dataset(str(source))]
    else:
        parts = _files(source)
    parts = list(parts)
    seen: set[str] = set()
    tell = _teller(progress, sum(size for _, size, _ in parts))
    before = 0
    for path, size, documents in parts:
        done = before
        for document in documents:
            name = document.id if isinstance(document.id, str) else str(document.id)
            if name in seen or not _is_usable(name) or not isinstance(document.text, str):
                message = _defect(document, name, seen)
                raise FormatError(path, message, document.line) if path else InputError(message)
            seen.add(name)
            yield Document(name, document.text)
            done = min(done + document.size, before + size)  # packed files hold more than this
            tell(done)
        before += size
        tell(before)
    if not seen:
        raise InputError(f"the collection holds no documents: {_EXPECTED}")


def _teller(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Return a function that tells of every hundredth of the total."""
    reported = 0

    def tell(done: int) -> None:
        nonlocal reported
        if progress is not None and (done == total or done - reported >= max(1, total // 100)):
            reported = done
            progress(done, total)

    return tell


def collection_digest(source: Source) -> str:
    """Return a checksum of what `read_collection` reads; for `irds:`, of name and size."""
    digest = hashlib.blake2b(digest_size=16)
    if is_builtin(source):
        source = builtin_documents()
    if isinstance(source, Mapping):
        for item in source.items():
            _feed(digest, *(str(part).encode("utf-8", "surrogatepass") for part in item))
    elif is_dataset(source):
        name = str(source)
        _feed(digest, name.encode(), str(load_dataset(name, "docs").docs_count()).encode())
    else:
        folder = _folder(source)
        for path in _paths(source):
            label = path.name if folder is None else path.relative_to(folder).as_posix()
            _feed(digest, label.encode("utf-8", "surrogateescape"))
            with open_again(path) as stream:
                while piece := stream.read(CHUNK):
                    digest.update(piece)
    return digest.hexdigest()


def _feed(digest: Any, *parts: bytes) -> None:
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)


def _is_usable(name: str) -> bool:
    """Return whether a run can name a document so: no blanks, and no halves of letters."""
    if name.split() != [name]:
        return False
    try:
        return name.isascii() or bool(name.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return False


def _defect(document: _Found, name: str, seen: set[str]) -> str:
    if name in seen:
        return f"the document {name!r} occurs twice: remove one"
    if not isinstance(document.text, str):
        return f"expected text for the document {name!r}, got {document.text!r:.40}"
    return f"expected a document id without blanks, got {name[:40]!r}: runs name it"


def _paths(source: PathLike | Iterable[PathLike]) -> list[Path]:
    folder = _folder(source)
    if folder is None:
        return find_files(source)
    inside = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    visible = [path for path in inside if not any(part.startswith(".") for part in path.parts)]
    if not visible:
        raise InputError(f"{folder}: the folder holds no files")
    return [folder / path for path in visible]


def _folder(source: PathLike | Iterable[PathLike]) -> Path | None:
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    return path if path is not None and path.is_dir() else None


def _files(
    source: PathLike | Iterable[PathLike],
) -> list[tuple[Path | None, int, Iterator[_Found]]]:
    """Return each file with its size and its documents; the first file says which form all have."""
    files, folder = _paths(source), _folder(source)
    with open_bytes(files[0]) as stream:
        head = stream.read(4096).removeprefix(_BOM)
    read: Callable[[Path], Iterator[_Found]]
    if head.lstrip().startswith(b"{"):
        read = _json_documents
    elif _STARTS_WITH_DOC.match(head):
        read = _sgml_documents
    elif folder is None:
        raise FormatError(files[0], f"{_EXPECTED}, got {head[:40]!r}" if head else "empty", 1)
    else:
        read = partial(_text_document, folder)
    return [(path, size_of(path), read(path)) for path in files]


def _json_documents(path: Path) -> Iterator[_Found]:
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
                yield _Found(_json_id(record), _json_text(record), line, len(raw))
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


def _sgml_documents(path: Path) -> Iterator[_Found]:
    line = 1
    for block in _sgml_blocks(path):
        opened = _OPEN_DOC.search(block)
        start = opened.start() if opened else len(block)
        # Around documents there may only be tags: of a prologue, or of an element around them all.
        if other := _ANY_TAG.sub(b"", block[:start]).strip():
            raise FormatError(path, f"expected <DOC>, got {decoded(other[:40])!r}", line)
        if opened:
            first = line + block.count(b"\n", 0, start)
            name, text = _sgml_document(block[opened.end() :], path, first)
            yield _Found(name, text, first, len(block))
        line += block.count(b"\n")


def _sgml_document(content: bytes, path: Path, line: int) -> tuple[str, str]:
    closed = _CLOSE_DOC.search(content)
    if closed is None:
        raise FormatError(path, "this <DOC> has no </DOC>: the file was cut", line)
    content = content[: closed.start()]
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


def _sgml_blocks(path: Path) -> Iterator[bytes]:
    """Yield the file in pieces that each end with a `</DOC>`, and the rest."""
    with open_bytes(path) as stream:
        kept, searched = bytearray(), 0
        while piece := stream.read(CHUNK):
            kept += piece
            start = 0
            for end in [closed.end() for closed in _CLOSE_DOC.finditer(kept, searched)]:
                yield bytes(kept[start:end])
                start = end
            # What was searched is not searched again, except for a tag that may go on.
            last = kept.rfind(b"<", max(start, searched))
            searched = (len(kept) if last < 0 else last) - start
            del kept[:start]
            if len(kept) > LONGEST_LINE:
                message = f"a document of more than {LONGEST_LINE >> 20} MB: is a </DOC> missing?"
                raise FormatError(path, message)
        yield bytes(kept)


def _text_document(folder: Path, path: Path) -> Iterator[_Found]:
    with open_bytes(path) as stream:
        raw = stream.read()
    below = path.relative_to(folder).with_name(base_name(path).removesuffix(".txt"))
    yield _Found(below.as_posix(), decoded(raw.removeprefix(_BOM)), 1, len(raw))


def _dataset(name: str) -> tuple[None, int, Iterator[_Found]]:
    held = load_dataset(name, "docs")

    def documents() -> Iterator[_Found]:
        try:
            for document in held.docs_iter():
                yield _Found(document.doc_id, _text_of(document))
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            message = f"{name}: ir_datasets could not give its documents: {reason}"
            raise MachineError(message) from error

    return None, held.docs_count() or 0, documents()


def _text_of(document: Any) -> str:
    if hasattr(document, "default_text"):
        return str(document.default_text())
    fields = [getattr(document, name, "") for name in ("title", *_TEXT_FIELDS)]
    return " ".join(text for text in fields if isinstance(text, str) and text)
