"""An output never takes the place of an input."""

from __future__ import annotations

import pytest
from commanding import call


@pytest.fixture
def files(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("qrels.txt", "".join(f"{t} 0 d{t % 2} 1\n" for t in range(1, 9)))
    for name in "ab":
        ranked = [
            f"{t} Q0 d{d} 1 {(d + t * ord(name)) % 5} {name}\n" for t in range(9) for d in (0, 1)
        ]
        write(f"runs/{name}.txt", "".join(ranked))
    (tmp_path / "link.txt").symlink_to("qrels.txt")
    write("scores.csv", "topic,a,b\n1,.1,.2\n2,.3,.1\n3,.3,.2\n4,.3,.1\n5,.2,.1\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "evaluate qrels.txt runs/a.txt -o qrels.txt",
        "evaluate qrels.txt runs/a.txt -o ./runs/../link.txt",
        *("evaluate link.txt runs/a.txt -o qrels.txt", "evaluate qrels.txt runs -o runs/a.txt"),
        "evaluate qrels.txt runs/*.txt -o runs/b.txt",
        *("compare --scores scores.csv -o scores.csv", "compare -m AP=scores.csv -o scores.csv"),
        "compare -m AP=scores.csv --plot scores.csv",
        "gate qrels.txt runs/a.txt runs/b.txt --junit runs/b.txt",
        "judges qrels.txt runs --judge x=link.txt -o qrels.txt",
        "report qrels.txt runs --out runs/a.txt",
        "grid runs --topics qrels.txt --scores qrels.txt",
    ],
)
def test_an_output_that_would_overwrite_an_input_is_refused_before_any_work(files, capsys, words):
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    code, _, told = call(capsys, *words.split())
    assert (code, told.count("\n")) == (2, 1)
    assert "would overwrite an input: name another file" in told
    assert before == {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "gate qrels.txt runs/a.txt runs/b.txt -o new.md --summary new.md",
        "gate qrels.txt runs/a.txt runs/b.txt --junit new.xml --summary ./runs/../new.xml",
        "gate qrels.txt runs/a.txt runs/b.txt -o hanging.md --summary new.md",
        "compare qrels.txt runs -o new.txt --plot new.txt",
        "report qrels.txt runs -o new.txt --out new.txt",
    ],
)
def test_outputs_that_would_overwrite_each_other_are_refused_before_any_work(files, capsys, words):
    (files / "hanging.md").symlink_to("new.md")
    there = set(files.rglob("*"))
    code, _, told = call(capsys, *words.split())
    assert (code, told.count("\n")) == (2, 1)
    assert "are the same file: name two files" in told
    assert set(files.rglob("*")) == there


def test_what_is_no_file_takes_several_outputs(files, capsys):
    words = "gate qrels.txt runs/a.txt runs/b.txt -o /dev/null --summary /dev/null"
    assert "the loss that you are willing to accept" in call(capsys, *words.split())[2]
