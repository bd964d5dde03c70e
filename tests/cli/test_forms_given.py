"""Files of other tools, and tables, in place of QRELS RUN...: read by content, with one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from commanding import call, refused

import steadyrank as sr
from steadyrank.cli.inputs import FORM
from steadyrank.data.forms.reading import BY_NAME

sys.path.append(str(Path(__file__).parents[1] / "data" / "forms"))
import made

ALPHA, BETA = (sum(own) / len(own) for own in made.SCORES.values())


def answer(capsys, *words):
    code, out, err = call(capsys, *words)
    assert code == 0, err
    return (json.loads(out) if "--json" in words else out), err


def means(found):
    return {run["run"]: run["mean"] for run in found["runs"]}


@pytest.fixture
def logs(tmp_path):
    made.inspect(tmp_path / "logs")
    return tmp_path / "logs"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ap.csv"
    path.write_text("topic,a,b\n1,.5,.4\n2,.7,.3\n3,.2,.1\n4,.9,.6\n")
    return path


@pytest.fixture
def battles(tmp_path):
    return made.table(
        tmp_path / "battles.csv",
        [{"model_a": "x", "model_b": "y", "winner": w} for w in ("model_a", "model_b", "tie")],
    )


def test_help_lists_the_forms():
    _, _, listed = next(iter(FORM.values())).strip(".").partition(": ")
    assert listed.replace(" or ", ", ").split(", ") == [n for n in BY_NAME if n != "companion"]


@pytest.mark.parametrize("given", ["", "/*"])
def test_folders_and_patterns_of_a_tool_are_compared(capsys, logs, given):
    found, err = answer(capsys, "compare", f"{logs}{given}", "--json")
    assert means(found) == pytest.approx({"alpha": ALPHA, "beta": BETA})
    assert err.startswith("steadyrank: read as Inspect logs: 2 models, 4 samples, 2 epochs")
    assert answer(capsys, "compare", f"{logs}{given}", "--json", "--quiet") == (found, "")


@pytest.mark.parametrize("command", ["evaluate", "topics", "stability", "plan", "compare"])
def test_every_study_of_scores_takes_them(capsys, logs, table, command):
    for path in (logs, table):
        by_option, _ = answer(capsys, command, "--scores", path, "--json")
        by_content, err = answer(capsys, command, path, "--json")
        assert by_content == by_option
        assert err.startswith("steadyrank: read as ")


def test_a_form_can_be_named(capsys, tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{}")
    assert "Inspect" in refused(capsys, "compare", path, "--form", "inspect")
    code, _, err = call(capsys, "compare", path, "--form", "inspct")
    assert (code, err) == (2, "steadyrank: unknown form 'inspct': did you mean 'inspect'?\n")


def test_the_command_for_another_kind_is_named(capsys, logs, battles, tmp_path):
    made.whole(
        tmp_path / "m" / "1" / "T.json",
        {"task_name": "T", "scores": {"test": [{"main_score": 0.5, "hf_subset": "default"}]}},
    )
    for words, told in [
        (("compare", battles), f"battles of 2 models: run steadyrank battles {battles}"),
        (("datasets", battles), f"run steadyrank battles {battles}"),
        (("compare", tmp_path / "m"), f"run steadyrank datasets {tmp_path / 'm'}"),
        (("datasets", logs), f"run steadyrank compare {logs}"),
    ]:
        assert told in refused(capsys, *words, "--quiet")


def test_datasets_takes_scores_of_several_tasks(capsys, tmp_path):
    for task in ("t1", "t2", "t3"):
        for run, own in made.SCORES.items():
            made.lines(
                tmp_path / run / f"samples_{task}_2026-11-18T15-05-44.749934.jsonl",
                [
                    {"doc_id": k, "filter": "none", "metrics": ["acc"], "acc": value, "resps": []}
                    for k, value in enumerate(own)
                ],
            )
    found, _ = answer(capsys, "datasets", tmp_path, "--json")
    assert found["datasets"] == ["t1", "t2", "t3"]
    assert {run["run"]: run["value"] for run in found["runs"]} == pytest.approx(
        {"alpha": ALPHA, "beta": BETA}
    )


def test_a_report_gives_the_page_that_fits(capsys, logs, table, battles, tmp_path):
    page = tmp_path / "r.html"
    board = tmp_path / "board.csv"
    board.write_text("model,d1,d2,d3\na,.1,.2,.3\nb,.2,.2,.5\n")
    given = {logs: "compare", table: "compare", board: "datasets", battles: "battles"}
    for path, study in given.items():
        found, _ = answer(capsys, "report", path, "--out", page, "--budget", "1s", "--json")
        assert study in found["studies"]


def test_judgments_of_a_tool_stay_judgments(capsys, tmp_path):
    track = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=5, depth=20, pool_depth=10)
    for run in track.runs:
        sr.write_run(run, tmp_path / f"{run.name}.run")
    sr.write_qrels(track.complete, tmp_path / "qrels.txt")
    found, err = answer(capsys, "compare", tmp_path / "qrels.txt", tmp_path / "*.run", "--json")
    assert len(found["runs"]) == 2
    assert "read as" not in err
    assert "give QRELS and at least one RUN" in refused(capsys, "compare", tmp_path / "qrels.txt")


def test_check_says_what_scores_can_answer(capsys, logs, table, battles, tmp_path):
    found, _ = answer(capsys, "check", str(logs), "--json")
    assert found["said"] == "Inspect logs: 2 models, 4 samples, 2 epochs"
    (held,) = found["measures"]
    assert (held["name"], held["better"], held["missing"]) == ("match", "higher", 0)
    by_command = {row["command"].split()[1]: row for row in found["questions"] if row["command"]}
    assert {"compare", "topics", "plan", "stability", "report"} == by_command.keys()
    assert next(row["requires"] for row in found["questions"] if not row["command"]) == "10 topics"
    answer(capsys, *by_command["compare"]["command"].split()[1:])
    out, _ = answer(capsys, "check", str(table))
    assert f"steadyrank compare {table}" in out
    assert "steadyrank battles" in answer(capsys, "check", str(battles))[0]
    board = tmp_path / "board.csv"
    board.write_text("model,x,y,bias\na,1,2,3\nb,2,3,4\n")
    out, _ = answer(capsys, "check", str(board))
    assert f"steadyrank datasets {board}" in out
    assert "direction of 1 measure is unknown" in out
