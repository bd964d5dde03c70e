"""Names from other tools, and options that were removed.

Exact synonyms are accepted, and a line says our name; help does not list them. For any other name
the error suggests the nearest. `measures.names` has the synonyms of measures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set


def _by_guess(table: Mapping[str, str]) -> dict[str, str]:
    """Return our name for each guess; the table has the guesses for each of our names."""
    return {guess: meant for meant, guesses in table.items() for guess in guesses.split()}


SAME_COMMANDS = _by_guess(
    {
        "evaluate": "eval score",
        "evaluate --format trec_eval": "trec_eval",
        "compare": "test tests significance sig ttest",
        "datasets": "leaderboard leaderboards mteb",
        "plan": "samplesize sample-size",
        "check": "validate",
    }
)
"""Synonyms of our commands."""

SAME_OPTIONS = _by_guess(
    {
        "-m": "--measures --metric --metrics --eval-metrics",
        "-o": "--output --output-file --outfile",
        "--format": "--output-format --table-format",
        "--jobs": "--n-jobs --threads --workers --num-threads",
        "--seed": "--random-state --random-seed --rng",
        "--test": "--stat-test --stattest --significance-test --method",
        "--method": "--test",
        "--alpha": "--max-p --significance-level",
        "--samples": "--permutations --n-permutations --n-samples -B",
        "--per-topic": "--per-query --perquery --by-topic --by_query --by-query -q",
        "--correction": "--multiple-testing --correct --adjust",
        "--digits": "--precision --round --decimals --places --rounding-digits",
        "--baseline": "--reference --ref --control",
        "--quiet": "--silent",
        "--rel": "--relevance-level -l",
    }
) | {"--html": "--format html", "-c": "--missing zero", "--complete": "--missing zero"}
"""Synonyms of our options, with the same values."""

SAME_VALUES = {
    "--test": _by_guess({"t": "ttest t-test student", "randomization": "fisher permutation"}),
    "--method": {"t": "ttest"},
    "--correction": _by_guess({"bh": "fdr_bh fdr benjamini-hochberg", "holm": "holm-bonferroni"}),
}
"""Synonyms of our options' values."""

ARGUMENTS = _by_guess({"QRELS": "--qrels --qrel", "RUN": "--run --runs"})
"""Options of other tools that are arguments here."""

WITHOUT_OPTION = _by_guess(
    {
        "QRELS and RUN... are given without options": "--qrels --qrel --run --runs",
        "a cutoff is part of a name: -m nDCG@10": "--cutoff -k --depth-cutoff",
        "condensed lists are part of a name: -m 'AP(judged_only=True)'": "-J --judged-only",
    }
)
"""What to write instead of options of other tools that are no options here."""

REMOVED = {
    **dict.fromkeys(
        [
            *(f"instances --{name}" for name in ("plan", "claim", "difference", "power")),
            *(f"instances --{name}" for name in ("topics", "instances")),
            *(f"instances --cost-per-{name}" for name in ("topic", "instance")),
        ],
        "use stability --topics N,N,… --instances M,M,…",
    ),
    **dict.fromkeys(
        ["simulate --model parametric", "simulate --mixture"],
        "use --model kde, or the default, which resamples documents",
    ),
    "any --facet-from": "give scores as a long table with columns judge, answer or draw",
    "report --top": "the page has a button for all rows",
    "report --card": "take a picture of the page's first screen",
    "report --keep-paths": "omit it: the page names files without their folders",
    "report --force": "name a file that ends in .html",
    "any --figure-width": "use result.plot(figsize=3.3) in Python, in inches",
    "simulate --device cuda": "omit it to sample on the CPU",
    "simulate --top": "rank_share of the result in Python has the probability of every rank",
    "evaluate --by": "compare --by system compares the means of systems",
    "compare --discriminative-power": "give several measures: --json has the significant_share of "
    "each",
    "compare --show": "--csv has the intervals, p-values and effect sizes of all pairs",
    "compare --underline-second": "omit it: the best mean is bold",
    "compare --alternative": "omit it: tests are two-sided",
    "judges --judge-grades": "map the grades in the judge's file",
    **dict.fromkeys(
        ("agree --power", "components --power"),
        "it restates p; reproduce ferro2018 has it by both conventions",
    ),
    "agree --rows": "use --json, which has the cells, the ranking and the components",
    "components --unbalanced": "omit levels until every combination occurs equally often, or fit "
    "the output of evaluate --csv with statsmodels' anova_lm(typ=3)",
    "components --interactions": "read the lines of the table that you need",
    "stability --facet": "name the column judge if all systems have its values, else system",
    "stability --alpha": "compare --alpha says which runs could be first",
    "compare --interval": "the interval is that of the test",
    **dict.fromkeys(
        [f"plan --{k}" for k in ("minutes-per-document", "documents-per-topic", "pool-depth")],
        "multiply topics by documents per topic and minutes per document",
    ),
    "gate --unjudged": "gate the scores of evaluate -o, where unjudged documents are not relevant; "
    "holes has their bounds",
    "battles --plot-kind judges": "use --json, whose by_judge has the strengths",
    "holes --topics": "join the texts to the file of --ask by its column topic",
    "datasets --subset": "give a table that mteb exports for the subsets that you want",
    "plan --page": "--plot draws the same curve",
    "plan --comparisons": "for k comparisons divide --alpha by k",
    "datasets --rope": "the interval and wins of the pair (--a, --b) say how large a difference is",
    "compare --family": "each measure is a family: for k measures divide --alpha by k",
    "topics --target": "--json has expected_reversal of each pair: count those above your rate",
    "topics --baseline": "--csv has the pairs with each run; report --baseline is about one run",
    "topics --comparisons": "the level is that of compare over all pairs",
    "topics --level-width": "omit it: levels are .01 wide for scores up to 1, 1 wide up to 100",
    **dict.fromkeys(
        [f"simulate --plot-kind {kind}" for kind in ("means", "tau", "significance")],
        "use --plot-kind ranks, or --json, which has the numbers",
    ),
    **dict.fromkeys(
        [f"compare --plot-kind {kind}" for kind in ("heatmap", "differences", "asl", "segments")],
        "use --plot-kind intervals, or --format json, which has the p-values",
    ),
    **dict.fromkeys(
        [f"instances --plot-kind {k}" for k in ("contradictions", "pools", "sorted", "agreement")],
        "use reproduce jayasinghe2015, whose tables have the numbers",
    ),
    **dict.fromkeys(
        [f"{name} --store" for name in ("grid", "shard")],
        "repeat the command, or keep runs with --out",
    ),
    **dict.fromkeys([f"{name} --cache" for name in ("grid", "shard")], "omit it"),
    **dict.fromkeys(
        [f"reproduce --{k}" for k in ("scores", "measure", "run-info", "team-from", "system-from")],
        "each exhibit of --json names the command that takes your data",
    ),
    "reproduce --samples": "use --budget small or full",
    "reproduce --score-source": "use simulate --mode paper --score-source rank",
    "reproduce --list": "omit it",
    "shard --distance": "omit it: documents are clustered by cosine",
    "shard --statistics": "omit it: statistics are those of the whole collection",
    **dict.fromkeys(
        [f"agree --figure {kind}" for kind in ("topics", "ranks", "effects")],
        "use --figure sizes or pairs, or --json, which has the numbers",
    ),
}
"""What to use instead of removed options, or removed values of options, of one command or any."""

