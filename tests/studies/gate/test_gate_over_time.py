"""Gates that are repeated: a history of nights, looks while topics are judged, one line each."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from bench.levels import gates
from bench.nights import NIGHTS, alarms, first_alarm, truth
from steadyrank.studies.gate.history import read_history, spent_level
from steadyrank.studies.gate.view import (
    HISTORY,
    VIEW,
    chat_line,
    gate_text,
    history_text,
    summary_markdown,
)

COMMON = {"measures": "AP", "margin": 0.02}


def scores_of(values, name, **info):
    topics = [f"t{i}" for i in range(len(values))]
    made = sr.Scores(measures=["AP"], runs=[name], topics=topics, values=[[values]])
    return made.with_topic_info(**info)


def pair(differences, **info):
    base = np.random.default_rng(9).uniform(0.4, 0.6, len(differences))
    return scores_of(base, "old", **info), scores_of(base + differences, "new", **info)


def noisy(n, mean, seed=0, sd=0.05):
    return np.clip(np.random.default_rng(seed).normal(mean, sd, n), -0.4, 0.4)


def said(view, result):
    return {finding.id: finding for finding in view.findings(result)}


def test_alpha_is_spent_over_all_nights():
    spent = [spent_level(0.05, k) for k in range(1, 100_001)]
    assert sum(spent) == pytest.approx(0.05, rel=1e-4)
    assert sum(spent) < 0.05
    assert all(a > b for a, b in zip(spent, spent[1:], strict=False))


def test_a_year_without_a_change_rarely_alarms():
    """40 years of 365 nights on 60 topics, no margin; a false alarm once in 10,000 times."""
    stream = np.random.default_rng(1)
    years = gates.nights(stream, 40, 60, kind="normal")
    alarmed = sum(first_alarm(year, margin=0.0) is not None for year in years)
    assert alarmed == sum(gates.year_pvalue(year) < 0.05 for year in years)
    assert stats.binom(40, 0.05).sf(alarmed - 1) > 1e-4


def test_a_loss_in_steps_is_found_when_its_size_allows():
    """.02 in ten weeks: 1,000 topics have a standard error of .0032 and show .014 on night 50."""
    found = alarms(1000, 0.02, 8)
    assert all(night is not None for night in found)
    needed = stats.norm.isf(spent_level(0.05, 70)) * 0.1 / np.sqrt(1000)
    assert needed < 0.02
    assert np.median(found) < 70
    assert min(found) > 1
    assert truth(0.02)[-1] == -0.02
    assert len(truth(0.02)) == NIGHTS


def history_of(folder, n, losses=0.0):
    base = np.random.default_rng(4).uniform(0.4, 0.6, 300)
    old = scores_of(base, "v0")
    for k in range(1, n + 1):
        noise = np.random.default_rng(k).normal(0, 0.01, 300)
        new = scores_of(base - losses * k + noise, f"v{k}")
        result = sr.gate(old, new, history=folder, **COMMON)
        old = new
    return result


def varying(rng, n_topics=40, n_runs=3):
    """Runs of a system whose seeds shift all topics, and some of them further."""
    base = np.random.default_rng(2).uniform(0.3, 0.7, n_topics)
    values = base + rng.normal(0, 0.03, (n_runs, 1)) + rng.normal(0, 0.05, (n_runs, n_topics))
    runs = [f"s{i}" for i in range(n_runs)]
    topics = [f"t{i}" for i in range(n_topics)]
    made = sr.Scores(measures=["AP"], runs=runs, topics=topics, values=[values])
    return made.with_run_info(system=["s"] * n_runs)


def test_systems_that_vary_rarely_alarm_without_a_change(tmp_path):
    """40 histories of 6 gates, each with new seeds: topics alone would alarm in most of them."""
    alarmed = 0
    for trial in range(40):
        rng = np.random.default_rng(trial)
        old = varying(rng)
        for _ in range(6):
            new = varying(rng)
            result = sr.gate(old, new, measures="AP", margin=0.0, history=tmp_path / str(trial))
            old = new
        nights = result.history.gates
        alarmed += any(row["total_interval"][1] < 0 for gate in nights for row in gate["measures"])
    assert stats.binom(40, 0.05).sf(alarmed - 1) > 1e-3
    first = sr.read_scores(tmp_path / "0" / "first.parquet")
    assert first.runs == ("s0", "s1", "s2")


def test_a_loss_of_systems_that_vary_is_found(tmp_path):
    rng = np.random.default_rng(0)
    old = varying(rng, n_runs=8)
    worse = varying(rng, n_runs=8)
    worse = replace(worse, values=worse.values - 0.15)
    result = sr.gate(old, worse, history=tmp_path, **COMMON)
    assert [row["measure"] for row in result.history.drifted()] == ["AP"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_gate_that_was_not_published_does_not_count(tmp_path, stop):
    old, new = scores_of(np.full(40, 0.5), "old"), scores_of(0.5 + noisy(40, 0.0), "new")
    for n_kept in (0, 1):
        with pytest.raises(stop):
            sr.gate(old, new, history=tmp_path, publish=raising(stop), **COMMON)
        lines = tmp_path / "history.jsonl"
        assert (lines.read_text().count("\n") if lines.exists() else 0) == n_kept
        seen = []
        kept = sr.gate(old, new, history=tmp_path, publish=seen.append, **COMMON)
        assert seen == [kept]
        assert len(kept.history.gates) == n_kept + 1


def raising(stop):
    def publish(result):
        assert result.history.gates[-1]["verdict"] == result.verdict
        raise stop

    return publish


def test_a_first_baseline_that_no_gate_counted_is_replaced(tmp_path):
    old, new = scores_of(np.full(40, 0.5), "old"), scores_of(0.5 + noisy(40, 0.0), "new")
    sr.write_scores(scores_of(np.full(40, 0.1), "other"), tmp_path / "first.parquet")
    row = sr.gate(old, new, history=tmp_path, **COMMON).history.gates[0]["measures"][0]
    assert row["total"] == pytest.approx(row["difference"])


def test_an_edited_line_is_an_error_that_names_it(tmp_path):
    """Every value in turn lost, or of another kind: an input error, or the line is as good."""
    history_of(tmp_path, 2)
    path = tmp_path / "history.jsonl"
    lines = path.read_text().splitlines()
    n_refused = 0
    for edited in edits(json.loads(lines[1])):
        path.write_text(f"{lines[0]}\n{json.dumps(edited)}\n")
        try:
            history = read_history(tmp_path)
        except sr.FormatError as error:
            n_refused += "history.jsonl:2: this line is not an entry of a gate" in str(error)
            continue
        for form in ("table", "json", "csv", "line"):
            history_text(history, form)
    assert n_refused > 60


def edits(entry):
    """Copies with one value lost, or replaced by something else."""
    for key, value in entry.items():
        yield {k: v for k, v in entry.items() if k != key}
        for other in (None, "x", 7, [], {}, [None], True):
            yield {**entry, key: other}
        if key == "measures":
            for row in edits(value[0]):
                yield {**entry, key: [row]}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", [".lock", "history.jsonl"])
def test_a_pipe_in_the_folder_is_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    old, new = scores_of(np.full(40, 0.5), "old"), scores_of(0.5 + noisy(40, 0.0), "new")
    with pytest.raises(sr.InputError, match=f"{name}: this must be a plain file"):
        sr.gate(old, new, history=tmp_path, **COMMON)


def test_each_row_of_a_history_has_its_own_verdict(tmp_path):
    base = np.random.default_rng(4).uniform(0.4, 0.6, 300)
    values = np.stack([base, base])[:, None]
    topics = [f"t{i}" for i in range(300)]
    old = sr.Scores(measures=["AP", "RR"], runs=["old"], topics=topics, values=values)
    noise = np.random.default_rng(1).normal(0, 0.01, (2, 1, 300))
    moved = values + noise - np.array([0.0, 0.2])[:, None, None]
    new = sr.Scores(measures=["AP", "RR"], runs=["new"], topics=topics, values=moved)
    margins = {"AP": 0.02, "RR": 0.02}
    history = sr.gate(old, new, measures=margins, history=tmp_path).history
    assert [(row["verdict"], row["gate"]) for row in history.rows()] == [
        ("pass", "fail"),
        ("fail", "fail"),
    ]
    table = [line.split() for line in str(history).splitlines()]
    rows = [line for line in table if line and line[0].startswith("20")]
    (ap,), (rr,) = ([line for line in rows if measure in line] for measure in ("AP", "RR"))
    assert ap[-2:] == ["pass", "fail"]
    assert rr[-1] == "fail"
    assert rr[-2] != "fail"


def test_topics_that_have_served_many_candidates_should_be_replaced(tmp_path):
    result = history_of(tmp_path, 2)
    assert "gate.served" not in said(VIEW, result)
    assert "; these topics have decided 2 gates" in str(result)
    line = json.loads((tmp_path / "history.jsonl").read_text().splitlines()[0])
    kept = "".join(json.dumps({**line, "sha256": f"{k:064d}"}) + "\n" for k in range(100))
    (tmp_path / "history.jsonl").write_text(kept)
    assert "judge new" not in said(HISTORY, read_history(tmp_path))["history.served"].text
    told = said(VIEW, history_of(tmp_path, 1))["gate.served"]
    assert told.values == {"n_candidates": 101, "n_gates": 101}
    assert "judged 101 candidates, which may be tuned to them: judge new topics" in told.text
    again = said(VIEW, history_of(tmp_path, 1))["gate.served"]
    assert again.values == {"n_candidates": 101, "n_gates": 102}, "one candidate, gated twice"


def test_every_look_gives_limits_that_hold():
    old, new = pair(noisy(3000, 0.0))
    result = sr.gate(old, new, sequential=True, **COMMON)
    (row,) = result.measures
    plain = sr.gate(old, new, **COMMON).measures[0]
    assert (result.verdict, result.seed) == ("pass", 0)
    assert row.interval.low < plain.interval.low < plain.interval.high < row.interval.high
    assert 50 < row.decided_after < 1500
    told = said(VIEW, result)
    assert "gate.breakage" not in told
    assert told["gate.sequential"].text.startswith(f"Decided after {row.decided_after:,} of 3,000")
    lost = sr.gate(*pair(noisy(800, -0.08)), sequential=True, **COMMON)
    assert (lost.verdict, lost.measures[0].decided_after < 500) == ("fail", True)
    unclear = sr.gate(*pair(noisy(60, 0.0)), sequential=True, **COMMON)
    assert (unclear.verdict, unclear.measures[0].topics_needed) == ("cannot tell", None)
    assert "look again" in said(VIEW, unclear)["gate.sequential"].text


def test_the_order_of_topics():
    """Of the seed and the topics' names, whatever the order of lines; or of a column."""
    old, new = pair(noisy(1000, 0.0))
    first = sr.gate(old, new, sequential=True, **COMMON)
    turned = new.select(topics=list(new.topics)[::-1])
    assert sr.gate(old, turned, sequential=True, **COMMON).measures == first.measures
    other = sr.gate(old, new, sequential=True, rng=1, **COMMON)
    assert other.measures[0].interval != first.measures[0].interval
    d = (new.values - old.values)[0, 0]
    rising = np.argsort(np.argsort(d))
    worst_first = sr.gate(*pair(noisy(1000, 0.0), order=rising), sequential=True, **COMMON)
    assert worst_first.measures[0].decided_after != first.measures[0].decided_after
    for column in (["a"] * 1000, ["1"] * 1000):
        with pytest.raises(sr.InputError, match="the column order of the topics must hold a diff"):
            sr.gate(*pair(noisy(1000, 0.0), order=column), sequential=True, **COMMON)


