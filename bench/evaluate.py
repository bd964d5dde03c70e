"""Reading and evaluating TREC runs: steadyrank against pytrec_eval, ir_measures and ranx.

    pip install -e '.[bench]' && python -m bench.evaluate

Makes runs of 249 topics × 1000 documents (the size of TREC 2004 Robust) with 1,250
judged documents a topic, lets every tool read and score them with the same thirteen
measures, and prints CPU time ratios. All tools run in this process, each peer in turns with
steadyrank alone: whoever evaluates runs one tool, and a third one in the same turns would leave
nothing of ours in the processor's caches. The median over the turns of a series counts, so that a
busy machine slows both alike; of five series, the lowest, the median and the highest ratio are
printed, and at last the ratios with all tools in the same turns. Judgments are read, and kernels
compiled, before the clock starts, for every tool. Two threads are timed by the wall, and in
addition two processes that share nothing, as not every machine lets two run at full speed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import steadyrank as sr
from bench._timing import taken

warnings.simplefilter("ignore")

N_TOPICS, DEPTH, JUDGED = 249, 1000, 1250

SERIES = 5

OURS = [
    "AP",
    "nDCG",
    "nDCG@10",
    "nDCG@20",
    "P@5",
    "P@10",
    "P@20",
    "R@100",
    "R@1000",
    "Rprec",
    "RR",
    "Success@1",
    "Success@5",
]
TREC = {
    "map",
    "ndcg",
    "ndcg_cut.10,20",
    "P.5,10,20",
    "recall.100,1000",
    "Rprec",
    "recip_rank",
    "success.1,5",
}
RANX = [
    "map",
    "ndcg",
    "ndcg@10",
    "ndcg@20",
    "precision@5",
    "precision@10",
    "precision@20",
    "recall@100",
    "recall@1000",
    "r-precision",
    "mrr",
    "hit_rate@1",
    "hit_rate@5",
]


def make_files(folder: Path, n_runs: int) -> tuple[Path, list[Path]]:
    rng = np.random.default_rng(0)
    documents = np.array([f"FT9{a:02d}-{b}" for b, a in enumerate(rng.integers(0, 45, 528_000))])
    pools = {}
    qrels = folder / "qrels.txt"
    with open(qrels, "w") as out:
        for topic in range(301, 301 + N_TOPICS):
            pools[topic] = rng.choice(len(documents), JUDGED, replace=False)
            grades = (rng.random(JUDGED) < 0.055) * rng.integers(1, 3, JUDGED)
            for d, grade in zip(pools[topic], grades, strict=True):
                out.write(f"{topic} 0 {documents[d]} {grade}\n")
    runs = []
    for r in range(n_runs):
        runs.append(folder / f"run{r}.txt")
        with open(runs[-1], "w") as out:
            for topic, pool in pools.items():
                chosen = [rng.choice(pool, 300, False), rng.choice(len(documents), 760, False)]
                ranked = rng.permutation(np.unique(np.concatenate(chosen)))[:DEPTH]
                scores = np.sort(rng.gumbel(10, 3, DEPTH))[::-1]
                for i, (d, score) in enumerate(zip(ranked, scores, strict=True)):
                    out.write(f"{topic} Q0 {documents[d]} {i + 1} {score:.6f} run{r}\n")
    return qrels, runs


def tools(qrels: Path) -> dict[str, Callable[[Path], float]]:
    """Return for each tool a function that reads and scores a run and returns its mean AP."""
    import ir_measures
    import pytrec_eval
    import ranx

    judged = sr.read_qrels(qrels)

    def ours(run: Path) -> float:
        return float(sr.evaluate(run, judged, OURS, jobs=1).mean()[0, 0])

    # Importing ir_measures replaces pytrec_eval's name in its own providers only.
    with open(qrels) as stream:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(stream), TREC)

    def with_pytrec_eval(run: Path) -> float:
        with open(run) as stream:
            result = evaluator.evaluate(pytrec_eval.parse_run(stream))
        return statistics.fmean(row["map"] for row in result.values())

    measures = [ir_measures.parse_measure(name) for name in OURS]
    provider = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(str(qrels))))

    def with_ir_measures(run: Path) -> float:
        rows = list(provider.iter_calc(ir_measures.read_trec_run(str(run))))
        return statistics.fmean(row.value for row in rows if row.measure == measures[0])

    ranx_qrels = ranx.Qrels.from_file(str(qrels), kind="trec")

    def with_ranx(run: Path) -> float:
        read = ranx.Run.from_file(str(run), kind="trec")
        return float(ranx.evaluate(ranx_qrels, read, RANX, make_comparable=True)["map"])

    return {
        "steadyrank": ours,
        "pytrec-eval-terrier": with_pytrec_eval,
        "ir-measures": with_ir_measures,
        "ranx": with_ranx,
    }


def ratio_to(
    peer: Callable[[Path], float], ours: Callable[[Path], float], runs: list[Path], turns: int
) -> float:
    """Return a peer's CPU time relative to ours: medians of one series of turns."""
    times = medians({"peer": peer, "ours": ours}, runs, turns)
    return times["peer"] / times["ours"]


