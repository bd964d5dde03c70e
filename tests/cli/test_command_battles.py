"""The command `battles`, as people type it."""

from __future__ import annotations

import csv
import json

import pytest
from commanding import call

import steadyrank as sr


@pytest.fixture
def votes(tmp_path):
    found = sr.simulated_battles(4, 50, n_judges=3, tie_share=0.1, position=0.3, rng=4)
    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie (bothbad)"}
    path = tmp_path / "battles.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["model_a", "model_b", "vote", "prompt", "judge", "length_a", "length_b"])
        columns = zip(found.a, found.b, found.outcome, found.prompt, found.judge, strict=True)
        for k, (a, b, outcome, prompt, judge) in enumerate(columns):
            sides = found.models[a], found.models[b]
            rows.writerow([*sides, words[outcome], prompt, judge, 100 + k % 7, 100 + k % 11])
    return path


def test_the_keys_of_the_contract(capsys, votes):
    code, out, err = call(
        capsys, "battles", votes, "--column", "winner=vote", "--control", "length", "--json"
    )
    assert (code, err) == (
        0,
        "steadyrank: read as battles: 1,800 battles of 4 models on 50 prompts by 3 judges\n",
    )
    found = json.loads(out)
    assert (found["n_battles"], found["n_prompts"], found["n_judges"]) == (1800, 50, 3)
    assert {"estimate", "standard_error", "pvalue"} <= found["position"].keys()
    assert {"name", "estimate", "standard_error"} <= found["controls"][0].keys()
    assert {*found["runs"][0]} >= {
        *("run", "strength", "standard_error", "win_rate", "rank", "rank_set"),
        *("could_be_first", "tier", "battles"),
    }
    assert {*found["pairs"][0]} >= {
        *("a", "b", "n", "difference", "standard_error", "standard_error_independent"),
        *("interval", "pvalue", "pvalue_adjusted", "significant", "win_probability"),
    }
    assert {*found["fit"]} == {"intransitive_triples", "expected", "pvalue"}
    assert found["connected"] is True
    assert found["topics_needed"] > 0
    assert sum(row["strength"] for row in found["runs"]) == pytest.approx(0.0, abs=1e-12)
    assert found["findings"][0]["id"] == "battles.verdict"


def test_the_verdict_comes_first_and_names_the_judges(capsys, votes):
    code, out, _ = call(capsys, "battles", votes, "--column", "winner=vote", "--quiet")
    assert code == 0
    assert out.startswith("m1 leads; no other of 4 models could be first, by these three judges")
    code, out, _ = call(
        capsys, "battles", votes, "--column", "winner=vote", "--fixed", "judge", "--simultaneous"
    )
    assert out.splitlines()[0].endswith("by these three judges.")
    assert "all ranks at once" in out


def test_the_next_battles_are_a_csv(capsys, votes, tmp_path):
    code, _, err = call(
        capsys,
        *("battles", votes, "--column", "winner=vote", "--next", 6, "-o", tmp_path / "n.csv"),
    )
    assert code == 0, err
    header, *rows = (tmp_path / "n.csv").read_text().splitlines()
    assert (header, len(rows)) == ("model_a,model_b,prompt", 6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "expected battles, with columns model_a, model_b and winner"),
        (("--column", "vote"), "write NAME=COLUMN, such as winner=vote"),
        (("--column", "winner=votes"), "no column 'votes'"),
        (("--column", "winner=judge"), "expected model_a, model_b, tie or the name of a model"),
        (("--column", "winner=vote", "--control", "size"), "unknown control 'size'"),
        (("--column", "winner=vote", "--cluster", "page"), "unknown cluster 'page'"),
        (("--column", "winner=vote", "--baseline", "m9"), "unknown model 'm9'"),
    ],
)
def test_what_cannot_be_done_is_one_line(capsys, votes, options, said):
    code, out, err = call(capsys, "battles", votes, *options, "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
