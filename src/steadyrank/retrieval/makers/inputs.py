"""What every maker of runs works on: a collection, its topics, and judgments to score by.

A collection may be a folder with `docs.jsonl`, `topics.tsv` and `qrels.txt`, so that naming the
folder names all three. Judged documents are found in rankings without writing runs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read.datasets import is_dataset
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.sources import PathLike, find_files
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.measures.names import Measure, parse_measures
from steadyrank.measures.scoring import ANY_GRADE, Recipe, prepare, score_topics
from steadyrank.retrieval.builtin.collection import builtin_qrels, is_builtin
from steadyrank.retrieval.engine.topics import read_topics
from steadyrank.retrieval.engine.word_counts import WordCounts, count_words
from steadyrank.words import by_number, counted

Missing = Literal["zero", "skip", "error"]
NoRelevant = Literal["zero", "skip"]
_AT_HOME = {
    "documents": ("docs.jsonl",),
    "topics": ("topics.tsv", "topics.txt"),
    "judgments": ("qrels.txt", "qrels.tsv"),
}
_LACKING = {"topics": "(topics=): no file topics.tsv", "judgments": "(qrels=): no qrels.txt"}


def _is_named(corpus: Any) -> bool:
    """Whether a collection's name stands for its topics and judgments, too."""
    return is_dataset(corpus) or is_builtin(corpus)


def _at_home(corpus: Any, what: str) -> Path | None:
    """A collection's file where the collection is a folder with usual names."""
    if not isinstance(corpus, (str, os.PathLike)) or _is_named(corpus):
        return None
    folder = Path(corpus)
    names = [name + suffix for name in _AT_HOME[what] for suffix in ("", ".gz")]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _named_or_at_home(source: Any, corpus: Any, what: str) -> Any:
    """What is named, or what comes with the collection."""
    if source is None:
        source = corpus if _is_named(corpus) else _at_home(corpus, what)
    if source is not None:
        return source
    if isinstance(corpus, (str, os.PathLike)) and not Path(corpus).is_dir():
        find_files(corpus)  # where nothing is, nothing comes with it: the name is what is wrong
    raise InputError(f"name the {what} {_LACKING[what]} is in the collection")


def load_counts(
    corpus: Any, *, cache: PathLike | None = None, progress: Progress | None = None
) -> WordCounts:
    """The word counts of a collection; `docs.jsonl` where a folder has one."""
    if isinstance(corpus, WordCounts):
        return corpus
    return count_words(_at_home(corpus, "documents") or corpus, cache=cache, progress=progress)


def load_topics(corpus: Any, topics: PathLike | Mapping[str, str] | None) -> dict[str, str]:
    """The topics named, or those that come with the collection."""
    texts = read_topics(_named_or_at_home(topics, corpus, "topics"))
    if not texts:
        raise InputError("there are no topics")
    return texts


def load_judgments(corpus: Any, qrels: Any) -> Qrels:
    """The judgments named, or those that come with the collection."""
    source = _named_or_at_home(qrels, corpus, "judgments")
    if is_builtin(source):
        return builtin_qrels()
    judged = judgments_of(source)
    if len(judged) == 0:
        raise InputError("the qrels hold no judgments")
    return judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """Judgments and measures, made ready to score rankings without writing them."""

    qrels: Qrels
    measures: tuple[Measure, ...]
    recipes: list[Recipe]
    missing: Missing
    no_relevant: NoRelevant

    @property
    def relevant_only(self) -> bool:
        """Whether no measure asks for documents that are judged but not relevant."""
        return not any(recipe.needs_all for recipe in self.recipes)

    def values(self, judged: JudgedRun) -> np.ndarray:
        """Scores [measure, topic]."""
        return score_topics(
            judged,
            self.qrels,
            self.recipes,
            missing=0.0 if self.missing == "zero" else np.nan,
            no_relevant=0.0 if self.no_relevant == "zero" else np.nan,
        )

    def settings(self) -> dict[str, Any]:
        """What the scores depend on beside the rankings, for a store."""
        digest = hashlib.blake2b(digest_size=16)
        documents = self.qrels.documents
        for column in (self.qrels.blocks, documents.hashes, self.qrels.grades):
            digest.update(np.ascontiguousarray(column).tobytes())
        digest.update("\0".join(self.qrels.topics).encode("utf-8", "surrogateescape"))
        return {
            "measures": [str(measure) for measure in self.measures],
            "qrels": digest.hexdigest(),
            "missing": self.missing,
            "no_relevant": self.no_relevant,
        }


def make_evaluation(
    qrels: Qrels,
    measures: str | Measure | Iterable[str | Measure],
    topics: Iterable[str],
    *,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
) -> Evaluation:
    """Check that judgments and measures fit the topics, and make them ready."""
    check_choice("way to treat missing topics", missing, get_args(Missing))
    without = "way to treat topics without relevant documents"
    check_choice(without, no_relevant, get_args(NoRelevant))
    parsed = tuple(parse_measures(measures))
    names = set(topics)
    if not names & qrels.position.keys():
        raise InputError(
            f"none of the topics is in the qrels: do their ids match (topics: {min(names)!r}, "
            f"qrels: {qrels.topics[0]!r})?"
        )
    recipes = [prepare(measure, qrels.max_grade) for measure in parsed]
    _warn_of_topics_without_relevant(qrels, recipes, no_relevant)
    return Evaluation(
        qrels=qrels, measures=parsed, recipes=recipes, missing=missing, no_relevant=no_relevant
    )


def _warn_of_topics_without_relevant(qrels: Qrels, recipes: list[Recipe], no_relevant: str) -> None:
    for level in sorted({recipe.level for recipe in recipes} - {ANY_GRADE}):
        lacking = int((qrels.best_grades < level).sum())
        if lacking:
            of_grade = "" if level == 1 else f" of grade {level}"
            done = "0" if no_relevant == "zero" else "NaN"
            warn(
                f"{lacking} of {counted(len(qrels.topics), 'topic')} "
                f"{by_number(lacking, 'has', 'have')} no relevant document{of_grade}: "
                f"{by_number(lacking, 'it scores', 'they score')} {done}",
                stacklevel=6,
            )


def digest_of(counts: WordCounts, topics: Mapping[str, str]) -> str:
    """A checksum of a collection's counts and of topics."""
    digest = hashlib.blake2b(digest_size=16)
    for names in (counts.documents, counts.words, (*topics.keys(), *topics.values())):
        digest.update("\0".join(names).encode("utf-8", "surrogatepass") + b"\1")
    for column in (counts.starts, counts.word, counts.count):
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()
