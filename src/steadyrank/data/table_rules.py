"""Rules for what tables hold in addition to scores, which every reader of tables applies.

Summaries among the topics or datasets, per cent mixed with fractions, two spellings of a name.
CSV, JSON, Parquet, frames and leaderboards, long and wide, all come here once their names and
numbers are known. Two columns for one thing are `one_column`'s, of `interop.tables`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import starmap

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import FormatError, warn
from steadyrank.words import counted, some

_SUMMARIES = {"all", "overall", "mean", "amean", "gmean", "hmean", "average", "avg", "avg."}

_AVERAGE = re.compile(
    r"(avg|average|mean|overall|total|rank|borda|#)\b.*|.*\b(avg|average|mean)", re.IGNORECASE
)

_ROUNDED = 0.0051
"""Largest rounding error of a mean with two digits, the fewest that are expected."""

_FROM_0_TO_1 = re.compile(r"ap|r?ndcg|rr|r-?prec|bpref|infap|n?err|rbp|judged|success|[pr]@")
"""Measures that are at most 1, as `_spelling` has them; P and R only with a cutoff."""

_SHARE, _PERCENT = 1.0, 10.0
"""What stays below the first, or exceeds the second, is on different scales."""

_NEARLY, _ODD = 1e-6, 2.0
"""Beyond 1, the first is rounding; up to the second it may be a measure with unusual gains."""

_REMEDIES = {
    "run": "divide per cent by 100, and remove what is no run",
    "dataset": "in a mean over both, the larger scale dominates",
}

_SAME_MEASURES = {"map": "ap", "map_cut": "ap", "ndcg_cut": "ndcg", "recip_rank": "rr", "mrr": "rr"}
_SAME_MEASURES |= {"recall": "r", "precision": "p", "hit_rate": "success"}

_TOPIC_HEADING = re.compile(
    r"topics?|(topic|query)(ids?|no|num|number)|topicname|qids?|qno|questionid"
)
_RUN_HEADING = re.compile(
    r"runs?|run(id|name|tag)|systems?|system(id|name)|models?|modelname|methods?"
)


Numbered = list[tuple[int, list[str]]]
"""Rows of a file, each with the number of its line."""


def _bare(heading: str) -> str:
    return re.sub(r"[\W_]+", "", heading).casefold()


def is_blank(heading: str) -> bool:
    """Whether a heading says nothing, or that its column counts the rows, as pandas' index does.

    >>> [is_blank(text) for text in ("", " # ", "Unnamed: 0", "index", "id", "bm25")]
    [True, True, True, True, False, False]
    """
    return _bare(heading) in ("", "unnamed0", "index")


def names_rows(heading: str) -> str:
    """What a column names by its heading: topics, runs, or nothing that could be said.

    >>> [names_rows(text) for text in ("Topic ID", "run", "run / topic", "id", "bm25")]
    ['topics', 'runs', '', '', '']
    """
    if _TOPIC_HEADING.fullmatch(_bare(heading)):
        return "topics"
    return "runs" if _RUN_HEADING.fullmatch(_bare(heading)) else ""


def names_in_front(
    where: object, header: list[str], rows: Numbered, naming: Sequence[int]
) -> tuple[list[str], Numbered]:
    """A wide table with the column that names its rows in front, and none of its kind elsewhere."""
    if not naming or list(naming) == [0]:
        return header, rows
    first, *twins = naming
    for k in twins:
        if any(row[k].strip() != row[first].strip() for _, row in rows):
            message = f"columns {header[first]!r} and {header[k]!r} name one thing, and differ"
            raise FormatError(str(where), f"{message}: remove one", 1)
    dropped = {first, *twins}
    if first > 0 and is_blank(header[0]):
        tell_of_index(where, header[0], header[first])
        dropped.add(0)
    order = [first, *(k for k in range(len(header)) if k not in dropped)]
    return [header[k] for k in order], [(line, [row[k] for k in order]) for line, row in rows]


def tell_of_index(where: object, heading: str, naming: str) -> None:
    """Say that the first column counts the rows, which another names."""
    tell(where, f"the first column, {heading!r}, is an index in addition to {naming!r}: omitted")


def is_summary(name: str) -> bool:
    """Whether a topic is none, but what tools call the mean over all topics."""
    return name.lower() in _SUMMARIES


def is_average(dataset: str) -> bool:
    """Whether a dataset of a leaderboard is a summary of the others: a mean, a rank.

    >>> [is_average(name) for name in ("Avg", "Mean (Task)", "Rank", "all", "NQ")]
    [True, True, True, True, False]
    """
    return is_summary(dataset) or _AVERAGE.fullmatch(dataset) is not None


def tell(where: object, sentence: str) -> None:
    """Warn of what a table holds."""
    warn(f"{where}: {sentence}", stacklevel=6)


def tell_of_summaries(where: object, kind: str, names: Sequence[str]) -> None:
    """Say which topics, datasets or runs were left out, where there are any."""
    if names:
        number = counted(len(names), f"{kind} is a summary", f"{kind}s are summaries")
        tell(where, f"{number} and omitted: {some(list(dict.fromkeys(names)))}")


def mean_runs(runs: Sequence[str], values: np.ndarray) -> list[int]:
    """The runs that are called a mean and are that of the others in `values[run, …]`."""
    named = [i for i, name in enumerate(runs) if is_summary(name)]
    if not named or len(named) == len(runs):
        return []
    others = mean_of_present(np.delete(values, named, axis=0).reshape(-1, values[0].size).T)
    near = [np.abs(values[i].ravel() - others) for i in named]
    return [
        i
        for i, gaps in zip(named, near, strict=True)
        if not np.isnan(gaps).all() and np.nanmax(gaps) <= _ROUNDED
    ]


def tidy_scores(where: str, scores: Scores) -> Scores:
    """The scores of a file or frame without summaries, checked for scales and for names."""
    summaries = [topic for topic in scores.topics if is_summary(topic)]
    if summaries and len(summaries) == len(scores.topics):
        message = f"holds only summaries ({some(summaries)}): give the scores of single topics"
        raise FormatError(where, message)
    means = [scores.runs[i] for i in mean_runs(scores.runs, scores.values.swapaxes(0, 1))]
    tell_of_summaries(where, "topic", summaries)
    tell_of_summaries(where, "run", means)
    if summaries or means:
        scores = scores.select(
            topics=[name for name in scores.topics if name not in summaries],
            runs=[name for name in scores.runs if name not in means],
        )
    for measure, matrix in zip(scores.measures, scores.values, strict=True):
        _check_scale(where, measure, scores.runs, matrix)
    for kind, names in zip(("measure", "run", "topic"), scores.labels, strict=True):
        tell_of_spellings(where, kind, names)
    return scores


def _check_scale(where: str, measure: str, runs: Sequence[str], matrix: np.ndarray) -> None:
    """Refuse per cent mixed with fractions for a measure of at most 1; warn for others."""
    largest = np.fmax.reduce(matrix, axis=1, initial=0.0)
    above = largest > _SHARE + _NEARLY
    if not above.any():
        return
    if not any(map(_FROM_0_TO_1.fullmatch, _without_cutoff(measure))):
        tell_of_scales(where, "run", runs, matrix)
        return
    odd = [run for run, is_above in zip(runs, above, strict=True) if is_above]
    what = f"scores of {some(odd)} are up to {largest.max():g}, but {measure} is at most 1"
    if largest.max() <= _ODD or above.all() or not largest[~above].any():
        tell(where, f"{what}: if they are per cent, divide them by 100")
    else:
        raise FormatError(where, f"{what}, and others are: {_REMEDIES['run']}")


def tell_of_scales(where: object, kind: str, names: Sequence[str], values: np.ndarray) -> None:
    """Warn where some rows of `values` hold fractions, and others per cent or counts."""
    largest = np.nan_to_num(np.abs(values)).max(axis=1)
    counts = (np.isnan(values) | (values == np.round(values))).all(axis=1)
    shares = ~counts & (largest <= _SHARE)
    large = (largest > _PERCENT) | counts & (largest > _SHARE)
    if not (shares.any() and large.any()):
        return
    few = shares if shares.sum() < large.sum() else large
    odd = some([name for name, is_odd in zip(names, few, strict=True) if is_odd])
    how = "at most 1" if few is shares else f"up to {largest[large].max():g}"
    rest = "are not" if few is shares else "are at most 1"
    tell(where, f"scores of {odd} are {how}, those of other {kind}s {rest}: {_REMEDIES[kind]}")


def tell_of_spellings(where: object, kind: str, names: Sequence[str]) -> None:
    """Warn if one name may be written in two ways: 01 and 1, NFC and NFD, map and AP.

    >>> _spelling("007", "topic"), _spelling("P_10", "measure"), _spelling("recall@5", "measure")
    ('7', 'p@10', 'r@5')
    """
    first: dict[str, str] = {}
    pairs = [
        (other, name)
        for name in names
        if (other := first.setdefault(_spelling(name, kind), name)) is not name
    ]
    if pairs:
        shown = some(list(starmap("{0!a} = {1!a}".format, pairs)), 2)
        number = counted(len(pairs), kind)
        tell(where, f"{number} under two names ({shown}), which both count: write each in one way")


def _spelling(name: str, kind: str) -> str:
    if kind == "measure":
        base, cutoff = re.fullmatch(r"(.*?)(?:[@_.](\d+))?", name.lower(), re.DOTALL).groups()  # type: ignore[union-attr]
        return _SAME_MEASURES.get(base, base) + (f"@{cutoff}" if cutoff else "")
    if name.isdecimal():
        return name.lstrip("0") or "0"
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _without_cutoff(measure: str) -> tuple[str, str]:
    """A measure's spelling up to its cutoff, without and with what follows: AP(rel=2), P@10.

    >>> _without_cutoff("ndcg_cut_10"), _without_cutoff("AP(rel=2)")
    (('ndcg', 'ndcg@'), ('ap', 'ap'))
    """
    base, at, _ = _spelling(re.sub(r"\(.*\)", "", measure), "measure").partition("@")
    return base, base + at
