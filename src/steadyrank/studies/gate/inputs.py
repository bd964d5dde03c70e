"""Read baseline and candidate, from runs or scores, on the same topics."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.battles import Battles
from steadyrank.data.facets import averaged_facets, averaged_together, facets_of
from steadyrank.data.forms.form import Source
from steadyrank.data.forms.reading import form_of
from steadyrank.data.order import scores_in_order
from steadyrank.data.provenance import SETTINGS, check_alike, file_hashes, with_hashes
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.any_file import holds_scores, read_battles
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.run_info import chosen_names, describe_topics, read_names, runs_with_files
from steadyrank.data.read.runs import ReadingOptions, read_runs, split_name
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.sources import PathLike, base_name, find_files
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores, join_scores, mean_of_present, position
from steadyrank.errors import InputError, arg
from steadyrank.measures.evaluate import Missing, evaluate, with_missing
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import find_judged_documents
from steadyrank.stats.battles.estimate import estimated
from steadyrank.stats.battles.model import win_probability
from steadyrank.studies.gate.fits import MeasureHoles, find_holes
from steadyrank.studies.gate.result import ROLES
from steadyrank.words import counted, some

DEFAULT = "nDCG@10"
"""Default measure, unless the scores have only one other measure."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """The scores of baseline and candidate, and the effect of unjudged documents."""

    scores: Scores
    """Both, baseline first; means over the runs of a system that varies."""
    sides: tuple[Scores, Scores]
    """All runs of both, on the same topics."""
    holes: Mapping[str, MeasureHoles] = field(default_factory=dict)
    """Unjudged documents by measure, if both rankings are available."""
    is_ranking_lost: bool = False
    """Whether one of the two was given as scores and its ranking is not available."""

    @property
    def n_runs(self) -> tuple[int, int]:
        """Number of runs of the baseline and of the candidate."""
        return len(self.sides[0].runs), len(self.sides[1].runs)

    @property
    def judges(self) -> tuple[str, ...]:
        """Judges who graded both, if known."""
        return tuple(self.sides[1].meta.get("judges", ()))

    @property
    def varies(self) -> bool:
        """Whether one of the two is a system of several runs."""
        return self.n_runs != (1, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """Scores of baseline or candidate, or runs that are to be evaluated."""

    name: str
    scores: Scores | None = None
    runs: tuple[Run, ...] = ()

    @property
    def file(self) -> PathLike | None:
        """File of a single run, if known."""
        if len(self.runs) == 1:
            return self.runs[0].source
        return None if self.scores is None else dict(runs_with_files(self.scores)).get(self.name)


def read_pair(
    baseline: Any,
    candidate: Any,
    qrels: Any,
    *,
    measures: Sequence[str] | None,
    topic_info: PathLike | None,
    cluster_from: str | None,
    settings: Mapping[str, Any],
    jobs: int | None,
    reading: ReadingOptions,
) -> Pair:
    """Return both on the same topics; `settings` are `missing`, `no_relevant` and `ties`."""
    if (battles := _battles_in(qrels)) is not None:
        return _pair_of_battles(battles, str(baseline), str(candidate), topic_info, cluster_from)
    if _is_same(baseline, candidate):
        raise InputError("the candidate and the baseline are the same run: name another")
    if isinstance(baseline, (str, os.PathLike)) and Path(baseline).is_dir():
        builds: Any = find_files(baseline)
    else:
        builds = baseline if isinstance(baseline, (list, tuple)) else ()
    if any(_is_same(run, candidate) for run in builds):
        raise InputError("the candidate is one of the runs of the baseline: take it out of these")
    chosen = reading.pop("names", None)  # names of both, which are read one by one
    given = [_side(source, reading, qrels is not None) for source in (baseline, candidate)]
    given = _averaged(given)
    if any(side.runs for side in given) and qrels is None:
        raise InputError("runs require judgments: give qrels, or the scores of both")
    judged = judgments_of(qrels) if any(side.runs for side in given) else None
    if measures is None:
        measures = [DEFAULT if judged is not None else _only_measure(given)]
    if judged is not None:
        given = _evaluated(given, judged, measures, jobs=jobs, **settings)
    names = _names(given, {} if chosen is None else read_names(chosen))
    first, second = (
        _of_side(side, role, measures, name)
        for side, role, name in zip(given, ROLES, names, strict=True)
    )
    missing = settings["missing"]
    # With missing="error", a topic that only one has is an error below in any case.
    alike = [key for key in SETTINGS if key != "missing" or missing != "error"]
    check_alike(first, second, [f"the {role}" for role in ROLES], alike)
    first, second = _on_same_topics(first, second, missing)
    scores = _side_by_side(first, second, names)
    scores = describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    pair = Pair(scores=scores, sides=(first, second))
    is_plain = settings["ties"] == "trec_eval" and settings["no_relevant"] == "zero"
    if judged is None or pair.varies or not is_plain:
        return pair
    old, new = (
        side.runs[0] if side.runs else _kept_ranking(side.scores, reading) for side in given
    )
    if old is None or new is None:
        return replace(pair, is_ranking_lost=True)
    if scores.topics != judged.topics:  # a kept baseline may have others
        return pair
    return replace(pair, holes=find_holes((old, new), judged, scores))


def _battles_in(qrels: Any) -> Battles | None:
    """Return the battles that were given instead of judgments; None for anything else."""
    if isinstance(qrels, Battles):
        return qrels
    if not isinstance(qrels, (str, os.PathLike)) or not Path(qrels).exists():
        return None
    form = form_of(Source(Path(qrels)))
    return read_battles(qrels) if form is not None and form.holds == "battles" else None


def _pair_of_battles(
    battles: Battles,
    baseline: str,
    candidate: str,
    topic_info: PathLike | None,
    cluster_from: str | None,
) -> Pair:
    """Return two models of an arena, with what each prompt says about their shares of wins."""
    scores = win_scores(battles, baseline, candidate)
    scores = describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    return Pair(scores=scores, sides=(scores.select(runs=baseline), scores.select(runs=candidate)))


def _kept_ranking(scores: Scores | None, reading: ReadingOptions) -> Run | None:
    """Return the run that scores were computed from if its file has not changed."""
    meta = {} if scores is None else scores.meta
    name = meta.get("files", {}).get(scores.runs[0] if scores is not None else "")
    kept = meta.get("sha256", {}).get(name)
    if kept is None or file_hashes({"files": {"": name}}).get(name) != kept:
        return None
    runs = read_runs(name, **reading)
    return runs[0] if len(runs) == 1 else None


def _is_same(baseline: Any, candidate: Any) -> bool:
    both = baseline, candidate
    if not all(isinstance(side, (str, os.PathLike)) for side in both):
        return baseline is candidate
    files = (split_name(side)[1] if isinstance(side, str) else side for side in both)
    return len({os.path.realpath(file) for file in files}) == 1


def _side(source: Any, reading: ReadingOptions, has_qrels: bool) -> _Side:
    """Return scores or runs; several files of a folder or a list are runs of one system."""
    if isinstance(source, Scores):
        return _Side(name=_system_name(source), scores=source)
    is_path = isinstance(source, (str, os.PathLike))
    called, file = split_name(source) if isinstance(source, str) else (None, source)
    if is_path and holds_scores(Path(file), has_qrels):
        scores = read_scores(file)
        return _Side(name=called or _system_name(scores), scores=scores)
    if is_path and Path(source).is_dir():
        reading = {**reading, "name_from": "file"}
        files = find_files(source)
        if all(holds_scores(path, has_qrels) for path in files):
            return _Side(name=Path(source).resolve().name, scores=_of_files(files))
    runs = tuple(read_runs(source, **reading))
    is_system = isinstance(source, (list, tuple)) or (is_path and Path(source).is_dir())
    if len(runs) != 1 and not is_system:
        raise InputError(f"{source}: expected one run, got {len(runs)}: give a folder of runs")
    name = Path(source).resolve().name if is_path and is_system else runs[0].name
    return _Side(name=name, runs=runs)


def _system_name(scores: Scores) -> str:
    systems = set(scores.run_info.get("system", ())) - {""}
    is_one = len(systems) == 1 and (len(scores.runs) > 1 or bool(facets_of(scores)))
    return systems.pop() if is_one else scores.runs[0]


def _averaged(given: list[_Side]) -> list[_Side]:
    """Return the sides with means over the judges that graded both."""
    held = {role: side.scores for role, side in zip(ROLES, given, strict=True)}
    known = {role: own for role, own in held.items() if own is not None}
    means = dict(zip(known, averaged_together(**known), strict=True))
    return [replace(side, scores=means.get(role)) for role, side in zip(ROLES, given, strict=True)]


def _of_files(files: Sequence[Path]) -> Scores:
    parts = []
    for path in files:
        scores = read_scores(path)
        if "judge" in facets_of(scores):
            # If they were averaged file by file, builds would differ by their judges.
            raise InputError(f"{path}: graded by judges: give one table of all builds instead")
        scores = averaged_facets(scores)
        if len(scores.runs) != 1:
            raise InputError(f"{path}: expected the scores of one run, got {len(scores.runs)}")
        parts.append(replace(scores, runs=(base_name(path),), run_info={}))
    return join_scores(*parts).with_run_info(system=["system"] * len(files))


def _only_measure(given: Sequence[_Side]) -> str:
    """Return the default measure of scores: nDCG@10, or the only one."""
    known = [side.scores.measures for side in given if side.scores is not None]
    common = [name for name in known[0] if name in known[-1]]
    if DEFAULT in common or len(common) == 1:
        return DEFAULT if DEFAULT in common else common[0]
    what = f"both hold {counted(len(common), 'measure')}" if common else "they share no measure"
    names = some(common or [*known[0], *known[-1]], 4)
    raise InputError(f"{what} ({names}): name those that must pass with {arg('measures=')}")


def _evaluated(
    given: Sequence[_Side], judged: Qrels, measures: Sequence[str], **settings: Any
) -> list[_Side]:
    """Return the sides with the scores of their runs."""
    # Both may have the same tags, so they are named by their roles.
    named = {
        role: [
            replace(run, name=role if len(side.runs) == 1 else f"{role} {place}")
            for place, run in enumerate(side.runs, start=1)
        ]
        for role, side in zip(ROLES, given, strict=True)
    }
    every = [run for runs in named.values() for run in runs]
    for run in every:
        _check_documents(run, judged)
    scores = evaluate(every, judged, measures, **settings)
    sides = []
    for side, runs in zip(given, named.values(), strict=True):
        own = scores.select(runs=[run.name for run in runs]) if runs else None
        if own is not None and len(runs) > 1:
            own = own.with_run_info(system=[side.name] * len(runs))
        sides.append(side if own is None else replace(side, scores=own))
    return sides


def _check_documents(run: Run, qrels: Qrels) -> None:
    """Raise an error for a run of another collection, whose scores would all be 0."""
    common = set(run.topics) & qrels.position.keys()
    if not common:
        raise InputError(
            f"the {run.name} has no topic of the qrels: do the topic ids match (qrels: "
            f"{qrels.topics[0]!r})?"
        )
    if not len(find_judged_documents(run, qrels).ranks):
        raise InputError(
            f"no document of the {run.name} is judged: do the document ids match those of the "
            "qrels?"
        )


def _names(given: Sequence[_Side], chosen: Mapping[str, str]) -> list[str]:
    """Return the names of the runs, with their roles if they are equal."""
    known = [(side.name, side.file) for side in given]
    shown = zip(chosen_names(chosen, known), known, strict=True)
    names = [name or own for name, (own, _) in shown]
    if names[0] != names[1]:
        return names
    return [f"{name} ({role})" for name, role in zip(names, ROLES, strict=True)]


def _of_side(side: _Side, role: str, measures: Sequence[str], name: str) -> Scores:
    """Return the chosen measures of a run, or of the runs of one system."""
    assert side.scores is not None
    scores = side.scores
    systems = set(scores.run_info.get("system", scores.runs))
    if len(scores.runs) > 1 and len(systems) > 1:
        raise InputError(
            f"the scores of the {role} hold {counted(len(scores.runs), 'run')}: give the "
            "scores of one run, or of the runs of one system"
        )
    # Labels of other tools are kept.
    wanted = [m if m in scores.measures else str(parse_measures(m)[0]) for m in measures]
    chosen = scores.select(measures=wanted)
    return scores_in_order(chosen if len(chosen.runs) > 1 else replace(chosen, runs=(name,)))


def _on_same_topics(baseline: Scores, candidate: Scores, missing: Missing) -> tuple[Scores, Scores]:
    """Return both on the topics of either; missing scores are 0, left out, or an error."""
    if baseline.topics != candidate.topics:
        every = tuple(dict.fromkeys((*baseline.topics, *candidate.topics)))
        baseline, candidate = _spread(baseline, every), _spread(candidate, every)
    if missing == "error":
        _check_complete(baseline, candidate)
    if missing != "zero" or _leaves_out(baseline):
        return baseline, candidate
    return with_missing(baseline, missing), with_missing(candidate, missing)


def _leaves_out(scores: Scores) -> bool:
    """Whether topics without relevant documents were left out by request."""
    return bool(scores.meta.get("settings", {}).get("no_relevant") == "skip")


def _spread(scores: Scores, topics: tuple[str, ...]) -> Scores:
    """Return the scores with further topics, without values."""
    empty = np.full((*scores.values.shape[:2], len(topics)), np.nan)
    more = Scores(
        measures=scores.measures,
        runs=scores.runs,
        topics=topics,
        values=empty,
        directions=scores.directions,
    )
    return scores_in_order(join_scores(scores, more))


def _check_complete(baseline: Scores, candidate: Scores) -> None:
    sides = [np.isnan(side.values) for side in (baseline, candidate)]
    if _leaves_out(baseline):
        none = np.concatenate(sides, axis=1).all(axis=1, keepdims=True)
        sides = [side & ~none for side in sides]
    lacking = {role: side.any(axis=(0, 1)) for role, side in zip(ROLES, sides, strict=True)}
    for role, topics in lacking.items():
        if topics.any():
            topic = baseline.topics[int(np.argmax(topics))]
            raise InputError(
                f"the {role} lacks scores on {counted(int(topics.sum()), 'topic')} ({topic!r}): "
                f"complete it, or choose {arg('missing', 'zero')} or {arg('missing', 'skip')}"
            )


def _side_by_side(baseline: Scores, candidate: Scores, names: Sequence[str]) -> Scores:
    """Return one cube of both, with means over the runs of a system that varies."""
    means = [mean_of_present(np.moveaxis(side.values, 1, -1)) for side in (baseline, candidate)]
    return Scores(
        measures=candidate.measures,
        runs=tuple(names),
        topics=candidate.topics,
        values=np.stack(means, axis=1),
        topic_info={**baseline.topic_info, **candidate.topic_info},
        meta=dict(zip(ROLES, map(with_hashes, (baseline.meta, candidate.meta)), strict=True)),
        directions=candidate.directions,
    )


MEASURE = "win rate"
"""The measure of the two models: the expected share of the battles between them that each wins."""

STEP = 1e-5
"""Difference of strengths over which the slope of the share is taken."""


def win_scores(battles: Battles, baseline: str, candidate: str) -> Scores:
    """Return the shares of wins of two models against each other, by prompt.

    A prompt's value is the expected share plus the first-order effect of the prompt, times the
    number of prompts: the mean is the share, and the spread gives its error.
    """
    for name in (baseline, candidate):
        position(name, battles.models, "model")
    found = estimated(battles)
    apart = [name for name in (baseline, candidate) if name not in found.names]
    if apart:
        raise InputError(f"battles do not connect {baseline} and {candidate}")
    old, new = (found.names.index(name) for name in (baseline, candidate))
    by_unit = found.pseudo.values[new] - found.pseudo.values[old]
    difference = found.fit.strength[new] - found.fit.strength[old]
    share, above = win_probability(np.array([difference, difference + STEP]), found.fit.log_nu)
    values = share + (above - share) / STEP * (by_unit - difference)
    numbers = tuple(str(k + 1) for k in range(len(by_unit)))
    drawn = (own for codes, own in (found.prompts, found.judges) if codes is found.first)
    return Scores(
        measures=(MEASURE,),
        runs=(baseline, candidate),
        topics=next((own for own in drawn if len(own) == len(by_unit)), numbers),
        values=np.stack([1.0 - values, values])[None],
    )
