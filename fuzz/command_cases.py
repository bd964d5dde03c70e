"""Random command lines: every command and option, good and bad values, tiny files.

What options there are is asked of the commands themselves, so that a new option is tried as soon
as it exists.
"""

from __future__ import annotations

import functools
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from fuzz.mutants import limited
from fuzz.reader_targets import PARQUET_RUN, PARQUET_SCORES
from steadyrank import cli

ODD_NUMBERS = "nan inf -inf -1 0 1e999 1_0"
ODD_MARKS = "' \" =1+1 -x \x1b[2J"
ODD_VALUES = """( (?P< a{99999999999} * **/* [ %s {0} ../.. /dev/null . AP( AP(rel= AP@0
    P@99999999999 nDCG(gains=(0,1) @ AP= =x AP(rel=2)=x.csv … 1,2,… 5,,6 , 1,2,…,999999999999 10% 1h
    -5s 0s 1e400h irds:nosuch builtin?"""
NASTY = (
    *("", " ", *ODD_NUMBERS.split(), "9" * 25, "x", *ODD_MARKS.split(), "a\nb", "\udce9"),
    *(*ODD_VALUES.split(), "é" * 300, "$x$", "|", "<b>", "\\", "\t"),
)
WHOLE = ("1", "2", "3", "5", "0", "-1")
FRACTIONS = "0.05 0.1 0.5 0.9 0.01 0 1 -1 1e-300 1e-15 0.9999999999999999 nan inf"
BIG = ("9999999999", "99999999999999999999999")
SLOW_WHEN_BIG = """n_samples trials n_trials n_draws samples_per_instance shards partitions
    cluster_samples
    csi jobs top depth pool_depth csi_depth top_shards samples topics instances"""
"""Options whose large values need much time or memory."""

NAMES = {
    "baseline": ("run1", "=run2", "nobody"),
    "a": ("s1", "s2", "run1"),
    "b": ("s1", "s2", "nobody"),
    "sweep": ("system", "level", "nothing"),
    "facet": ("auto", "none", "level"),
    "factors": ("team", "system,level", "nothing"),
    "instance_factors": ("level", "team,level"),
    "team_from": ("^(.)", "(run)", "run"),
    "system_from": ("(.)$", "(a|b)*"),
    "cluster_from": ("^(.)", "([0-9])$", "x"),
    "by": ("cluster", "nothing"),
    "measures": ("AP", "P@5", "nDCG@10", "RR", "map", "AP(rel=2)", "Twist", "AP={wide}"),
    "measure": ("AP", "P@5", "RBP"),
    "sizes": ("1,2", "1", "1,2,…"),
    "topic_sizes": ("2,3", "2"),
    "system_sizes": ("2,3",),
    "ks": ("1", "1,2"),
    "pilot_topics": ("3,2", "2"),
    "topics": ("2,3", "{topics}", "5"),
    "levels": ("0.8", "0.5,0.9"),
    "instances": ("1,2", "2"),
    "variances": ("0.1", "AP=0.1"),
    "difference_variance": ("0.1", "pilot"),
    "documents_per_topic": ("10", "AP=10"),
    "minutes_per_document": ("1",),
    "budget": ("1s",),
    "stop_lists": ("none", "lucene,none"),
    "stop_list": ("none", "{topics}"),
    "lexical": ("none", "porter"),
    "models": ("BM25", "BM25(k1=0.9,b=0.4)", "PL2"),
    "model": ("BM25", "bootstrap", "kde"),
    "sample_rate": ("0.5", "50%,1"),
    "cluster_share": ("100%", "0.5"),
    "bandwidth": ("scott", "0.1"),
    "pair": ("AP", "RR"),
    "title": ("A title",),
    "judge_files": ("same={qrels}", "none={unjudged}", "{qrels}"),
    "judge_scores": ("same={wide}", "{long}"),
    "kin": ("run1", "^(", "nobody"),
    "minimum_difference": ("0.1",),
    "pool_depth": ("5",),
}
"""Valid values of options by name; {file} is one of the files."""

ALWAYS = {
    # What keeps a command quick, unless a case says otherwise.
    "simulate": "--samples 20",
    "topics": "--trials 5",
    "agree": "--samples 4",
    "compare": "--samples 50",
    "pools": "--trials 2",
    "judges": "--samples 20",
    "battles": "--samples 50",
    "datasets": "--samples 50",
    "instances": "--no-posterior --samples 20 --samples-per-instance 5",
    "grid": "--stop-lists none --lexical none --models BM25",
    "shard": "--shards 2 --csi 1 --partitions 1 --cluster-samples 1 --sample 1 --sample-rate 0.5 "
    "--top-shards 1",
    "plan": "--minimum-difference 0.1",
    "components": "--factors team",
    "report": "--samples 2",
    "gate": "--margin 0.5",
}
ONCE = ("doctor", "demo", "reproduce", "report")
"""Commands that take seconds on good input and are mostly given bad input."""

