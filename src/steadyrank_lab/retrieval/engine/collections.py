"""Documents and topics as text, from the forms that collections come in.

JSON lines, TREC's SGML, a folder of text files, `irds:` names of ir_datasets, `builtin`, or a
dictionary; plain or gzip. What a file is, its first bytes say; what is wrong with it is told with
its line.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from steadyrank.compute.executors import Progress
from steadyrank.data.interop.tables import DOCUMENT_NAMES
from steadyrank.data.read.datasets import is_dataset, load_dataset
from steadyrank.data.read.limits import LONGEST_LINE
from steadyrank.data.read.sources import CHUNK, PathLike, base_name, find_files, open_bytes
from steadyrank.data.read.streams import open_again, size_of
from steadyrank.errors import FormatError, InputError, MachineError
from steadyrank_lab.retrieval.builtin.collection import builtin_documents, is_builtin
from steadyrank_lab.retrieval.engine.tokens import decoded

Source = PathLike | Iterable[PathLike] | Mapping[str, str]
"""A file, several, a glob, a folder, `irds:NAME`, `builtin`, or {id: text}."""


class Document(NamedTuple):
    """A document: its id, and its title and text as one."""

    id: str
    text: str


class _SourceDocument(NamedTuple):
    """A document as it was found: where, and in how many bytes."""

    id: Any
    text: Any
    path: Path | None = None
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
_OPEN_DOCNO = re.compile(rb"<docno\s*>", re.IGNORECASE)
_OPEN_HEADER = re.compile(rb"<(docno|docid|dochdr)\s*>", re.IGNORECASE)
_CLOSE_HEADER = {
    tag: re.compile(rb"</" + tag + rb"\s*>", re.IGNORECASE)
    for tag in (b"docno", b"docid", b"dochdr")
}
# More digits than Python turns into a number.
_OVERLONG = re.compile(r"&#[0-9]{4000,};?")
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
_ANY_TAG = re.compile(rb"<[^<>]*>")


def read_collection(source: Source, *, progress: Progress | None = None) -> Iterator[Document]:
    """The documents of a collection, one after the other, each id once.

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
    if isinstance(source, Mapping):
        documents: Iterator[_SourceDocument] = (_SourceDocument(*item) for item in source.items())
        return _distinct(_watched(documents, len(source), progress))
    if is_dataset(source):
        return _distinct(_dataset_documents(str(source), progress))
    return _distinct(_file_documents(source, progress))


def collection_digest(source: Source) -> str:
    """A checksum of what `read_collection` would read; of an `irds:` name, its name and size."""
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
        for path in _files(source):
            label = path.name if folder is None else path.relative_to(folder).as_posix()
            _feed(digest, label.encode("utf-8", "surrogateescape"))
            with open_again(path) as stream:
                while piece := stream.read(CHUNK):
                    digest.update(piece)
    return digest.hexdigest()


def _feed(digest: Any, *parts: bytes) -> None:
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)


def _distinct(documents: Iterator[_SourceDocument]) -> Iterator[Document]:
    """The documents with usable ids, each once."""
    seen: set[str] = set()
    for document in documents:
        name = document.id if isinstance(document.id, str) else str(document.id)
        if name in seen or not _is_usable(name) or not isinstance(document.text, str):
            raise _defect(document, name, seen)
        seen.add(name)
        yield Document(name, document.text)
    if not seen:
        raise InputError(f"the collection holds no documents: {_EXPECTED}")