def test_an_earlier_look_of_the_same_order_is_kept():
    """What was decided after k topics was decided by these k alone."""
    order = np.random.default_rng(8).permutation(1000)
    sides = pair(noisy(1000, 0.0), order=order)
    taken = sr.gate(*sides, sequential=True, **COMMON).measures[0].decided_after
    prefix = [f"t{i}" for i in np.flatnonzero(order < taken)]
    for topics, verdict in (
        (prefix, "pass"),
        ([t for t in prefix if order[int(t[1:])] < taken - 1], "cannot tell"),
    ):
        early = sr.gate(*(side.select(topics=topics) for side in sides), sequential=True, **COMMON)
        assert early.verdict == verdict


@pytest.mark.parametrize(
    ("info", "options", "complaint"),
    [
        ({"weight": np.ones(40)}, {}, "sequential takes topics as they are: omit clusters"),
        ({}, {"guard_breakage": True}, "sequential cannot be combined with guard_breakage"),
        ({"scale": np.ones(40)}, {}, "sequential requires scores between 0 and 1, got"),
    ],
)
def test_what_no_look_can_have(info, options, complaint):
    factor = 3.0 if info.pop("scale", None) is not None else 1.0
    sides = [replace(s, values=s.values * factor) for s in pair(noisy(40, 0.0), **info)]
    with pytest.raises(sr.InputError, match=complaint):
        sr.gate(*sides, sequential=True, **COMMON, **options)