def medians(
    contenders: dict[str, Callable[[Path], float]], runs: list[Path], turns: int
) -> dict[str, float]:
    """Return the median CPU time of each tool, in turns with the others."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(turns):
        for name, tool in contenders.items():
            run = runs[turn % len(runs)]
            times[name].append(taken(lambda tool=tool, run=run: tool(run))[0])
    return {name: statistics.median(values) for name, values in times.items()}


def threads(judged: sr.Qrels, copies: list[Path], turns: int) -> float:
    """Return the speed of two threads relative to one, by the smallest times."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(turns):
        for jobs, walls in times.items():
            walls.append(wall(judged, copies, jobs))
    return min(times[1]) / min(times[2])


def wall(judged: sr.Qrels, copies: list[Path], jobs: int) -> float:
    started = time.perf_counter()
    sr.evaluate(copies, judged, OURS, jobs=jobs, name_from="file")
    return time.perf_counter() - started


def processes(judged: sr.Qrels, copies: list[Path], turns: int) -> float:
    """Return the speed of two unrelated processes relative to one."""
    alone = min(wall(judged, copies, 1) for _ in range(turns))
    context = multiprocessing.get_context("fork")
    start, least = context.Barrier(2), context.Array("d", 2)

    def half(place: int) -> None:
        walls = []
        for _ in range(turns):
            start.wait()
            walls.append(wall(judged, copies[place::2], 1))
        least[place] = min(walls)

    both = [context.Process(target=half, args=(place,)) for place in (0, 1)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    return alone / max(least)


def other_forms(run: Path, turns: int) -> None:
    """Return the time to read and write a run as JSON, relative to reading TREC text."""
    read = sr.read_run(run)
    nested = run.with_suffix(".json")
    nested.write_text(json.dumps({topic: dict(read.ranking(topic)) for topic in read.topics}))
    sr.read_run(nested)
    forms = {
        "text": lambda _: sr.read_run(run),
        "json": lambda _: sr.read_run(nested),
        "writing": lambda _: sr.write_run(read, run.with_suffix(".copy")),
    }
    series = [medians(forms, [run], turns) for _ in range(SERIES)]
    show("read as JSON, TREC text = 1", [times["json"] / times["text"] for times in series])
    show("written, read = 1", [times["writing"] / times["text"] for times in series])
    seconds = statistics.median(times["writing"] for times in series) * 1e6 / len(read)
    print(f"writing a million lines: {seconds:.2f} s")


def copies_of(runs: list[Path], n: int) -> list[Path]:
    copies = [runs[0].parent / f"copy{i}.txt" for i in range(n)]
    for i, copy in enumerate(copies):
        copy.write_bytes(runs[i % len(runs)].read_bytes())
    return copies


def show(what: str, ratios: list[float], note: str = "") -> None:
    lowest, middle, highest = min(ratios), statistics.median(ratios), max(ratios)
    print(f"{what:28} {lowest:8.2f} {middle:8.2f} {highest:8.2f}{note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        qrels, runs = make_files(Path(folder), 4)
        contenders = tools(qrels)
        answers = {name: tool(runs[0]) for name, tool in contenders.items()}
        ours = contenders["steadyrank"]
        for run in runs:
            ours(run)
        print(f"{N_TOPICS} topics x {DEPTH} documents, 13 measures, CPU time per run, read + score")
        print(
            f"{'steadyrank = 1':28} {'lowest':>8} {'median':>8} {'highest':>8} of {SERIES} series"
        )
        for name, peer in contenders.items():
            if name != "steadyrank":
                note = "" if abs(answers[name] - answers["steadyrank"]) < 1e-9 else "  (other AP!)"
                show(name, [ratio_to(peer, ours, runs, turns) for _ in range(SERIES)], note)
        together = medians(contenders, runs, turns)
        base = together["steadyrank"]
        shown = ", ".join(f"{name} {time / base:.1f}" for name, time in together.items())
        print(f"all in the same turns: {shown}; steadyrank {base * 1e3:.1f} ms")
        other_forms(runs[0], turns)
        judged, copies = sr.read_qrels(qrels), copies_of(runs, 32)
        show("two threads, 32 runs", [threads(judged, copies, turns) for _ in range(SERIES)])
        show(
            "two processes, 16 runs each", [processes(judged, copies, turns) for _ in range(SERIES)]
        )


if __name__ == "__main__":
    main()
