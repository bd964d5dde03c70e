"""Names of runs on a page: short, distinct, and whole where somebody points at them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.present.plot_style import name_rows, shortened
from steadyrank.present.run_names import (
    LONGEST,
    RunNames,
    common_parts,
    elided,
    name_in_figure,
    run_names,
    shown_as,
)

GROUPS = ("idst_1", "idst_2", "tuw_1", "a_group_with_a_name_that_is_long_enough_to_cut")
TRACK = [f"input.dl19_passage_{group}_reranked_bert_large.trec.gz" for group in GROUPS]


def test_what_all_names_share_is_left_out_and_said():
    names = run_names(TRACK)
    assert (names.prefix, names.suffix) == ("input.dl19_passage_", "_reranked_bert_large.trec.gz")
    assert list(names.shown) == TRACK
    assert names.shown[TRACK[0]] == "idst_1"
    assert names.legend() == (
        "Names of runs are shown without “input.dl19_passage_” at the start and "
        "“_reranked_bert_large.trec.gz” at the end; hover over a name to see it in full."
    )
    long = names.shown[TRACK[3]]
    assert len(long) == LONGEST
    assert "…" in long


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["bm25"], ("", "")),
        (["bm25", "bm25f"], ("", "")),
        (["run_1", "run_12"], ("", "")),  # "1 and 12 others" would not name a run
        (["lab_dense_1.gz", "lab_dense_12.gz"], ("lab_", ".gz")),
        (["lab_dense_a", "lab_dense_12"], ("lab_", "")),
        (["a-x", "b-x"], ("", "")),  # too little to be worth a legend
        (["track_a", "track_"], ("", "")),  # one would have no name left
        (["x_run.gz", "y_run.gz"], ("", "_run.gz")),
    ],
)
def test_common_parts_end_with_a_word_and_leave_every_name_something(names, parts):
    assert common_parts(names) == parts


def test_names_that_would_look_alike_show_where_they_differ():
    names = [f"{'a' * 30}{middle}{'b' * 30}" for middle in ("1", "2", "2x")]
    short = list(run_names(names).shown.values())
    assert len(set(short)) == 3
    assert max(map(len, short)) <= LONGEST
    assert [text[6:8] for text in short] == ["1b", "2b", "2x"]
    # However short they must be, no two look alike; the same name twice does.
    for longest in (8, 12, 20):
        assert len(set(elided([*names, names[0]], longest))) == 3


RERANKERS = [
    f"{name}-large_msmarco-passage-trec-dl-2019-judged_top-100{end}"
    for name in ("set-encoder-of-some-size", *(f"colbert-{k}-bert-of-some-size" for k in "abc"))
    for end in ("", "_again")
]
RERANKERS += [RERANKERS[0].replace("large", "base")]


@pytest.mark.parametrize("form", ["latex", "markdown", "table", "html"])
def test_tables_captions_and_paragraphs_show_one_short_name(capsys, tmp_path, form):
    rng = np.random.default_rng(1)
    values = rng.random((len(RERANKERS), 20)) + np.arange(len(RERANKERS))[:, None] / 9
    scores = sr.Scores(measures=["AP"], runs=RERANKERS, topics=range(20), values=[values])
    sr.write_scores(scores, tmp_path / "scores.csv")
    asked = ["compare", "--scores", str(tmp_path / "scores.csv"), "--describe", "--format", form]
    assert run(asked) == 0
    shown = capsys.readouterr().out
    best = run_names(RERANKERS).shown[RERANKERS[-1]]
    plain = shown.replace(r"\ldots{}", "…").replace("&#8230;", "…").replace("\\_", "_")
    assert plain.count(best) >= 2


def test_labels_of_a_plot_differ_as_the_names_do():
    """Five pairs of a real track had the same label."""
    import matplotlib.pyplot as plt

    names = [f"a_reranker_of_some_kind_with_seed_{k}_on_the_passages_of_a_track" for k in range(30)]
    figure, ax = plt.subplots()
    name_rows(ax, names)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    plt.close(figure)
    assert len(set(labels)) == 30


def test_tables_and_words_of_a_terminal_show_short_names_and_csv_whole_ones(capsys, tmp_path):
    values = np.random.default_rng(1).random((4, 20))
    scores = sr.Scores(measures=["AP"], runs=TRACK, topics=range(20), values=[values])
    path = tmp_path / "scores.csv"
    sr.write_scores(scores, path)
    assert run(["topics", "--scores", str(path), "-m", "AP", "--trials", "10"]) == 0
    shown = capsys.readouterr().out
    assert "reranked_bert_large.trec.gz" not in shown.replace("“_reranked_bert_large.trec.gz”", "")
    assert "at the end; CSV and JSON have them in full." in shown
    assert run(["compare", "--scores", str(path), "-m", "AP", "--format", "csv"]) == 0
    assert TRACK[0] in capsys.readouterr().out
    assert TRACK[0] not in str(sr.compare(scores))


def test_a_name_inside_another_is_not_mistaken_for_it():
    names = run_names([f"trec_2019_passages_{name}" for name in ("a", "a_b", "c")])
    assert names.text("trec_2019_passages_a_b beats trec_2019_passages_a, not xtrec.") == (
        "a_b beats a, not xtrec."
    )
    assert list(names.parts("of trec_2019_passages_c")) == [
        ("of ", ""),
        ("c", "trec_2019_passages_c"),
    ]
    assert RunNames().text("anything") == "anything"


def test_chosen_names_are_taken_as_they_are():
    names = run_names(["IDST 1", *TRACK[1:]], {"IDST 1": TRACK[0]})
    sentence = f"IDST 1 and {TRACK[2]}"
    assert names.text(sentence) == sentence
    assert next(names.parts(sentence)) == ("IDST 1", TRACK[0])


SWAPPED = "a\tb\nb\ta\nc\tthe\n"


@pytest.mark.parametrize(
    "command", ["report --out page.html --samples 10", "compare --describe", "topics", "evaluate"]
)
@pytest.mark.parametrize("kind", ["runs", "scores"])
def test_names_that_are_exchanged_are_meant_in_every_sentence(
    capsys, tmp_path, monkeypatch, drawn_nowhere, command, kind
):
    """The run in `a.run` is the best; with the names exchanged, that is b."""
    monkeypatch.chdir(tmp_path)
    rng, wanted = np.random.default_rng(4), {"a": 0.0, "b": 1.5, "c": 2.5}
    (tmp_path / "q").write_text("".join(f"{t} 0 d{t} 1\n" for t in range(30)))
    for name, noise in wanted.items():
        lines = [
            f"{t} Q0 d{d} 0 {(d == t) + noise * rng.random()} {name}\n"
            for t in range(30)
            for d in range(30)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "names").write_text(SWAPPED)
    (tmp_path / "info").write_text("run,team\na,A\nb,B\nc,C\n")
    files = ["q", *(f"{name}.run" for name in wanted)]
    if kind == "scores":
        assert run(["evaluate", *files, "-m", "RR", "-o", "scores.csv"]) == 0
        files = ["--scores", "scores.csv"]
    asked = [*command.split(), *files, "-m", "RR", "--run-info", "info", "--quiet"]
    assert run(asked) == 0
    plain = capsys.readouterr().out
    assert run([*asked, "--names", "names"]) == 0
    named = capsys.readouterr().out
    exchanged = {"a": "b", "b": "a", "c": "the"}
    pattern = re.compile(r"(?<![\w.])[abc](?![\w.])")
    first = pattern.sub(lambda match: exchanged[match[0]], plain.splitlines()[0])
    assert named.splitlines()[0] == first
    best = [line.split()[0] for line in named.splitlines() if "1.0000" in line]
    assert set(best) <= {"b", "With", "Mean", "We"}


def test_run_information_is_about_the_names_in_files(write):
    files = [write(f"{name}.run", f"1 Q0 d1 1 9 {name}\n") for name in "ab"]
    info = write("info.csv", "run,team\na,A\nb,B\n")
    chosen = {"names": {"a": "b", "b": "One"}, "run_info": info, "system_from": "(.)"}
    runs = sr.read_runs(files, **chosen)
    assert [(run.name, run.info["team"], run.info["system"]) for run in runs] == [
        ("b", "A", "a"),
        ("One", "B", "b"),
    ]
    assert runs[0].info["team"] == "A"
    scores = sr.evaluate(runs, sr.qrels_from_dict({"1": {"d1": 1}}), "RR")
    assert (scores.runs, scores.run_info["team"]) == (("b", "One"), ("A", "B"))


def test_figures_show_the_same_names():
    names = run_names(TRACK)
    with shown_as(names):
        assert shortened(TRACK[2]) == "tuw_1"
        assert name_in_figure(f"{TRACK[2]}  (a)") == "tuw_1  (a)"
    assert name_in_figure(TRACK[2]) == TRACK[2]


def test_names_change_no_number(tmp_path, drawn_nowhere):
    values = np.random.default_rng(1).random((1, 4, 20))
    short = sr.Scores(measures=["AP"], runs=list("abcd"), topics=range(20), values=values)
    names = [f"trec_2019_passages_run_{name}" for name in "abcd"]
    long = sr.Scores(measures=["AP"], runs=names, topics=range(20), values=values)
    one, other = (
        sr.report(scores=scores, out=tmp_path / "page.html", n_samples=20)
        for scores in (short, long)
    )
    assert one.page.pairs.fields == other.page.pairs.fields
    assert 'title="trec_2019_passages_run_' in (tmp_path / "page.html").read_text("utf-8")
