"""Guesses that users of other tools make: each works, or is answered with the right name.

Of trec_eval, pytrec_eval, ir_measures, ranx, PyTerrier, repro_eval and autorank.
"""

from __future__ import annotations

import pytest

import steadyrank as sr
from steadyrank import cli, guesses

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


@pytest.mark.parametrize(("guess", "meant"), [("evaluat", "evaluate"), ("Evaluate", "evaluate")])
def test_a_command_of_another_tool_is_answered(guess, meant, capsys):
    code, line = call([guess], capsys)
    assert code == 2
    assert f"unknown command {guess!r}: did you mean {meant!r}?" in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "option", "answer"),
    [
        ("compare", "--run", "QRELS and RUN... are given without options"),
        ("evaluate", "-J", "-m 'AP(judged_only=True)'"),
        ("evaluate", "--cutoff", "-m nDCG@10"),
        ("evaluate", "--max-p", "No such option"),
    ],
)
def test_an_option_with_other_values_is_answered(command, option, answer, files, capsys):
    code, line = call([command, *files, option, "1"], capsys)
    assert code == 2
    assert answer in line
    assert line.count("\n") == 1


SAME = {
    "eval {q} {a} -m AP": "evaluate {q} {a} -m AP",
    "trec_eval {q} {a}": "evaluate {q} {a} --format trec_eval",
    "ttest {q} {a} {b} -m AP": "compare {q} {a} {b} -m AP",
    "evaluate {q} {a} --metrics=AP": "evaluate {q} {a} -m AP",
    "evaluate {q} {a} -c -l 2 --places 2": "evaluate {q} {a} --missing zero --rel 2 --digits 2",
    "evaluate {q} {a} -m AP --per-query": "evaluate {q} {a} -m AP --per-topic",
    "compare --qrels {q} --runs {a} {b} -m AP": "compare {q} {a} {b} -m AP",
    "compare {q} {a} {b} -m AP --stat-test student": "compare {q} {a} {b} -m AP --test t",
    "compare {q} {a} {b} -m AP --test fisher --permutations 50 --random-state 3": (
        "compare {q} {a} {b} -m AP --test randomization --samples 50 --seed 3"
    ),
    "compare {q} {a} {b} -m AP --correction fdr_bh --max-p .1": (
        "compare {q} {a} {b} -m AP --correction bh --alpha .1"
    ),
    "compare {q} {a} {b} -m AP --html": "compare {q} {a} {b} -m AP --format html",
}


@pytest.mark.parametrize("typed", SAME)
def test_what_means_the_same_is_done_and_our_name_is_told(typed, files, capsys):
    """The same output as under our names, and a line more on stderr unless that is quiet."""
    named = dict(zip("qab", files, strict=True))
    printed = []
    for words, more in ((typed, []), (SAME[typed], []), (typed, ["--quiet"])):
        assert cli.run([*words.format(**named).split(), *more]) == 0
        printed.append(capsys.readouterr())
    theirs, ours, quiet = printed
    assert theirs.out == ours.out == quiet.out
    told = [line for line in theirs.err.splitlines() if line.endswith(" here")]
    assert len(told) == 1
    assert set(theirs.err.splitlines()) - set(told) == set(ours.err.splitlines())
    assert quiet.err == ""


def test_help_has_our_names_alone():
    for name in cli.commands():
        command = cli.group.get_command(None, name)
        own = {flag for parameter in command.params for flag in parameter.opts}
        sections = command.help_sections(command.make_context(name, [], resilient_parsing=True))
        listed = " ".join(option for options in sections.values() for option, _ in options)
        assert not (guesses.SAME_OPTIONS.keys() - own) & set(listed.replace(",", " ").split())


@pytest.mark.parametrize(
    ("guess", "measure"),
    [
        ("MAP", "AP"),
        ("MRR@10", "RR@10"),
        ("recall@100", "R@100"),
        ("ndcg_cut.10", "nDCG@10"),
        ("F1", "SetF"),
        ("R-Prec", "Rprec"),
        ("hit_rate@5", "Success@5"),
        ("bpref", "Bpref"),
        ("success_1", "Success@1"),
    ],
)
def test_a_measure_of_another_tool_is_understood(guess, measure):
    assert str(sr.parse_measure(guess)) == measure


@pytest.mark.parametrize("typed", guesses.REMOVED)
def test_what_was_removed_is_answered_in_one_line(typed, capsys):
    """Whatever else is given, and with `=` between an option and its value."""
    command, *option = typed.replace("any ", "compare ").split()
    answer = f"{' '.join(option)} was removed in 1.1; {guesses.REMOVED[typed]}"
    for words in (option, ["=".join(option)]):
        assert call([command, "q", *words, "r"], capsys) == (
            2,
            f"steadyrank: {answer} (see steadyrank {command} --help)\n",
        )
        assert guesses.removed(command, ["--", *words]) is None
        assert guesses.removed("doctor", words) is None or typed.startswith("any")


def test_every_answer_exists():
    assert {ours.split()[0] for ours in guesses.SAME_COMMANDS.values()} <= set(cli.commands())
    assert not guesses.SAME_COMMANDS.keys() & set(cli.commands())
    commands = [cli.group.get_command(None, name) for name in cli.commands()]
    flags = {flag: p for command in commands for p in command.params for flag in p.opts}
    assert {ours.split()[0] for ours in guesses.SAME_OPTIONS.values()} <= flags.keys()
    for option, values in guesses.SAME_VALUES.items():
        takers = [p for command in commands for p in command.params if option in p.opts]
        assert takers
        for taker in takers:
            assert set(values.values()) <= set(taker.type.choices)
            assert not values.keys() & set(taker.type.choices)
