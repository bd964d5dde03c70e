"""Mixed models: steadyrank against R's lme4 and lmerTest, and against statsmodels.

    pip install -e '.[test]' && python -m bench.mixed
    apt-get install r-base-core r-cran-lme4 r-cran-lmertest      # the peer in R, optional

Two systems × 100 instances × 150 topics, 30,000 rows: REML with Satterthwaite's degrees of freedom,
complete and with 5% of the rows missing. R reads its data and loads its packages outside the
measured time. statsmodels keeps dense matrices of all rows, so it gets a layout that it can hold,
and so does steadyrank then. Seconds on the wall, one BLAS thread; the ratio is theirs over ours.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from bench._timing import seconds, taken
from steadyrank.stats.mixed.fit import MixedFit, MixedModel, component_intervals, fit
from steadyrank.stats.mixed.posterior import posterior

TERMS = ("topic", "system_topic", "instance")
R_SCRIPT = """
suppressMessages({library(lme4); library(lmerTest)})
d <- read.csv(commandArgs(TRUE)[1])
for (name in c("topic", "system_topic", "instance")) d[[name]] <- factor(d[[name]])
seconds <- system.time({
  f <- lmerTest::lmer(y ~ first + (1|topic) + (1|system_topic) + (1|instance), d)
  table <- coef(summary(f))
})["elapsed"]
cat(as.character(packageVersion("lme4")), as.character(packageVersion("lmerTest")), seconds,
    format(c(table[2, c(1, 2, 3, 5)], logLik(f)), digits = 15), "\\n")
"""


def made(instances: int, topics: int, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(0)
    shapes = [(1, 1, topics), (2, 1, topics), (2, instances, 1), (2, instances, topics)]
    spreads = (0.2, 0.05, 0.02, 0.06)
    values = np.asarray(
        sum(s * rng.normal(size=shape) for s, shape in zip(spreads, shapes, strict=True))
    )
    values[rng.random(values.shape) < missing] = np.nan
    return values


def rows_of(values: np.ndarray) -> dict[str, np.ndarray]:
    present = ~np.isnan(values)
    system, instance, topic = (index[present] for index in np.indices(values.shape))
    return {
        "y": values[present],
        "first": system == 0,
        "topic": topic,
        "system_topic": system * values.shape[2] + topic,
        "instance": system * values.shape[1] + instance,
    }


def model_of_rows(rows: dict[str, np.ndarray]) -> MixedModel:
    return MixedModel(rows["y"], random={name: rows[name] for name in TERMS}, fixed=rows["first"])


def wall(work: Callable[[], object], repeat: int = 5) -> float:
    return seconds(work, repeat, clock=time.perf_counter)


def line(what: str, ours: float, theirs: float) -> None:
    print(f"    {what:52} {theirs:8.3g} s  {theirs / ours:10,.0f} x")


def in_r(rows: dict[str, np.ndarray]) -> tuple[str, float, list[float]] | None:
    """Return versions, seconds, and the difference's estimate, error, df, p and likelihood."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "rows.csv"), Path(folder, "fit.R")
        with open(data, "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(rows)
            table.writerows(np.stack([column.astype(float) for column in rows.values()], axis=1))
        script.write_text(R_SCRIPT, "utf-8")
        answer = subprocess.run(
            ["Rscript", str(script), str(data)], capture_output=True, text=True, check=False
        )
    if answer.returncode:
        return None
    lme4, lmertest, *numbers = answer.stdout.split()
    taken, *figures = (float(number) for number in numbers)
    return f"lme4 {lme4}, lmerTest {lmertest}", taken, figures


def against_r(values: np.ndarray, what: str) -> None:
    rows = rows_of(values)
    found: MixedFit = fit(model_of_rows(rows))
    ours = wall(lambda: fit(model_of_rows(rows)))
    print(f"REML and Satterthwaite, {what}: {ours:.3g} s")
    peer = in_r(rows)
    if peer is None:
        print("    R with lme4 and lmerTest is missing")
        return
    versions, taken, figures = peer
    line(versions, ours, taken)
    figures_of_ours = [found.estimates[1], found.standard_errors[1], found.df[1], found.pvalue[1]]
    apart = max(abs(a / b - 1.0) for a, b in zip(figures_of_ours, figures, strict=False))
    print(
        f"    estimate, error, df and p agree to {apart:.1e}; log-likelihood is larger by "
        f"{found.log_likelihood - figures[4]:.1e}"
    )


def against_statsmodels(instances: int, topics: int) -> None:
    try:
        from statsmodels.regression.mixed_linear_model import MixedLM
    except ImportError:
        print("statsmodels is missing")
        return
    import pandas as pd

    warnings.simplefilter("ignore")  # it turns its own warnings on when imported

    rows = rows_of(made(instances, topics))
    frame = pd.DataFrame(rows).astype(float)
    terms = {name: f"0 + C({name})" for name in TERMS}
    started = time.perf_counter()
    MixedLM.from_formula(
        "y ~ first", groups=np.ones(len(frame)), vc_formula=terms, data=frame
    ).fit()
    theirs = time.perf_counter() - started
    model = model_of_rows(rows)
    ours = wall(lambda: fit(model), 20)
    print(f"REML, 2 x {instances} x {topics}: {ours:.3g} s")
    line("statsmodels MixedLM, variance components", ours, theirs)


def sampling(values: np.ndarray, what: str) -> None:
    model = model_of_rows(rows_of(values))
    spent, found = taken(lambda: posterior(model), time.perf_counter)
    print(
        f"posterior, {what}: {found.n_draws} draws in {spent:.3g} s, smallest bulk ESS"
        f" {min(found.bulk_ess.values()):.0f}, largest R-hat {max(found.rhat.values()):.4f},"
        f" acceptance {found.acceptance:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--topics", type=int, default=150)
    options = parser.parse_args()
    size = (options.instances, options.topics)
    complete, holed = made(*size), made(*size, missing=0.05)
    with threadpool_limits(1):
        against_r(complete, "complete")
        against_r(holed, "5% missing")
        against_statsmodels(10, 30)
        against_statsmodels(20, 60)
        posterior(model_of_rows(rows_of(made(3, 8))), n_draws=100, target_ess=10)  # compiles
        sampling(complete, "complete")
        sampling(holed, "5% missing")
        profile = wall(lambda: component_intervals(model_of_rows(rows_of(complete))), 3)
        print(f"profile intervals of all components, complete: {profile:.3g} s")


if __name__ == "__main__":
    main()