INFORMED = ("components", "instances", "pools")
UNINFORMED = ("check", "simulate", "grid", "shard")
WITH_SCORES = "compare topics agree components instances plan stability report"
ODD_SCORES = "holes constant lonely huge scores_parquet escape empty text nowhere qrels"


def write_files(folder: Path) -> dict[str, str]:
    """Write tiny files of every kind, some with defects."""
    runs = folder / "runs"
    runs.mkdir()
    rng = np.random.default_rng(5)
    topics = [str(t) for t in range(1, 12)]
    for number, tag in enumerate(["run1", "=run2", "run3|x", "-s4"]):
        lines = [
            f"{t} Q0 d{d} 0 {rng.random():.4f} {tag}" for t in topics for d in range(number, 8)
        ]
        (runs / f"{tag[:4]}.run").write_text("\n".join(lines) + "\n")
    files = {
        "qrels": "".join(f"{t} 0 d{d} {rng.integers(3)}\n" for t in topics for d in range(8)),
        "long": "measure,run,topic,value\n"
        + "".join(
            f"{m},{r},{t},{rng.random():.3f}\n"
            for m in ("AP", "RR")
            for r in ("run1", "'=run2", "run3|x", "'-s4")
            for t in topics
        ),
        "wide": "topic,run1,run2,run3\n"
        + "".join(f"{t},{','.join(f'{v:.3f}' for v in rng.random(3))}\n" for t in topics),
        "battles": "model_a,model_b,winner,prompt\n"
        + "".join(
            f"{a},{b},{('model_a', 'tie', 'model_b')[rng.integers(3)]},{t}\n"
            for t in topics
            for a, b in ("xy", "yz", "zx", "yx")
        ),
        "board": "model,task,type,score\n"
        + "".join(
            f"m{m},t{t},{'RS'[t % 2]},{rng.random():.3f}\n" for m in range(4) for t in range(6)
        ),
        "holes": "topic,run1,run2\n1,,\n2,0.5,\n3,nan,0.25\n",
        "constant": "topic,run1,run2,run3\n1,0,0,0\n2,0,0,0\n3,0,0,0\n",
        "lonely": "topic,run1\n1,0.5\n",
        "huge": "topic,run1,run2\n1,1e308,-1e308\n2,1e308,1e-320\n3,-1e308,5\n",
        "info": "run,team,system,level\nrun1,A,s1,1\n'=run2,A,s1,2\nrun3|x,B,s2,1\n'-s4,B,s2,2\n"
        "run2,A,s1,2\nrun3,B,s2,1\n",
        "topics": "".join(f"{t}\tword{t} tea\n" for t in topics),
        "docs": "".join(
            json.dumps({"id": f"d{d}", "text": f"word{d} tea {'more ' * d}"}) + "\n"
            for d in range(8)
        ),
        "empty": "",
        "text": "no table at all\n",
        "cut": "1 Q0 d1 1\n",
        "twice": "1 0 d1 0\n1 0 d1 1\n",
        "unjudged": "99 0 d1 1\n",
        "escape": "topic,\x1b[2Ja,b\n1,0.5,0.25\n2,0.1,0.9\n",
    }
    paths = {"runs": str(runs), "folder": str(folder), "nowhere": str(folder / "no" / "where")}
    for name, text in files.items():
        path = folder / (f"{name}.jsonl" if name == "docs" else f"{name}.csv")
        path.write_text(text)
        paths[name] = str(path)
    for name, data in {"scores_parquet": PARQUET_SCORES, "run_parquet": PARQUET_RUN}.items():
        (folder / name).write_bytes(data)
        paths[name] = str(folder / name)
    odd = folder / os.fsdecode(b"odd \xe9\n name.run")
    odd.write_bytes(next(runs.iterdir()).read_bytes())
    return {**paths, "odd": str(odd)}


@functools.cache
def options_of(command: str) -> tuple[click.Option, ...]:
    context = click.Context(cli.group)
    named = cli.group.get_command(context, command)
    assert named is not None
    return tuple(
        param
        for param in named.params
        if isinstance(param, click.Option) and param.name not in ("help", "version", "scheduler")
    )


def case(command: str, number: int, files: dict[str, str], place: Path) -> list[str]:
    """Return command line `number` of a command; results go into `place`."""
    rng = np.random.default_rng([zlib.crc32(command.encode()), number])
    words = [command, *_sources(command, rng, files), *ALWAYS.get(command, "").split()]
    chosen = rng.choice(len(options_of(command)), size=rng.integers(0, 4), replace=False)
    for index in chosen:
        option = options_of(command)[index]
        if option.name == "plot" and rng.random() < 0.8:
            continue  # a figure takes longer than all the rest
        words += _option(option, rng, files, place)
    if command in ("grid", "shard", "demo", "reproduce", "report") and "--out" not in words:
        words += ["--out", str(place / "out")]
    if command in ONCE:
        # Something that stops it before the work, wherever the rest does not.
        stops = [["--nosuch"], ["--format", "nosuch"], ["--seed", "x"], ["--jobs", "0"]]
        words += stops[rng.integers(len(stops))]
    return words