KEYWORDS = {"seed": "rng", "-m": "measures", "samples": "n_samples"}
"""Options whose keyword in Python has another name."""

ABSENT = {
    "test": "it offers no choice of tests",
    "alpha": "it decides nothing at a level",
    "baseline": "it restricts no pairs to those with one run",
    "rng": "it draws no random numbers",
}
"""Why a study lacks a keyword that others have."""


def in_our_words(words: list[str], own: Set[str]) -> tuple[list[str], dict[str, str]]:
    """Replace synonyms in a command's arguments by its `own` options; return what was replaced.

    >>> in_our_words(["a.run", "--test", "student", "--max-p=.1"], {"--test", "--alpha"})
    (['a.run', '--test', 't', '--alpha', '.1'], {'student': 't', '--max-p': '--alpha'})
    """
    made: list[str] = []
    replaced: dict[str, str] = {}
    first = next((word for word in words if word.partition("=")[0] in ARGUMENTS), "")
    # Judgments must come first, as in QRELS RUN...
    by_option = first.startswith("--qrel") and bool(own & {"qrels", "files"})
    for place, word in enumerate(words):
        if word == "--":
            return made + words[place:], replaced
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        ours = SAME_OPTIONS.get(name, "")
        if name not in own and own & {*ours.split()[:1]}:
            replaced[name] = ours
            made += [*ours.split(), *([value] if equals else [])]
        elif by_option and name in ARGUMENTS:
            replaced[name] = ARGUMENTS[name]
            made += [value] if equals else []
        else:
            before = made[-1] if made else ""
            meant = SAME_VALUES.get(before, {}).get(word, word)
            if meant != word:
                replaced[word] = meant
            made.append(meant)
    return made, replaced


def removed(command: str, words: Sequence[str]) -> str | None:
    """Return the error for a removed option or value among a command's arguments, or None.

    >>> removed("simulate", ["qrels", "a.run", "--device=cuda"])
    '--device cuda was removed in 1.1; omit it to sample on the CPU'
    """
    ours = words[: words.index("--")] if "--" in words else words
    given = f" {' '.join(ours).replace('=', ' ')} "
    for known, answer in REMOVED.items():
        name, _, typed = known.partition(" ")
        if name in (command, "any") and f" {typed} " in given:
            return f"{typed} was removed in 1.1; {answer}"
    return None


def keyword_answer(name: str, known: Collection[str]) -> str:
    """Return the end of an error about a keyword that a study lacks: a suggestion or the reason.

    >>> keyword_answer("seed", ["rng"]), keyword_answer("rng", ["measure"])
    (': did you mean rng?', ': it draws no random numbers')
    """
    import difflib

    if name in ABSENT:
        return f": {ABSENT[name]}"
    option = SAME_OPTIONS.get(f"--{name.replace('_', '-')}", name).rpartition("--")[2]
    meant = KEYWORDS.get(option, option)
    near = [meant] if meant in known else difflib.get_close_matches(meant, known, n=1)
    return f": did you mean {near[0]}?" if near else ""
