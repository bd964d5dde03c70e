"""Scores made from different judgments, or with other settings, are not joined."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run


@pytest.fixture
def two_tables(write, tmp_path):
    """Files of scores of runs a and b, by judgments that name the same topics."""

    def evaluated(name, relevant, **settings):
        topics = range(1, 9)
        lines = [f"{topic} 0 d{d} {int(d == relevant)}\n" for topic in topics for d in range(3)]
        qrels = write(f"{name}.qrels", "".join(lines))
        ranked = [f"{t} Q0 d{d} 1 {(d + t) % 3} {name}\n" for t in topics for d in range(3)]
        scores = sr.evaluate([str(write(f"{name}.run", "".join(ranked)))], str(qrels), **settings)
        sr.write_scores(scores, tmp_path / f"{name}.parquet")
        return scores, str(tmp_path / f"{name}.parquet")

    return evaluated


@pytest.mark.parametrize("command", ["compare", "report", "topics", "stability", "agree"])
def test_scores_made_from_different_judgments_are_refused(two_tables, capsys, command):
    files = [two_tables(name, relevant)[1] for name, relevant in (("a", 0), ("b", 1))]
    assert run([command, "--scores", files[0], "--scores", files[1]]) == 2
    told = capsys.readouterr().err
    assert "run 'a' was evaluated with different judgments (" in told
    assert "from run 'b'" in told
    assert told.count("\n") == 1


def test_scores_made_from_the_same_judgments_are_joined_also_when_written_again(
    two_tables, tmp_path
):
    parts = [two_tables(name, 0) for name in ("a", "b")]
    joined = sr.read_scores([path for _, path in parts])
    assert joined.runs == ("a", "b")
    sr.write_scores(joined, tmp_path / "both.parquet")
    (tmp_path / "a.qrels").unlink()
    (tmp_path / "b.qrels").unlink()
    other = two_tables("c", 1)[1]
    with pytest.raises(sr.InputError, match="different judgments"):
        sr.read_scores([tmp_path / "both.parquet", other])


@pytest.mark.parametrize(
    ("key", "value"), [("ties", "average"), ("no_relevant", "skip"), ("missing", "skip")]
)
def test_scores_with_other_settings_are_refused(two_tables, key, value):
    parts = [two_tables("a", 0)[0], two_tables("b", 0, **{key: value})[0]]
    with pytest.raises(sr.InputError, match=f'{key}="{value}": evaluate both with the same'):
        sr.join_scores(*parts)


def test_other_topics_may_have_other_judgments_and_other_tools_say_nothing(two_tables):
    first, second = (two_tables(name, relevant)[0] for name, relevant in (("a", 0), ("b", 1)))
    joined = sr.join_scores(first.select(topics=["1", "2"]), second.select(topics=["3"]))
    assert joined.topics == ("1", "2", "3")
    plain = sr.Scores(
        measures=first.measures,
        runs=["c"],
        topics=["1"],
        values=np.zeros((len(first.measures), 1, 1)),
    )
    assert sr.join_scores(first, plain).runs == ("a", "c")