def _sources(command: str, rng: np.random.Generator, files: dict[str, str]) -> list[str]:

    def pick(*names: str) -> str:
        return files[names[rng.integers(len(names))]]

    odd = rng.random()
    info = ["--run-info", files["info"]] if command in INFORMED or rng.random() < 0.3 else []
    if command in ("grid", "shard"):
        corpus = files["docs"] if odd < 0.8 else pick("empty", "text", "folder", "nowhere", "qrels")
        return [
            corpus,
            "--topics",
            files["topics"] if rng.random() < 0.9 else pick("empty", "docs"),
        ]
    if command in ("demo", "doctor"):
        return [] if odd < 0.7 else [files["qrels"]]
    if command == "reproduce":
        return [["sakai2016"], ["nosuch"], []][rng.integers(3)]
    if command == "battles":
        good = ["battles"] * 8
        return [pick(*good, "long", "wide", "empty", "text", "folder", "nowhere", "runs")]
    if command == "datasets" and odd < 0.8:
        good = ["board"] * 4 + ["wide"] * 4
        return [
            pick(*good, "holes", "constant", "lonely", "huge", "escape", "empty", "text", "runs")
        ]
    if command == "datasets":
        return [f"--collection=c{k}={files['qrels']},{files['runs']}" for k in range(2)]
    if command == "gate":
        pair = sorted(str(path) for path in Path(files["runs"]).iterdir())[:2]
        strange = pick("odd", "cut", "run_parquet", "scores_parquet", "empty", "wide", "nowhere")
        return [files["qrels"], pair[0], pair[1] if odd < 0.8 else strange]
    if command == "plan" and odd < 0.4:
        return ["--variance", "0.1", "--minimum-difference", "0.1", "--systems", "3"]
    if command in WITH_SCORES.split() and odd < 0.6:
        several = command == "agree" or rng.random() < 0.2
        measure = [] if several else ["-m", "AP"]
        good = ["long"] * 6 + ["wide"] * 3 * (not several)
        return ["--scores", pick(*good, *ODD_SCORES.split()), *info, *measure]
    qrels = files["qrels"] if odd < 0.93 else pick("unjudged", "twice", "empty", "text", "folder")
    judge = ["--judge", f"same={qrels}"] if command == "judges" else []
    runs = [files["runs"]]
    if rng.random() > 0.9:
        runs = [pick("odd", "cut", "run_parquet", "empty", "qrels")]
    return [qrels, *runs, *judge, *(info if command not in UNINFORMED else [])]


def _option(
    option: click.Option, rng: np.random.Generator, files: dict[str, str], place: Path
) -> list[str]:
    flag = str(rng.choice([*option.opts, *option.secondary_opts]))
    if option.is_flag:
        return [flag]
    return [flag, *(_value(option, rng, files, place) for _ in range(option.nargs))]


def _value(
    option: click.Option, rng: np.random.Generator, files: dict[str, str], place: Path
) -> str:
    known: Sequence[str] = [text.format(**files) for text in NAMES.get(str(option.name), ())]
    if option.name in ("output", "plot", "out", "store", "cache", "summary", "junit", "history"):
        suffixes = [".csv", ".json", ".svg", ".png", "", ".parquet", ".html", ".xyz"]
        targets = [str(place / f"out{suffix}") for suffix in suffixes]
        targets += [files["nowhere"], files["folder"], files["text"] + "/x"]
        return str(rng.choice(targets + ["/dev/null/x"] * (option.name == "output")))
    if isinstance(option.type, click.Path):
        known = list(files.values())
    elif isinstance(option.type, click.Choice):
        known = [str(choice) for choice in option.type.choices]
    elif isinstance(option.type, click.types.FloatParamType):
        known = FRACTIONS.split()
    elif isinstance(option.type, click.types.IntParamType) or not known:
        known = [*WHOLE, *(() if option.name in SLOW_WHEN_BIG.split() else BIG)]
    nasty = [
        text
        for text in NASTY
        if option.name not in SLOW_WHEN_BIG.split() or not text.strip().replace("_", "").isdigit()
    ]
    return str(rng.choice(known if rng.random() < 0.85 else nasty))


def check_answer(code: int, err: str) -> None:
    """Raise if output has a traceback, several errors, or none for a failure."""
    lines = [line for line in err.split("\n") if line]
    assert code in (0, 1, 2, 3, 4), f"exit code {code}"
    assert all(line.startswith("steadyrank: ") for line in lines), err
    errors = [line for line in lines if not line.startswith(QUIET_WORDS)]
    assert "\x1b" not in err
    assert "an error in steadyrank itself" not in err, err
    if code:
        assert len(errors) <= 1, err
        assert len(err) < 10_000


QUIET_WORDS = tuple(f"steadyrank: {word} " for word in ("warning:", "about", "planned", "read as"))


def run_case(words: list[str]) -> int:
    """Return the exit code of a command line in this process; a hang is an error.

    The first case of a command may compile kernels, on a machine that has other things to do.
    """
    with limited(300):
        return cli.run(words)
