"""Leaving teams out: steadyrank against a script with pandas and ir_measures.

    pip install -e '.[bench]' && python -m bench.pools

60 runs × 50 topics × 1000 documents of 20 teams, pooled to depth 100, five measures. Both read
the same files and do the same trials, a few of them (`--ks`), in this process, one after the
other; every variance must agree. The ratio is of CPU time, kernels having been compiled. Then
steadyrank does the whole job, 15 k × 10 trials, with rankings and pool bias on top, and the
other's time is scaled up by the runs that these trials score.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import steadyrank as sr
from bench._timing import seconds, taken

warnings.simplefilter("ignore")

N_TEAMS, RUNS_PER_TEAM, N_TOPICS, DEPTH, POOL_DEPTH = 20, 3, 50, 1000, 100
MEASURES = ["AP", "nDCG", "nDCG@10", "P@10", "RR"]


Frames = tuple[pd.DataFrame, dict[str, pd.DataFrame], pd.Series]


def read_frames(folder: Path) -> Frames:
    """Return judgments, runs with their ranks, and the runs' teams."""
    qrels = pd.read_csv(
        folder / "qrels.txt",
        sep=r"\s+",
        header=None,
        names=["query_id", "iteration", "doc_id", "relevance"],
        dtype={"query_id": str},
    )[["query_id", "doc_id", "relevance"]]
    runs = {}
    for path in sorted((folder / "runs").iterdir()):
        columns = ["query_id", "Q0", "doc_id", "rank", "score", "run"]
        frame = pd.read_csv(path, sep=" ", header=None, names=columns, dtype={"query_id": str})
        frame = frame.sort_values(
            ["query_id", "score", "doc_id"], ascending=[True, False, False], kind="stable"
        )
        frame["rank"] = frame.groupby("query_id").cumcount() + 1
        runs[frame["run"].iloc[0]] = frame[["query_id", "doc_id", "score", "rank"]]
    teams = pd.read_csv(folder / "run-info.csv").set_index("run")["team"]
    return qrels, runs, teams


def with_pandas(frames: Frames, trials: list[set[str]]) -> list[dict[str, float]]:
    """Return the variances of each trial, {measure: V_E}."""
    import ir_measures

    qrels, runs, teams = frames
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    tops = pd.concat(
        frame.loc[frame["rank"] <= POOL_DEPTH, ["query_id", "doc_id"]].assign(team=teams[name])
        for name, frame in runs.items()
    ).drop_duplicates()
    found = []
    for left_out in trials:
        gone = tops["team"].isin(left_out)
        keys = ["query_id", "doc_id"]
        theirs = tops.loc[gone, keys].drop_duplicates()
        others = tops.loc[~gone, keys].drop_duplicates()
        marked = theirs.merge(others, how="left", indicator=True)
        unique = marked.loc[marked["_merge"] == "left_only", keys]
        marked = qrels.merge(unique, how="left", indicator=True)
        reduced = marked.loc[marked["_merge"] == "left_only", qrels.columns]
        rows = []
        for name, frame in runs.items():
            if teams[name] not in left_out:
                for metric in ir_measures.iter_calc(measures, reduced, frame):
                    rows.append((str(metric.measure), name, metric.query_id, metric.value))
        scores = pd.DataFrame(rows, columns=["measure", "run", "topic", "value"])
        variances = {}
        for measure, part in scores.groupby("measure"):
            matrix = part.pivot_table(index="run", columns="topic", values="value").fillna(0.0)
            matrix = matrix.loc[:, (matrix != 0).any(axis=0)]
            variances[str(measure)] = float(matrix.var(axis=1, ddof=1).mean())
        found.append(variances)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ks", default="1,5,10,15")
    ks = list(map(int, parser.parse_args().ks.split(",")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        track = sr.simulated_track(
            n_teams=N_TEAMS,
            runs_per_team=RUNS_PER_TEAM,
            n_topics=N_TOPICS,
            depth=DEPTH,
            pool_depth=POOL_DEPTH,
        )
        track.write(folder)

        def ours(**options: Any) -> sr.PoolsResult:
            return sr.pools(
                folder / "runs",
                folder / "qrels.txt",
                run_info=folder / "run-info.csv",
                measures=MEASURES,
                pool_depth=POOL_DEPTH,
                jobs=1,
                **options,
            )

        result = ours(ks=ks, n_trials=1)  # the first call compiles
        spent = seconds(lambda: ours(ks=ks, n_trials=1))
        trials = [
            {result.teams[team] for team in trial.left_out} for trial in result.drawn if trial.k
        ]
        reading, frames = taken(lambda: read_frames(folder))
        scoring, answers = taken(lambda: with_pandas(frames, trials))
        theirs = reading + scoring
        for k, answer in zip(ks, answers, strict=True):
            for measure, variance in answer.items():
                np.testing.assert_allclose(result.cell(measure, k).variances[0], variance, 1e-6)
        print(
            f"{len(track.runs)} runs x {N_TOPICS} topics x {DEPTH} documents, {N_TEAMS} teams, "
            f"{len(track.qrels)} judgments, {len(MEASURES)} measures"
        )
        print(
            f"k = {', '.join(map(str, ks))}, one trial each, files read: steadyrank "
            f"{spent:.2f} s, pandas + ir_measures {theirs:.1f} s: {theirs / spent:.0f} x; "
            "variances agree"
        )
        whole, full = taken(lambda: ours(minimum_difference=0.1, systems=10))
        scored = sum(N_TEAMS - trial.k for trial in full.drawn) * RUNS_PER_TEAM
        scaled = reading + scoring * scored / sum((N_TEAMS - k) * RUNS_PER_TEAM for k in ks)
        print(
            f"{len(full.drawn)} trials: steadyrank {whole:.2f} s, the other about "
            f"{scaled:.0f} s: {scaled / whole:.0f} x"
        )


if __name__ == "__main__":
    main()
