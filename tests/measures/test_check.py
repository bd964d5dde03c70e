"""`check`: wrong files are told from odd ones."""

from __future__ import annotations

import json

import pytest

import steadyrank as sr
from steadyrank.cli import run as run_command

QRELS = {"1": {"d1": 1, "d2": 0, "d3": 0}, "2": {"d1": 0, "d2": 2}}


def findings(runs, qrels=QRELS):
    judged = qrels if isinstance(qrels, sr.Qrels) else sr.qrels_from_dict(qrels)
    result = sr.check(runs, judged)
    found = {}
    for finding in result.findings:
        key = (finding.level, finding.where)
        found[key] = found.get(key, "") + finding.what + "\n"
    return found, result


def ranked(name="a", **topics):
    return sr.run_from_dict(topics, name=name)


GOOD = {"1": {"d1": 3.1, "d2": 2.0, "x": 0.7}, "2": {"d2": 3.3, "d1": 2.9, "y": 1.0}}


def test_good_files_have_no_findings():
    found, result = findings([ranked(**GOOD), ranked("b", **GOOD)])
    assert found == {}
    assert result.is_sound
    assert result.runs[0].judged == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (result.runs[0].missing, result.runs[0].unknown, result.runs[0].tied) == (0, 0, 0.0)
    frame = result.to_frame()
    assert frame["Judged@10"].tolist() == [pytest.approx(2 / 3)] * 2


@pytest.mark.parametrize(
    ("topics", "level", "told"),
    [
        ({"q1": {"d1": 1.0}}, "wrong", "no topic of the qrels: do the ids differ ('q1' here, '1'"),
        ({"1": {"doc1": 1.0}}, "wrong", "do the ids differ ('doc1' here, 'd1' in the qrels)"),
        ({"1": {"d1": 1.0, "d2": 1.0}, "2": {"d1": 5.0, "d2": 5.0}}, "wrong", "scores of each"),
        ({"1": GOOD["1"]}, "odd", "lacks 1 of 2 judged topics"),
        ({**GOOD, "1": {"d1": 1.0, "d2": 1.0}}, "odd", "1 topic whose scores are all equal"),
        (
            {**GOOD, "1": {"d1": 1.0, "w": 9.0, "x": 5.0, "y": 4.9, "z": 4.0}, "2": {"u": 2.0}},
            "odd",
            "of the top 10 are unjudged",
        ),
    ],
)
def test_what_is_wrong_or_odd_with_a_run(topics, level, told):
    found, result = findings(ranked(**topics))
    assert any(key[0] == level and told in what for key, what in found.items()), found
    assert result.is_sound == (level == "odd")


def test_judgments_without_relevant_or_without_other_documents():
    assert (
        "no topic has a relevant" in findings(ranked(**GOOD), {"1": {"d1": 0}})[0]["wrong", "qrels"]
    )
    assert "1 of 2 topics" in findings(ranked(**GOOD), {**QRELS, "2": {"d2": 0}})[0]["odd", "qrels"]
    found, _ = findings(ranked(**GOOD), {"1": {"d1": 1}, "2": {"d2": 1}})
    assert "look alike" in found["odd", "qrels"]


def test_unequal_depth_is_seen_only_side_by_side():
    deep = {"1": {f"d{i}": -(i**1.5) for i in range(1, 50)}, "2": GOOD["2"]}
    found, _ = findings([ranked(**GOOD), ranked("deep", **deep)])
    assert "1 run is shallower than 49 (a)" in found["odd", "all runs"]


def test_files_that_cannot_be_read_do_not_stop_the_others(write):
    rising = "".join(f"1 Q0 d{i} {i} {i}.5 distances\n" for i in range(20))
    paths = [
        write("good.run", "1 Q0 d1 1 9 good\n1 Q0 d2 2 8.5 good\n2 Q0 d2 1 4 good\n"),
        write("short.run", "1 Q0 d1\n"),
        write("twice.run", "1 Q0 d1 1 9 t\n1 Q0 d1 2 8 t\n"),
        write("rising.run", rising),
        write("same.run", "1 Q0 d1 1 9 good\n2 Q0 d2 1 4 good\n"),
    ]
    with pytest.warns(sr.SteadyrankWarning, match="2 runs have the same names"):
        found, result = findings(paths)
    assert "1: expected 6 fields" in found["wrong", str(paths[1])]
    assert "occurs twice" in found["wrong", str(paths[2])]
    assert "larger is better" in found["wrong", "distances"]
    assert "(good.run and same.run)" in found["odd", "all runs"]
    assert [row.run for row in result.runs] == ["good.run", "distances", "same.run"]


def test_objects_of_one_name_would_overwrite_each_other():
    found, result = findings([ranked(**GOOD), ranked(**GOOD)])
    assert "2 runs have this name: rename all but one" in found["wrong", "a"]
    assert not result.is_sound


def test_the_command_tells_and_exits(write, capsys):
    qrels = write("q.txt", "1 0 d1 1\n1 0 d2 0\n")
    good = write("good.run", "1 Q0 d1 1 9 good\n1 Q0 d2 2 8.5 good\n1 Q0 d3 2 4 good\n")
    assert run_command(["check", str(qrels), str(good)]) == 0
    assert capsys.readouterr().out.startswith("No errors; nothing odd in the files.")
    bad = write("bad.run", "1 Q0 d1\n")
    assert run_command(["check", str(qrels), str(good), str(bad)]) == 2
    out = capsys.readouterr().out
    assert out.startswith("1 error: results would be wrong; nothing odd in the files.")
    assert "expected 6 fields" in out
    assert run_command(["check", str(qrels), str(bad), "--format", "json"]) == 2
    result = json.loads(capsys.readouterr().out)
    (found,) = result["findings"]
    assert (result["sound"], found["level"], found["id"]) == (False, "wrong", "check.wrong.1")
    assert found["text"] == f"{bad}: {found['what']}"
