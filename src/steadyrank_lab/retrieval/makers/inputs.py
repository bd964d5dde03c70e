"""What every maker of runs works on: a collection, its topics, and judgments to score by.

A collection may be a folder with `docs.jsonl`, `topics.tsv` and `qrels.txt`, so that naming the
folder names all three. Topics are represented by their titles. Judged documents are found in
rankings without writing runs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read.datasets import is_dataset, read_topics
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.sources import PathLike, find_files
from steadyrank.errors import InputError, arg
from steadyrank.measures.evaluate import Missing, NoRelevant, check_treatment, report_no_relevant
from steadyrank.measures.names import Measure, parse_measures
from steadyrank.measures.scoring import Recipe, prepare, score_topics
from steadyrank_lab.retrieval.builtin.collection import builtin_qrels, builtin_topics, is_builtin
from steadyrank_lab.retrieval.engine.word_counts import WordCounts, count_words

_AT_HOME = {
    "documents": ("docs.jsonl",),
    "topics": ("topics.tsv", "topics.txt"),
    "judgments": ("qrels.txt", "qrels.tsv"),
}
_LACKING = {
    "topics": f"({arg('topics=')}): no file topics.tsv",
    "judgments": f"({arg('qrels=')}): no qrels.txt",
}


def _is_named(corpus: Any) -> bool:
    """Return whether a collection's name includes its topics and judgments."""
    return is_dataset(corpus) or is_builtin(corpus)


def _at_home(corpus: Any, what: str) -> Path | None:
    """Return a collection's file where the collection is a folder with usual names."""
    if not isinstance(corpus, (str, os.PathLike)) or _is_named(corpus):
        return None
    folder = Path(corpus)
    names = [name + suffix for name in _AT_HOME[what] for suffix in ("", ".gz")]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _named_or_at_home(source: Any, corpus: Any, what: str) -> Any:
    """Return what is named, or what comes with the collection."""
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
    """Return the word counts of a collection; `docs.jsonl` where a folder has one."""
    if isinstance(corpus, WordCounts):
        return corpus
    return count_words(_at_home(corpus, "documents") or corpus, cache=cache, progress=progress)


def collection_topics(corpus: Any, topics: PathLike | Mapping[str, str] | None) -> dict[str, str]:
    """Return the topics named, or those that come with the collection."""
    source = _named_or_at_home(topics, corpus, "topics")
    if isinstance(source, Mapping):
        texts = {str(name): text for name, text in source.items()}
    elif is_builtin(source):
        texts = builtin_topics(["title"])
    else:
        texts = read_topics(source)
    if not texts:
        raise InputError("there are no topics")
    return texts


def load_judgments(corpus: Any, qrels: Any) -> Qrels:
    """Return the judgments named, or those that come with the collection."""
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
        """Return what the scores depend on in addition to the rankings, for a store."""
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
    check_treatment(missing, no_relevant)
    parsed = tuple(parse_measures(measures))
    names = set(topics)
    if not names & qrels.position.keys():
        raise InputError(
            f"none of the topics is in the qrels: do their ids match (topics: {min(names)!r}, "
            f"qrels: {qrels.topics[0]!r})?"
        )
    recipes = [prepare(measure, qrels.max_grade) for measure in parsed]
    score = "0" if no_relevant == "zero" else "NaN"
    report_no_relevant(qrels, recipes, score, stacklevel=6)
    return Evaluation(
        qrels=qrels, measures=parsed, recipes=recipes, missing=missing, no_relevant=no_relevant
    )


def digest_of_counts(counts: WordCounts, topics: Mapping[str, str]) -> str:
    """Return a checksum of a collection's counts and of topics."""
    digest = hashlib.blake2b(digest_size=16)
    for names in (counts.documents, counts.words, (*topics.keys(), *topics.values())):
        digest.update("\0".join(names).encode("utf-8", "surrogatepass") + b"\1")
    for column in (counts.ends, counts.text):
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()
