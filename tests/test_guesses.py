"""Guesses that users of other tools make: each works, or is answered with the right name.

Of trec_eval, pytrec_eval, ir_measures, ranx, PyTerrier, repro_eval and autorank.
"""

from __future__ import annotations

import re

import pytest

import steadyrank as sr
from steadyrank import cli, guesses
from steadyrank.cli.command import option_meant

JUDGMENTS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
RANKING = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "c": 1.0}}


@pytest.fixture
def files(tmp_path):
    sr.write_qrels(sr.qrels_from_dict(JUDGMENTS), tmp_path / "qrels.txt")
    for name in ("one", "two"):
        sr.write_run(sr.run_from_dict(RANKING, name=name), tmp_path / f"{name}.run")
    return [str(tmp_path / name) for name in ("qrels.txt", "one.run", "two.run")]


def call(arguments, capsys):
    code = cli.run(arguments)
    return code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("guess", "meant"),
    [
        ("eval", "evaluate"),
        ("trec_eval", "evaluate"),
        ("evaluat", "evaluate"),
        ("test", "compare"),
        ("significance", "compare"),
        ("ttest", "compare"),
        ("rank", "compare"),
        ("correlation", "agree"),
        ("anova", "components"),
        ("power", "plan"),
        ("Eval", "evaluate"),
    ],
)
def test_a_command_of_another_tool_is_answered(guess, meant, capsys):
    code, line = call([guess], capsys)
    assert code == 2
    assert f"unknown command {guess!r}: did you mean {meant!r}?" in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "option", "answer"),
    [
        ("evaluate", "--measures", "did you mean -m, --measure?"),
        ("evaluate", "--metrics", "did you mean -m, --measure?"),
        ("compare", "--metric", "did you mean -m, --measure?"),
        ("evaluate", "--output", "did you mean -o?"),
        ("compare", "--n-jobs", "did you mean --jobs?"),
        ("compare", "--random-state", "did you mean --seed?"),
        ("compare", "--stat-test", "did you mean --test?"),
        ("compare", "--max-p", "did you mean --alpha?"),
        ("compare", "--n-permutations", "did you mean --samples?"),
        ("evaluate", "--html", "did you mean --format?"),
        ("evaluate", "--per-query", "did you mean --per-topic?"),
        ("compare", "--qrels", "QRELS and RUN... are given without options"),
        ("evaluate", "--relevance-level", "-m 'AP(rel=2)'"),
        ("evaluate", "-J", "-m 'AP(judged_only=True)'"),
        ("evaluate", "-c", "--missing zero"),
        ("evaluate", "--cutoff", "-m nDCG@10"),
    ],
)
def test_an_option_of_another_tool_is_answered(command, option, answer, files, capsys):
    code, line = call([command, *files, option, "1"], capsys)
    assert code == 2
    assert answer in line
    assert line.count("\n") == 1


@pytest.mark.parametrize("options", [["--alpha", "0.01"], ["--seed", "3"], ["--baseline", "one"]])
def test_options_that_are_the_same_work(options, files, capsys):
    assert call(["compare", *files, "-m", "MAP", *options], capsys)[0] == 0


@pytest.mark.parametrize(
    ("guess", "measure"),
    [
        ("MAP", "AP"),
        ("MAP@100", "AP@100"),
        ("MRR@10", "RR@10"),
        ("mrr", "RR"),
        ("recall@100", "R@100"),
        ("Recall.100", "R@100"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("F1", "SetF"),
        ("precision@5", "P@5"),
        ("R-Prec", "Rprec"),
        ("hit_rate@5", "Success@5"),
        ("bpref", "Bpref"),
        ("success_1", "Success@1"),
    ],
)
def test_a_measure_of_another_tool_is_understood(guess, measure):
    assert str(sr.parse_measure(guess)) == measure


@pytest.mark.parametrize("guess", ["hits@1", "Hits@10", "accuracy", "gm_map"])
def test_a_measure_that_may_mean_several_things_is_answered(guess):
    with pytest.raises(sr.UnknownNameError, match="is not computed: "):
        sr.parse_measure(guess)


@pytest.mark.parametrize(
    ("guess", "meant"),
    [
        ("load_run", "read_run"),
        ("read_trec_run", "read_run"),
        ("read_trec_qrels", "read_qrels"),
        ("calc_aggregate", "evaluate"),
        ("RelevanceEvaluator", "evaluate"),
        ("metrics", "Measure"),
        ("ttest", "compare"),
        ("autorank", "report"),
        ("kendalltau", "kendall_tau"),
        ("define", "register_measure"),
        ("evaluat", "evaluate"),
    ],
)
def test_a_name_in_python_of_another_tool_is_answered(guess, meant):
    expected = f"no attribute '{guess}': did you mean `sr.{meant}`?"
    with pytest.raises(AttributeError, match=re.escape(expected)):
        getattr(sr, guess)


def test_an_experiment_is_a_module_of_its_own():
    with pytest.raises(AttributeError, match="it requires `import steadyrank.pyterrier`"):
        _ = sr.Experiment


def test_nothing_is_guessed_from_afar():
    with pytest.raises(AttributeError, match="no attribute 'quux'$"):
        _ = sr.quux
    assert not hasattr(sr, "__wrapped__")


def test_runs_given_to_compare_are_answered():
    run = sr.run_from_dict(RANKING, name="one")
    with pytest.raises(sr.InputError, match="all runs in one list and, second, qrels; got two"):
        sr.compare(run, run)


def test_every_answer_exists():
    assert set(guesses.COMMANDS.values()) <= set(cli.COMMANDS)
    assert not set(guesses.COMMANDS) & set(cli.COMMANDS)
    assert set(guesses.NAMES.values()) <= set(sr.__all__)
    assert not set(guesses.NAMES) & set(sr.__all__)
    commands = [cli.group.get_command(None, name) for name in cli.COMMANDS]
    for option in guesses.OPTIONS:
        assert any(option_meant(option, command) for command in commands), option
