"""ir_measures with steadyrank's kernels: `import steadyrank.ir_measures` is all that is needed.

The import registers a provider ahead of pytrec_eval in ir_measures' default pipeline, for the
measures and parameters on which both agree to the last digit. Other measures (such as `RR@k`,
`Judged`, `Compat`, gains, diversity) are computed by ir_measures' providers as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from steadyrank.data.qrels import qrels_from_dict
from steadyrank.data.run import run_from_dict
from steadyrank.errors import MachineError
from steadyrank.measures.evaluate import rounded_to_float32
from steadyrank.measures.names import parse_measure
from steadyrank.measures.scoring import find_judged_documents, prepare, score_topics

try:
    import ir_measures
    from ir_measures import providers
except ImportError as error:
    raise MachineError(
        "steadyrank.ir_measures requires the package ir_measures: pip install ir-measures"
    ) from error


class SteadyrankProvider(providers.Provider):  # type: ignore[misc]
    """The measures of pytrec_eval, computed by steadyrank's kernels.

    Ties are broken as in pytrec_eval: by descending document id, after rounding scores to 32 bits.
    """

    NAME = "steadyrank"

    def supports(self, measure: Any) -> bool:
        """Return whether both programs give the same digits for a measure."""
        if not ir_measures.pytrec_eval.supports(measure) or measure.NAME == "NumQ":
            return False
        # pytrec_eval rounds a level of recall to two decimals; gains may leave grades as they are.
        if measure.NAME == "IPrec":
            return bool(measure["recall"] == round(measure["recall"], 2))
        return "gains" not in measure.params

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        return _Evaluator(measures, ir_measures.util.QrelsConverter(qrels).as_dict_of_dict())


class _Evaluator(providers.Evaluator):  # type: ignore[misc]
    """Judgments and measures, prepared for scoring runs."""

    def __init__(self, measures: Iterable[Any], judgments: dict[str, dict[str, int]]) -> None:
        super().__init__(list(measures), set(judgments))
        self._qrels = qrels_from_dict(judgments)
        self._recipes = [
            prepare(parse_measure(measure), self._qrels.max_grade) for measure in self.measures
        ]

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        rankings = ir_measures.util.RunConverter(run).as_dict_of_dict()
        if not rankings or not self._qrels.topics:
            return
        ours = rounded_to_float32(run_from_dict(rankings, name="run"))
        relevant_only = not any(recipe.needs_all for recipe in self._recipes)
        judged = find_judged_documents(ours, self._qrels, relevant_only=relevant_only)
        scores = score_topics(judged, self._qrels, self._recipes)
        for t in np.flatnonzero(judged.lengths >= 0):
            for measure, score in zip(self.measures, scores[:, t].tolist(), strict=True):
                yield ir_measures.Metric(self._qrels.topics[t], measure, score)


def _register() -> SteadyrankProvider:
    """Put the provider into the default pipeline, once, before pytrec_eval."""
    if SteadyrankProvider.NAME in providers.registry:
        return providers.registry[SteadyrankProvider.NAME]  # type: ignore[no-any-return]
    provider: SteadyrankProvider = providers.register(SteadyrankProvider())
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline.insert(pipeline.index(ir_measures.pytrec_eval), provider)
    return provider


steadyrank = _register()
"""The provider, like `ir_measures.pytrec_eval`."""


def __getattr__(name: str) -> Any:
    """Return all other names from ir_measures: `from steadyrank.ir_measures import nDCG, calc`."""
    return getattr(ir_measures, name)
