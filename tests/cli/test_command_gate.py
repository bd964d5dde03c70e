"""`steadyrank gate`: exit codes, files and messages of every verdict."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from commanding import call, refused


def ranking(relevant_at, n_documents=10):
    """Documents d0 to d9 with the relevant one, d0, at this rank."""
    others = [f"d{i}" for i in range(1, n_documents)]
    return [*others[: relevant_at - 1], "d0", *others[relevant_at - 1 :]]


def write_run(path, places, tag="mine"):
    lines = [
        f"s{topic // 3}-{topic} Q0 {document} 0 {100 - i} {tag}\n"
        for topic, place in enumerate(places)
        for i, document in enumerate(ranking(place))
    ]
    path.write_text("".join(lines))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Judgments of 120 topics, a baseline and candidates, all tagged alike."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    rng = np.random.default_rng(0)
    topics = [f"s{topic // 3}-{topic}" for topic in range(120)]
    (tmp_path / "qrels").write_text(
        "".join(f"{t} 0 d{i} {int(i == 0)}\n" for t in topics for i in range(10))
    )
    places = rng.integers(1, 4, 120)
    write_run(tmp_path / "old", places)
    write_run(tmp_path / "same", np.where(np.arange(120) % 40 == 0, places + 1, places))
    write_run(tmp_path / "worse", places + 2)
    write_run(tmp_path / "noisy", rng.permutation(places))
    kinds = [f"{t},{'head' if i < 60 else 'tail'},{1 + i % 3}\n" for i, t in enumerate(topics)]
    (tmp_path / "topics.csv").write_text("topic,kind,weight\n" + "".join(kinds))
    return tmp_path


def gate(capsys, candidate, *options, margin="0.02", baseline="old"):
    return call(
        capsys, "gate", "qrels", baseline, candidate, "-m", "RR", "--margin", margin, *options
    )


@pytest.mark.parametrize(
    ("candidate", "code", "verdict"),
    [("same", 0, "pass"), ("worse", 3, "fail"), ("noisy", 4, "cannot tell")],
)
def test_verdicts_and_exit_codes(folder, capsys, candidate, code, verdict):
    answered, out, err = gate(capsys, candidate)
    assert (answered, err) == (code, "")
    assert out.startswith(f"{verdict.upper()}: ")
    answered, out, _ = gate(capsys, candidate, "--format", "json")
    told = json.loads(out)
    assert (answered, told["verdict"], told["alpha"]) == (code, verdict, 0.05)
    (row,) = told["measures"]
    keys = {"measure", "margin", "baseline", "candidate", "difference", "interval", "verdict"}
    assert keys | {"topics_needed", "lowest", "highest"} <= set(row)
    assert row["candidate"] - row["baseline"] == pytest.approx(row["difference"])
    assert (row["topics_needed"] is not None) == (verdict == "cannot tell")
    assert (told["baseline"], told["candidate"]) == ("mine (baseline)", "mine (candidate)")


def test_unsure(folder, capsys):
    assert gate(capsys, "noisy", "--unsure", "pass")[0] == 0
    assert gate(capsys, "noisy", "--unsure", "fail")[0] == 3
    assert gate(capsys, "worse", "--unsure", "pass")[0] == 3


def test_holes(folder, capsys):
    text = (folder / "worse").read_text().replace(" d1 ", " x1 ").replace(" d2 ", " x2 ")
    (folder / "new").write_text(text)
    words = ("gate", "qrels", "old", "new", "-m", "AP=.02")
    code, out, _ = call(capsys, *words)
    assert (code, out.startswith("HOLES: AP −")) == (4, True)
    assert "It depends on how many are relevant: fail with 0%, " in out
    assert re.search(r"Judge first: x\d \(topic s", out)
    told = json.loads(call(capsys, *words, "--format", "json")[1])["measures"][0]
    assert (told["certain"], len(told["sweep"]), len(told["judge_first"])) == (False, 4, 10)
    assert call(capsys, *words, "--on-holes", "fail")[0] == 3
    for let in (("--on-holes", "pass"), ("--on-holes", "ask"), ("--unsure", "pass")):
        assert call(capsys, *words, *let)[0] == 4, "significantly worse as observed"
    # Where it is better as observed, holes may be let through.
    words = ("gate", "qrels", "new", "old", *words[4:])
    ways = ("pass", "fail", "ask")
    codes = [call(capsys, *words, "--on-holes", way)[0] for way in ways]
    assert dict(zip(ways, codes, strict=True)) == {"pass": 0, "fail": 3, "ask": 4}
    assert call(capsys, *words, "--unsure", "pass")[0] == 4
    # Unjudged documents that could only help leave the verdict.
    (folder / "help").write_text((folder / "old").read_text().replace(" d1 ", " x1 "))
    assert call(capsys, "gate", "qrels", "old", "help", "-m", "AP=.02")[0] == 0


@pytest.mark.parametrize(
    ("candidate", "heading", "failures", "skipped"),
    [("same", "✅ Gate: pass", 0, 0), ("worse", "❌ Gate: fail", 3, 0), ("noisy", "❔ Gate", 1, 2)],
)
def test_summary_and_junit(folder, capsys, candidate, heading, failures, skipped):
    files = ("--summary", "summary.md", "--junit", "junit.xml", "--plot", "gate.svg")
    gate(capsys, candidate, "--topic-info", "topics.csv", "--by", "kind", *files)
    summary = (folder / "summary.md").read_text()
    assert summary.startswith(f"## {heading}")
    assert "| measure | segment | margin |" in summary
    suite = ET.parse(folder / "junit.xml").getroot()
    assert [case.get("name") for case in suite] == ["RR", "RR, head", "RR, tail", None]
    assert (suite.get("tests"), suite.get("failures")) == ("3", str(failures))
    assert suite.get("skipped") == str(skipped)
    assert (folder / "gate.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("unsure", [None, "pass"])
def test_a_segment_fails_whatever_the_whole_says(folder, capsys, unsure):
    """In the exit code, JUnit and Markdown; only what cannot tell is skipped."""
    places = np.where(np.arange(120) < 60, 1, 2)
    write_run(folder / "base", places)
    write_run(folder / "tail", np.where(np.arange(120) < 60, 1, 4))
    write_run(folder / "open", np.where(np.arange(120) % 60 == 0, 9, places))
    options = [
        *("--topic-info", "topics.csv", "--by", "kind", "--junit", "j.xml", "--summary", "s.md")
    ]
    options += [] if unsure is None else ["--unsure", unsure]
    code, out, _ = gate(capsys, "tail", *options, margin="0.2", baseline="base")
    assert (code, out.split(":")[0]) == (3, "FAIL")
    rows = {case.get("name"): case for case in ET.parse(folder / "j.xml").getroot()}
    assert rows["RR"].find("failure") is None
    assert rows["RR, tail"].find("failure").get("type") == "fail"
    assert (folder / "s.md").read_text().startswith("## ❌ Gate: fail")
    code, _, _ = gate(capsys, "open", *options, margin="0.012", baseline="base")
    assert code == (4 if unsure is None else 0)
    rows = {case.get("name"): case for case in ET.parse(folder / "j.xml").getroot()}
    assert (rows["RR"].find("skipped") is None) == (unsure is None), "the whole holds it up"
    assert rows["RR, head"].find("skipped") is not None


def test_clusters_and_weights(folder, capsys):
    options = ("--cluster-from", "^(s[0-9]+)-", "--topic-info", "topics.csv")
    _, out, _ = gate(capsys, "same", *options, "--format", "json")
    told = json.loads(out)
    assert (told["n_clusters"], told["weighted"]) == (40, True)
    assert told["measures"][0]["effective_topics"] == pytest.approx(240**2 / (40 * 14))
    text = gate(capsys, "same", *options)[1]
    assert "design effect   effective topics" in text
    assert " 102.9 " in text


def test_a_kept_baseline(folder, capsys):
    keep = ("evaluate", "qrels", "old", "-m", "RR", "-o", "baseline.parquet")
    assert call(capsys, *keep)[0] == 0
    direct = json.loads(gate(capsys, "worse", "--format", "json")[1])
    code, out, err = gate(capsys, "worse", "--format", "json", baseline="baseline.parquet")
    assert (code, err) == (3, "")
    kept = json.loads(out)["measures"][0]
    assert kept["interval"] == direct["measures"][0]["interval"]
    with open(folder / "qrels", "a") as stream:
        stream.write("s0-0 0 d11 1\n")
    code, _, err = gate(capsys, "worse", baseline="baseline.parquet")
    assert code == 2
    assert "the baseline was evaluated with different judgments (qrels, SHA-256" in err
    assert err.count("\n") == 1


def test_a_baseline_kept_with_other_settings(folder, capsys):
    call(capsys, "evaluate", "qrels", "old", "-m", "RR", "--ties", "average", "-o", "b.parquet")
    code, _, err = gate(capsys, "same", baseline="b.parquet")
    assert code == 2
    assert "evaluated with --ties average, the candidate with --ties trec_eval" in err


def test_scores_of_both_in_one_file(folder, capsys):
    call(
        capsys,
        *("evaluate", "qrels", "old", "worse", "-m", "RR", "--name-from", "file", "--format"),
        *("csv", "-o", "scores.csv"),
    )
    words = ("gate", "--scores", "scores.csv", "-m", "RR=.02")
    assert call(capsys, *words, "old", "worse")[0] == 3
    assert (
        "the candidate and the baseline are the same run" in call(capsys, *words, "old", "old")[2]
    )
    assert "unknown run 'wrose': did you mean 'worse'?" in call(capsys, *words, "old", "wrose")[2]
    assert "with --scores give the names BASELINE CANDIDATE" in call(capsys, *words, "old")[2]


def test_history(folder, capsys):
    for candidate in ("same", "worse"):
        gate(capsys, candidate, "--history", "kept")
    lines = [json.loads(line) for line in (folder / "kept/history.jsonl").read_text().splitlines()]
    assert [line["verdict"] for line in lines] == ["pass", "fail"]
    assert len({line["sha256"] for line in lines}) == 2
    with open(folder / "qrels", "a") as stream:
        stream.write("s0-0 0 d11 1\n")
    code, _, err = gate(capsys, "same", "--history", "kept")
    assert (code, "this history began with different judgments" in err) == (2, True)


@pytest.mark.parametrize("date", ["abc", "9" * 30, "1.5"])
def test_a_date_that_is_none_is_bad_input(folder, capsys, monkeypatch, date):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
    code, _, err = gate(capsys, "same", "--history", "kept")
    assert (code, err.count("\n")) == (2, 1)
    assert f"SOURCE_DATE_EPOCH is '{date}'" in err


def test_a_history_is_shown_without_a_gate(folder, capsys):
    for candidate in ("same", "worse"):
        gate(capsys, candidate, "--history", "kept")
    before = (folder / "kept/history.jsonl").read_bytes()
    code, out, err = call(capsys, "gate", "--history", "kept", "--show")
    assert (code, err) == (0, "")
    assert out.startswith("2 gates since 2023-11-14 (1 pass, 1 fail): RR −")
    assert "since the first" in out
    no_figure = refused(capsys, "gate", "--history", "kept", "--show", "--plot", "h.svg")
    assert "there is no plot of a GateHistory" in no_figure
    line = call(capsys, "gate", "--history", "kept", "--show", "--format", "line")[1]
    assert (line, line.count("\n")) == (out[: len(line)], 1)
    told = json.loads(call(capsys, "gate", "--history", "kept", "--show", "--json")[1])
    assert (told["n_candidates"], len(told["gates"])) == (2, 2)
    assert (folder / "kept/history.jsonl").read_bytes() == before
    for words in (("--show",), ("qrels", "old", "same", "--history", "kept", "--show")):
        code, _, err = call(capsys, "gate", *words)
        assert (code, err.count("\n")) == (2, 1)
        assert "--show requires --history DIR" in err
    assert "no gates are recorded here" in call(capsys, "gate", "--history", "no", "--show")[2]


def test_one_line_for_a_chat(folder, capsys):
    code, out, _ = gate(capsys, "worse", "--format", "line")
    assert (code, out.count("\n")) == (3, 1)
    assert out.startswith("FAIL RR −0.")
    assert "; lost most: " in out
    assert len(out) <= 200


def scores_files(folder, capsys, *names):
    for name in names:
        call(capsys, "evaluate", "qrels", name, "-m", "RR", "-o", f"{name}.csv")


def test_two_files_of_scores_need_no_judgments(folder, capsys):
    scores_files(folder, capsys, "old", "worse")
    expected = json.loads(gate(capsys, "worse", "--json")[1])["measures"][0]
    for words in (("old.csv", "worse.csv"), ("--scores", "old.csv", "--scores", "worse.csv")):
        code, out, err = call(capsys, "gate", *words, "--margin", ".02", "--json")
        assert (code, err) == (3, "")
        assert json.loads(out)["measures"][0]["interval"] == expected["interval"]
    err = refused(capsys, "gate", "old", "worse", "--margin", ".02")
    assert "runs require judgments: give qrels, or the scores of both" in err


def test_systems_of_one_file_of_scores(folder, capsys):
    values = np.random.default_rng(1).uniform(0.4, 0.6, (6, 40))
    lines = [f"AP,{'ab'[k // 3]}_{k},q{t},{values[k, t]}" for k in range(6) for t in range(40)]
    (folder / "all.csv").write_text("measure,run,topic,value\n" + "\n".join(lines) + "\n")
    words = ("gate", "--scores", "all.csv", "a", "b", "-m", "AP", "--margin", ".2", "--json")
    told = json.loads(call(capsys, *words, "--system-from", "^(.)_")[1])
    assert (told["runs_per_side"], told["measures"][0]["method"]) == ([3, 3], "mixed")
    assert (told["baseline"], told["candidate"]) == ("a", "b")
    single = json.loads(
        call(capsys, *words[:3], "a_0", "b", *words[5:], "--system-from", "^(.)_")[1]
    )
    assert single["runs_per_side"] == [1, 3]
    code, _, err = gate(capsys, "same", "--system-from", "^(.)_")
    assert (code, "--system-from apply only to --scores FILE" in err) == (2, True)


def test_a_rebuild(folder, capsys):
    (folder / "builds").mkdir()
    for k in range(3):
        places = np.where(np.arange(120) % 40 == k, 3, 2)
        write_run(folder / "builds" / f"{k}.run", places)
    write_run(folder / "again", np.where(np.arange(120) % 40 == 7, 3, 2))
    write_run(folder / "other", np.where(np.arange(120) % 4 == 0, 3, 2))
    for name, code in (("again", 0), ("other", 3)):
        answered, out, _ = call(capsys, "gate", "qrels", "builds", name, "-m", "RR", "--rebuild")
        assert (answered, "the tolerance of a further build (3 builds)" in out) == (code, True)
    told = call(capsys, "gate", "qrels", "builds", "other", "-m", "RR", "--rebuild", "--json")[1]
    assert json.loads(told)["rebuild"]
    err = refused(capsys, "gate", "qrels", "builds", "other", "--rebuild", "--margin", ".1")
    assert "takes its tolerance from the builds: omit --margin" in err


def test_topics_one_after_another(folder, capsys):
    code, out, _ = gate(capsys, "worse", "--sequential", "--json")
    told = json.loads(out)
    assert (code, told["sequential"], told["seed"]) == (3, True, 0)
    assert 1 < told["decided_after"] < 120
    assert told["decided_after"] == told["measures"][0]["decided_after"]
    other = json.loads(gate(capsys, "worse", "--sequential", "--json", "--seed", "5")[1])
    assert other["seed"] == 5
    assert "limits hold at every look" in gate(capsys, "worse", "--sequential")[1]
    plain = json.loads(gate(capsys, "worse", "--json")[1])
    assert (plain["sequential"], plain["seed"], plain["decided_after"]) == (False, None, None)


def test_few_topics_and_breakage(folder, capsys):
    text = (folder / "qrels").read_text()
    told = json.loads(gate(capsys, "same", "--format", "json", margin=".1")[1])
    assert told["rare_breakage"] == pytest.approx(1 - 0.05 ** (1 / 120))
    code, out, _ = gate(capsys, "same", "--format", "json", "--guard-breakage", margin=".1")
    guarded = json.loads(out)
    assert (code, told["guard_breakage"], guarded["guard_breakage"]) == (0, False, True)
    lows = [result["measures"][0]["interval"][0] for result in (told, guarded)]
    assert lows[1] < lows[0]
    (folder / "qrels").write_text("".join(text.splitlines(keepends=True)[:90]))
    code, out, err = gate(capsys, "same", "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "RR: both have scores on 9 topics, and a gate requires at least 10: judge more" in err


def test_a_run_of_other_documents_or_topics_is_refused(folder, capsys):
    text = (folder / "old").read_text()
    (folder / "empty").write_text("")
    (folder / "documents").write_text(text.replace(" d", " x"))
    (folder / "few").write_text("".join(text.splitlines(keepends=True)[:-10]))
    (folder / "topics").write_text(text.replace("s", "t"))
    complaints = {
        "old": "the candidate and the baseline are the same run: name another",
        "empty": "empty",
        "documents": "no document of the candidate is judged: do the document ids match those",
        "few": "1 run lacks judged topics ('candidate' lacks 1 of 120): complete it, or choose "
        "--missing zero or --missing skip",
        "topics": "the candidate has no topic of the qrels: do the topic ids match",
        "gone": "gone",
    }
    before = sorted(path.name for path in folder.iterdir())
    files = ("--summary", "s.md", "--junit", "j.xml", "--history", "gates", "-o", "out.json")
    for candidate, complaint in complaints.items():
        code, out, err = gate(capsys, candidate, *files)
        assert (code, out, err.count("\n")) == (2, "", 1), candidate
        assert complaint in err
        assert sorted(path.name for path in folder.iterdir()) == before, "a file is left"
    assert gate(capsys, "few", "--missing", "zero")[0] in (0, 4)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("-m", "RR"), "RR requires --margin, the loss"),
        (("-m", "RR", "--margin", "-1"), "--margin must be a number of at least 0, got -1.0"),
        (("-m", "RR=much"), "-m RR=much: the margin must be a number"),
        (("-m", "RR", "--margin", "2"), "a margin of 2 excludes no loss of RR, which lies between"),
        (("-m", "RR=.1", "-m", "RR=.2"), "-m RR is given twice"),
        (("-m", "RR=.1", "--by", "kind"), "'kind' requires information about the topics"),
        (
            ("-m", "RR=.1", "--by", "knd", "--topic-info", "topics.csv"),
            "no column 'knd' in the topic information (kind, weight): did you mean 'kind'?",
        ),
        (
            ("-m", "RR=.1", "--topic-info", "few.csv"),
            "119 topics have no row (s0-1, s0-2, s1-3 and",
        ),
        (("-m", "RR=.1", "--alpha", ".7"), "--alpha must lie between 0 and 0.5"),
        (
            ("-m", "RR=.1", "third"),
            "give QRELS, BASELINE and CANDIDATE, or the scores of both, got 4",
        ),
        (("-m", "RR=.1", "--junit", "no/where.xml"), "the folder no does not exist"),
    ],
)
def test_bad_options(folder, capsys, options, complaint):
    (folder / "few.csv").write_text("topic,kind\ns0-0,head\n")
    assert complaint in refused(capsys, "gate", "qrels", "old", "same", *options)


def test_a_gate_whose_output_fails_does_not_count(folder, capsys):
    """Nothing is recorded where the result cannot be written."""
    if not Path("/dev/full").exists():
        pytest.skip("needs a full disk")
    options = ("--history", "kept", "--summary", "/dev/full")
    assert gate(capsys, "same", *options)[0] != 0
    assert not (folder / "kept/history.jsonl").exists()
    assert gate(capsys, "same", "--history", "kept")[0] == 0
    assert (folder / "kept/history.jsonl").read_text().count("\n") == 1
