"""Small files that unfold to more than memory holds, and floods: one line, long before that."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.compute import memory
from steadyrank.data.read import sources
from steadyrank.data.read import streams as limits
from steadyrank_lab.retrieval.engine.collections import read_collection

PACKINGS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}
ROW = b"301 Q0 doc 1 0.5 tag\n"


@pytest.fixture
def small_machine(monkeypatch):
    """Limits of a thousandth, so that bombs need not be large."""
    monkeypatch.setattr(limits, "ALWAYS_UNFOLDED", 1 << 18)
    monkeypatch.setattr(limits, "ALWAYS_READ", 1 << 18)
    monkeypatch.setattr(limits, "memory_limit", lambda: 1 << 21)
    yield
    sr.max_input(None)


@pytest.mark.parametrize("packing", PACKINGS)
def test_what_unfolds_without_end_is_refused_by_name_and_size(
    small_machine, tmp_path, capfd, packing
):
    (tmp_path / "qrels.txt").write_bytes(b"301 0 doc 1\n")
    bomb = tmp_path / f"bomb.run.{packing}"
    bomb.write_bytes(PACKINGS[packing](ROW * 100_000))
    assert run(["evaluate", str(tmp_path / "qrels.txt"), str(bomb)]) == 2
    [message] = capfd.readouterr().err.splitlines()
    assert message.startswith(f"steadyrank: {bomb}: unfolds to more than ")
    assert message.endswith("if you trust the file, raise --max-input")


def test_the_limit_can_be_raised(small_machine, tmp_path, capfd):
    (tmp_path / "qrels.txt").write_bytes(b"301 0 doc 1\n")
    rows = b"".join(b"301 Q0 d%d 1 0.5 tag\n" % number for number in range(20_000))
    (tmp_path / "large.run.gz").write_bytes(gzip.compress(rows))
    arguments = ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "large.run.gz")]
    assert run([*arguments, "--max-input", "100kB"]) == 2
    assert "unfolds to more than 100 kB" in capfd.readouterr().err
    assert run([*arguments, "--max-input", "1GB"]) == 0
    assert limits._allowed == []


@pytest.mark.parametrize("size", ["much", "-1", "0", "5 parsecs", ""])
def test_sizes_are_numbers_of_bytes(size):
    with pytest.raises(sr.InputError, match=r"^max_input must be a number of bytes"):
        sr.max_input(size)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.json", b'{"q": {"AP": {"x": ' + b" " * (1 << 19)),
        ("scores.jsonl", b'{"measure": "AP", "topic": "1", "value": 1}\n' * 10_000),
        ("scores.csv", b"measure,run,topic,value\n" + b"AP,a,1,0.5\n" * 50_000),
    ],
)
def test_files_that_would_fill_the_memory_are_refused(small_machine, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(sr.InputError, match=r"holds more than 262 kB, the limit of what is read"):
        sr.read_scores(tmp_path / name)


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.csv"])
def test_lines_end(small_machine, monkeypatch, tmp_path, name):
    for reader in ("tables", "streams"):
        monkeypatch.setattr(f"steadyrank.data.read.{reader}.LONGEST_LINE", 1 << 16)
    head = {"scores.jsonl": b'{"a": "', "scores.csv": b"measure,run,topic,value\nAP,"}[name]
    (tmp_path / name).write_bytes(head + b"x" * (1 << 17))
    with pytest.raises(sr.InputError, match="this is not a text of lines"):
        sr.read_scores(tmp_path / name)


@pytest.mark.parametrize("head", [b"", b"measure,run,topic,value\n"])
def test_floods_of_blank_lines_are_no_table(tmp_path, head):
    (tmp_path / "flood").write_bytes(head + b"\n" * (limits.MOST_BLANK + 2))
    with pytest.raises(sr.InputError, match="blank lines in a row"):
        sr.read_scores(tmp_path / "flood")


def write_parquet(path, table):
    pq.write_table(table, path, store_schema=False, compression="zstd")
    return path


def test_parquet_of_more_rows_than_memory_holds(small_machine, tmp_path):
    zeros = pa.array(np.zeros(1_000_000, np.int32))
    table = pa.table(dict.fromkeys(("query_id", "doc_id", "score"), zeros))
    path = write_parquet(tmp_path / "rows.parquet", table)
    assert path.stat().st_size < 20_000
    with pytest.raises(sr.InputError, match=r"rows.parquet: unfolds to 24 MB, and at most 262 kB"):
        sr.read_run(path)


def test_parquet_whose_names_stand_once_and_are_used_often(small_machine, tmp_path):
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5_000, np.int32)), ["x" * 10_000])
    scores = pa.array(np.zeros(5_000))
    path = tmp_path / "names.parquet"
    write_parquet(path, pa.table({"query_id": names, "doc_id": names, "score": scores}))
    with pytest.raises(sr.InputError, match=r"names.parquet: unfolds to 100 MB, and at most"):
        sr.read_run(path)


def test_parquet_is_kept_as_columns_and_not_as_objects(tmp_path):
    n = 200_000
    columns = {"query_id": [str(row // 1000) for row in range(n)], "run": ["mine"] * n}
    columns |= {"doc_id": [f"document-{row % 1000:06d}" for row in range(n)]}
    table = pa.table({**columns, "score": np.linspace(1, 0, n)})
    path = write_parquet(tmp_path / "run.parquet", table)
    sr.read_run(path)  # compiles
    del table, columns
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    run_read = sr.read_run(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(run_read), run_read.name) == (n, "mine")
    assert peak + pool.bytes_allocated() - before < 160 * n  # 15 of these are the document's name


def test_documents_that_never_end(monkeypatch, tmp_path):
    monkeypatch.setattr("steadyrank_lab.retrieval.engine.collections.LONGEST_LINE", 1 << 21)
    head = b"<DOC>\n<DOCNO> a </DOCNO>\n"
    (tmp_path / "doc.sgml").write_bytes(head + b"text\n" * (1 << 20))
    with pytest.raises(sr.InputError, match=r"is a </DOC> missing\?"):
        list(read_collection(tmp_path / "doc.sgml"))


def test_a_document_that_swallows_the_next_is_refused(tmp_path):
    text = "<DOC>\n<DOCNO> {} </DOCNO>\ntext\n"
    content = text.format("a") + "</DOC>\n" + text.format("b") + text.format("c") + "</DOC>\n"
    (tmp_path / "doc.sgml").write_text(content)
    with pytest.raises(sr.InputError, match=r"doc.sgml:8: a <DOC> begins here before the last"):
        list(read_collection(tmp_path / "doc.sgml"))


@pytest.fixture
def forest(tmp_path):
    """Runs at several depths, hidden ones, and a link that leads in a circle."""
    for name in ("a.run", "x/b.run", "x/y/c.run", "x/y/z/d.txt", ".hidden/e.run", "x/.f.run"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "x" / "round").symlink_to(tmp_path, target_is_directory=True)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.run", ["a.run"]),
        ("**/*.run", ["a.run", "x/b.run", "x/y/c.run"]),
        ("**/**/**", ["a.run", "x/b.run", "x/y/c.run", "x/y/z/d.txt"]),
        ("**/**/*.run", ["a.run", "x/b.run", "x/y/c.run"]),
        ("x/[by]*", ["x/b.run"]),
        ("?/*/*.run", ["x/round/a.run", "x/y/c.run"]),
        ("**/.*.run", ["x/.f.run"]),
        ("*/y/**", ["x/y/c.run", "x/y/z/d.txt"]),
        ("nothing/**", []),
    ],
)
def test_patterns_find_each_file_once(forest, pattern, names):
    found = sources.matching_files(forest / pattern)
    assert [path.relative_to(forest).as_posix() for path in found] == names


def test_memory_is_that_of_the_container(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    everything = memory.memory_limit()
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.memory_limit() == everything
    (tmp_path / "memory.max").write_text("1000000\n")
    assert memory.memory_limit() == 1_000_000


def test_more_pairs_than_memory_holds_are_refused_beforehand(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(memory, "memory_limit", lambda: 100_000)
    rows = [f"AP,r{run},{topic},0.{topic}{run}" for run in range(30) for topic in range(3)]
    (tmp_path / "scores.csv").write_text("\n".join(["measure,run,topic,value", *rows]) + "\n")
    arguments = ["compare", "--scores", str(tmp_path / "scores.csv"), "--quiet"]
    for form in ("json", "csv", "table"):
        assert run([*arguments, "--format", form]) == 2
        assert capfd.readouterr().err == (
            "steadyrank: 435 pairs require about 218 kB of memory, but 67 kB of 100 kB may be "
            "used: give a --baseline, or fewer runs or measures\n"
        )
    assert run([*arguments, "--format", "json", "--baseline", "r1"]) == 0


@pytest.mark.parametrize("command", ["topics"])
def test_more_runs_than_memory_holds_pairs_of_are_refused_beforehand(
    monkeypatch, tmp_path, capfd, command
):
    header = ",".join(["topic", *(f"r{run}" for run in range(10_000))])
    rows = [
        ",".join([str(t), *(f"0.{(run * (t + 7)) % 97:02}" for run in range(10_000))])
        for t in range(5)
    ]
    (tmp_path / "scores.csv").write_text("\n".join([header, *rows]) + "\n")
    monkeypatch.setattr(memory, "memory_limit", lambda: 25_000_000_000)
    assert run([command, "--scores", str(tmp_path / "scores.csv"), "--quiet"]) == 2
    told = capfd.readouterr().err
    assert "49,995,000 pairs of runs require about" in told
    assert told.endswith(" of 25 GB may be used: give fewer runs\n")
    assert told.count("\n") == 1


def test_more_splits_than_memory_holds_are_refused_beforehand(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 100_000)
    values = np.random.default_rng(1).random((1, 2, 100))
    names = tuple(map(str, range(100)))
    scores = sr.Scores(measures=("AP",), runs=("a", "b"), topics=names, values=values)
    with pytest.raises(
        sr.InputError, match=r"^1,000 splits at 10 sizes require about .* fewer sizes"
    ):
        sr.topics(scores, n_trials=1000)