def _is_usable(name: str) -> bool:
    """Whether a run can name a document so: no blanks, and no halves of letters."""
    if name.split() != [name]:
        return False
    try:
        return name.isascii() or bool(name.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return False


def _defect(document: _SourceDocument, name: str, seen: set[str]) -> InputError:
    if name in seen:
        message = f"the document {name!r} occurs twice: remove one"
    elif not isinstance(document.text, str):
        message = f"expected text for the document {name!r}, got {document.text!r:.40}"
    else:
        message = f"expected a document id without blanks, got {name[:40]!r}: runs name it"
    return (
        InputError(message)
        if document.path is None
        else FormatError(document.path, message, document.line)
    )


def _watched(
    documents: Iterator[_SourceDocument],
    size: int,
    progress: Progress | None,
    *,
    before: int = 0,
    total: int | None = None,
) -> Iterator[_SourceDocument]:
    """The same documents, `size` in all; `progress` is told every hundredth of `total`.

    What is packed takes fewer bytes than come out of it: the rest of it is told when it ends.
    """
    if progress is None:
        yield from documents
        return
    total = size if total is None else total
    done = reported = before
    for document in documents:
        yield document
        done += document.size
        if done - reported >= total // 100 and done < before + size:
            reported = done
            progress(done, total)
    progress(before + size, total)


def _files(source: PathLike | Iterable[PathLike]) -> list[Path]:
    folder = _folder(source)
    if folder is None:
        return find_files(source)
    inside = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    visible = sorted(
        path for path in inside if not any(part.startswith(".") for part in path.parts)
    )
    if not visible:
        raise InputError(f"{folder}: the folder holds no files")
    return [folder / path for path in visible]


def _folder(source: PathLike | Iterable[PathLike]) -> Path | None:
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    return path if path is not None and path.is_dir() else None


def _file_documents(
    source: PathLike | Iterable[PathLike], progress: Progress | None
) -> Iterator[_SourceDocument]:
    files = _files(source)
    read = _reader(files[0], _folder(source))
    sizes = [size_of(path) for path in files]
    before = 0
    for path, size in zip(files, sizes, strict=True):
        yield from _watched(read(path), size, progress, before=before, total=sum(sizes))
        before += size


def _reader(first: Path, folder: Path | None) -> Callable[[Path], Iterator[_SourceDocument]]:
    with open_bytes(first) as stream:
        head = stream.read(4096).removeprefix(_BOM)
    if head.lstrip().startswith(b"{"):
        return _json_documents
    if _STARTS_WITH_DOC.match(head):
        return _sgml_documents
    if folder is None:
        raise FormatError(first, f"{_EXPECTED}, got {head[:40]!r}" if head else "empty", 1)
    return lambda path: _text_document(path, folder)


def _json_documents(path: Path) -> Iterator[_SourceDocument]:
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
            name, text = _json_id(record, path, line), _json_text(record, path, line)
            yield _SourceDocument(name, text, path, line, len(raw))


def _json_id(record: dict[str, Any], path: Path, line: int) -> str | int:
    for field in _ID_FIELDS:
        value = record.get(field)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return value
    raise _lacking("'id' with text or a number", record, path, line)


def _json_text(record: dict[str, Any], path: Path, line: int) -> str:
    title = record.get("title") or ""
    for field in _TEXT_FIELDS:
        if field in record:
            text = record[field] or ""
            break
    else:
        if "title" not in record:
            raise _lacking("'text' or 'title'", record, path, line)
        text = ""
    if not isinstance(title, str) or not isinstance(text, str):
        raise FormatError(path, "expected title and text as strings", line)
    return f"{title} {text}" if title else text


def _lacking(field: str, record: dict[str, Any], path: Path, line: int) -> FormatError:
    got = ", ".join(map(repr, list(record)[:8])) or "none"
    return FormatError(path, f"expected a field {field}, got fields {got}", line)


def _sgml_documents(path: Path) -> Iterator[_SourceDocument]:
    line = 1
    for block in _sgml_blocks(path):
        opened = _OPEN_DOC.search(block)
        start = opened.start() if opened else len(block)
        # Around documents, only tags may stand: of a prologue, or of an element around them all.
        if other := _ANY_TAG.sub(b"", block[:start]).strip():
            raise FormatError(path, f"expected <DOC>, got {decoded(other[:40])!r}", line)
        if opened:
            first = line + block.count(b"\n", 0, start)
            name, text = _sgml_document(block[opened.end() :], path, first)
            yield _SourceDocument(name, text, path, first, len(block))
        line += block.count(b"\n")


def _sgml_document(content: bytes, path: Path, line: int) -> tuple[str, str]:
    closed = _CLOSE_DOC.search(content)
    if closed is None:
        raise FormatError(path, "this <DOC> has no </DOC>: the file was cut", line)
    content = content[: closed.start()]
    if next_one := _NEXT_DOC.search(content):
        line += content.count(b"\n", 0, next_one.start())
        raise FormatError(path, "a <DOC> begins here before the last one ended: add </DOC>", line)
    opened = _OPEN_DOCNO.search(content)
    ended = _CLOSE_HEADER[b"docno"].search(content, opened.end()) if opened else None
    if opened is None or ended is None:
        raise FormatError(path, "this <DOC> has no <DOCNO>…</DOCNO>", line)
    text = _TAG.sub(" ", decoded(_without_header(content)))
    name = decoded(content[opened.end() : ended.start()]).strip()
    if "&" in text:
        text = html.unescape(_OVERLONG.sub("\N{REPLACEMENT CHARACTER}", text))
    return name, text


def _without_header(content: bytes) -> bytes:
    """A document without the elements that are no text."""
    place, kept = 0, []
    unclosed: set[bytes] = set()
    for opened in _OPEN_HEADER.finditer(content):
        tag = opened[1].lower()
        if opened.start() < place or tag in unclosed:
            continue
        closed = _CLOSE_HEADER[tag].search(content, opened.end())
        if closed is None:  # nor is there one for those that follow
            unclosed.add(tag)
            continue
        kept += [content[place : opened.start()], b" "]
        place = closed.end()
    return b"".join([*kept, content[place:]])


def _sgml_blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces that each end with a `</DOC>`, and the rest."""
    with open_bytes(path) as stream:
        kept, searched = bytearray(), 0
        while piece := stream.read(CHUNK):
            kept += piece
            start = 0
            for end in [closed.end() for closed in _CLOSE_DOC.finditer(kept, searched)]:
                yield bytes(kept[start:end])
                start = end
            # What was searched is not searched again, but for a tag that may go on.
            last = kept.rfind(b"<", max(start, searched))
            searched = (len(kept) if last < 0 else last) - start
            del kept[:start]
            if len(kept) > LONGEST_LINE:
                message = f"a document of more than {LONGEST_LINE >> 20} MB: is a </DOC> missing?"
                raise FormatError(path, message)
        yield bytes(kept)


def _text_document(path: Path, folder: Path) -> Iterator[_SourceDocument]:
    with open_bytes(path) as stream:
        raw = stream.read()
    below = path.relative_to(folder).with_name(base_name(path).removesuffix(".txt"))
    text = decoded(raw.removeprefix(_BOM))
    yield _SourceDocument(below.as_posix(), text, path, 1, len(raw))


def _dataset_documents(dataset: str, progress: Progress | None) -> Iterator[_SourceDocument]:
    held = load_dataset(dataset, "docs")
    documents = (
        _SourceDocument(document.doc_id, _text_of(document)) for document in held.docs_iter()
    )
    try:
        yield from _watched(documents, held.docs_count(), progress)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"{dataset}: ir_datasets could not give its documents: {reason}"
        raise MachineError(message) from error


def _text_of(document: Any) -> str:
    if hasattr(document, "default_text"):
        return str(document.default_text())
    fields = [getattr(document, name, "") for name in ("title", *_TEXT_FIELDS)]
    return " ".join(text for text in fields if isinstance(text, str) and text)