def test_one_line_for_a_chat():
    d = noisy(60, 0.0)
    d[[3, 7, 11]] = (-0.3, -0.35, -0.25)
    result = sr.gate(*pair(d), **COMMON)
    line = chat_line(result)
    assert line == gate_text(result, "line")
    assert line.endswith("; lost most: t7 −0.35, t3 −0.30, t11 −0.25\n")
    names = [f"{'a very long name of a topic ' * 4}{i}" for i in range(60)]
    long = [
        sr.Scores(measures=["AP" * 60], runs=["r" * 300], topics=names, values=side.values)
        for side in pair(d)
    ]
    assert len(chat_line(sr.gate(*long, margin=0.02))) <= 200
    better = sr.gate(*pair(np.full(400, 0.1) + noisy(400, 0.0, sd=0.01)), **COMMON)
    assert "lost" not in chat_line(better)


def test_the_summary_has_the_ten_worst_topics():
    d = noisy(60, 0.0)
    old, new = pair(d)
    result = sr.gate(old, new, **COMMON)
    losses = result.measures[0].losses
    worst = np.argsort(d)[:10]
    assert [loss.topic for loss in losses] == [f"t{i}" for i in worst]
    assert losses[0].baseline == old.values[0, 0, worst[0]]
    assert losses[0].candidate == new.values[0, 0, worst[0]]
    summary = summary_markdown(result)
    table = summary.split("| topic | baseline | candidate | difference |")[1]
    assert table.count("\n| t") == 10
    told = json.loads(gate_text(result, "json"))["measures"][0]["losses"]
    assert told[0] == losses[0]._asdict()
