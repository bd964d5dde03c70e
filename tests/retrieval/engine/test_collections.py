"""Collections in all their forms, and what is said about broken ones."""

from __future__ import annotations

import json
import sys

import pytest

from steadyrank.errors import FormatError, InputError, MachineError, UnknownNameError
from steadyrank_lab.retrieval.engine.collections import Document, read_collection

TWO = [Document("d1", "First one"), Document("d2", "two")]
LINES = '{"id": "d1", "title": "First", "text": "one"}\n{"id": "d2", "text": "two"}\n'
SGML = """<DOC>
<DOCNO> d1 </DOCNO>
<HEAD>First</HEAD><TEXT>
one &amp; only: 2 < 3 > 1 &eacute;
</TEXT>
</DOC>
<doc>
<docno>d2</docno><DOCID> not text </DOCID>two</doc>
"""


def words(document):
    return document.id, document.text.split()


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.jsonl.gz", "anything"])
def test_json_lines(write, name):
    assert list(read_collection(write(name, LINES))) == TWO
    spaced = "\ufeff" + LINES.replace("\n", "\r\n\n") + "\n"
    assert list(read_collection(write(name, spaced))) == TWO
    assert list(read_collection(write(name, LINES.rstrip()))) == TWO


@pytest.mark.parametrize(
    ("record", "document"),
    [
        ({"_id": "d1", "title": None, "text": "x"}, Document("d1", "x")),
        ({"docno": 7, "contents": "x"}, Document("7", "x")),
        ({"doc_id": "d1", "title": "only"}, Document("d1", "only ")),
        ({"id": "d1", "title": "", "body": None}, Document("d1", "")),
        ({"id": "d1", "text": "x", "metadata": {"a": [1]}}, Document("d1", "x")),
    ],
)
def test_other_fields(write, record, document):
    assert list(read_collection(write("docs", json.dumps(record)))) == [document]


@pytest.mark.parametrize("name", ["docs", "docs.gz"])
def test_trec_text(write, name):
    found = list(map(words, read_collection(write(name, SGML))))
    first = ["First", "one", "&", "only:", "2", "<", "3", ">", "1", "é"]
    assert found == [("d1", first), ("d2", ["two"])]
    one_line = "<DOC><DOCNO>d1</DOCNO>First one</DOC> <DOC><DOCNO>d2</DOCNO>two</DOC>"
    assert list(map(words, read_collection(write(name, one_line)))) == list(map(words, TWO))


def test_sgml_within_an_element_and_in_an_old_encoding(write):
    text = '<?xml version="1.0"?>\n<root>\n' + SGML.replace("one", "ön") + "</root>\n"
    found = list(map(words, read_collection(write("docs", text.encode("latin-1")))))
    assert [name for name, _ in found] == ["d1", "d2"]
    assert "ön" in found[0][1]


def test_several_files_a_glob_and_a_folder(write, tmp_path):
    a, b = LINES.splitlines()
    one, two = write("in/a.jsonl", a), write("in/b.jsonl.gz", b)
    write("in/.hidden", "not a document")
    for source in ([one, two], str(tmp_path / "in" / "*.jsonl*"), tmp_path / "in"):
        assert list(read_collection(source)) == TWO


def test_a_dictionary():
    assert list(read_collection({"d1": "First one", "d2": "two"})) == TWO


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LINES + "oops\n", "docs:3: expected a JSON object in UTF-8, got 'oops"),
        (LINES + "[1]\n", "docs:3: expected a JSON object in UTF-8, got '\\[1\\]"),
        (LINES.encode() + b'{"id": "\xff"}', "docs:3: expected a JSON object in UTF-8"),
        (
            '{"text": "x", "n": 1}',
            "docs:1: expected a field 'id' with text or a number, got fields 'text', 'n'",
        ),
        ('{"id": true, "text": "x"}', "docs:1: expected a field 'id'"),
        (
            '{"id": "d1", "abstract": "x"}',
            "docs:1: expected a field 'text' or 'title', got fields 'id', 'abstract'",
        ),
        ('{"id": "d1", "text": ["x"]}', "docs:1: expected title and text as strings"),
        (LINES + LINES, "docs:3: the document 'd1' occurs twice: remove one"),
        ('{"id": "d 1", "text": "x"}', "docs:1: expected a document id without blanks, got 'd 1'"),
        ('{"id": "", "text": "x"}', "docs:1: expected a document id without blanks, got ''"),
        ("plain text", "docs:1: expected JSON lines .id, title, text. or TREC's <DOC>, got"),
        ("", "docs:1: empty"),
        (SGML + "stray\n", "docs:8: expected <DOC>, got 'stray'"),
        (SGML + "<DOC>\n<DOCNO>d3</DOCNO>\n", "docs:9: this <DOC> has no </DOC>: the file was cut"),
        (SGML + "\n<DOC>\nx\n</DOC>\n", "docs:10: this <DOC> has no <DOCNO>"),
        (SGML + SGML, "docs:9: the document 'd1' occurs twice"),
        ("<DOC><DOCNO>a b</DOCNO></DOC>", "docs:1: expected a document id without blanks"),
    ],
)
def test_broken_files_are_told_with_their_line(write, content, message):
    with pytest.raises(FormatError, match=message):
        list(read_collection(write("docs", content)))


def test_other_mistakes(write, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: the folder holds no files"):
        list(read_collection(tmp_path / "empty"))
    with pytest.raises(InputError, match="missing.jsonl: no such file"):
        list(read_collection(tmp_path / "missing.jsonl"))
    with pytest.raises(InputError, match="the collection holds no documents"):
        list(read_collection({}))
    with pytest.raises(InputError, match="expected text for the document 'd1', got None"):
        list(read_collection({"d1": None}))
    write("mixed/a.jsonl", LINES)
    write("mixed/b.jsonl", "words")
    with pytest.raises(FormatError, match="b.jsonl:1: expected a JSON object"):
        list(read_collection(tmp_path / "mixed"))


def test_documents_of_a_dataset(write):
    ir_datasets = pytest.importorskip("ir_datasets")
    make = ir_datasets.formats.TsvDocs
    docs = make(ir_datasets.util.LocalDownload(write("docs.tsv", "d1\tFirst one\nd2\ttwo\n")))
    ir_datasets.registry.register("steadyrank-documents", ir_datasets.Dataset(docs))
    try:
        assert list(read_collection("irds:steadyrank-documents")) == TWO
    finally:
        del ir_datasets.registry._registered["steadyrank-documents"]
    with pytest.raises(UnknownNameError, match="did you mean 'vaswani'"):
        list(read_collection("irds:vaswni"))


def test_a_dataset_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MachineError, match="pip install 'steadyrank\\[ir\\]'"):
        list(read_collection("irds:vaswani"))
