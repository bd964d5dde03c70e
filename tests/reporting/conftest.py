"""Reports on every kind of data, each made once: several files compare what they say."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from report_cases import Made, options
from written import WrittenPage

import steadyrank as sr


@pytest.fixture(scope="session")
def reports(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[str], Made]:
    """Makes the report of a case, without figures, once."""
    made: dict[str, Made] = {}

    def of_the_demo() -> dict[str, object]:
        qrels = request.getfixturevalue("builtin_collection").qrels
        runs = request.getfixturevalue("builtin_runs")
        return {"runs": runs, "qrels": qrels, "measures": ["nDCG@10", "AP"]}

    def report(case: str) -> Made:
        if case not in made:
            out = tmp_path_factory.mktemp("reports") / "report.html"
            given = of_the_demo() if case == "demo" else options(case)
            with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
                warnings.simplefilter("ignore", sr.SteadyrankWarning)
                patch.setattr("steadyrank.reporting.page.figure", lambda *args, **options: [])
                result = sr.report(**given, out=out, n_samples=50, no_relevant="skip")
            made[case] = Made(result, WrittenPage(out))
        return made[case]

    return report
