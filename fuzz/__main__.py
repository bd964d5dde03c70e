"""Millions of bad inputs in processes with limited memory, or guided by coverage.

    python -m fuzz 1000000             mutants of every reader, and command lines
    python -m fuzz 50000 --only topics
    python -m fuzz --coverage scores-long --seconds 60     (needs atheris)

Every case must end within its time, within 2 GB more than the process needed before, and with an
answer or an error of steadyrank's own. What fails is printed with its number, which `--first`
takes to see it again.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path

ROOM = 2 << 30
BATCH = 12_500
COMPILING = 600
"""Processor seconds that kernels of a reader or study may take to compile."""

SHARES = {"commands": 1 / 50, "environments": 1 / 200}
"""Cases per mutant of a reader; slower cases have fewer."""

warnings.simplefilter("ignore")


def all_targets() -> dict:
    from fuzz import (
        form_targets,
        format_targets,
        line_targets,
        reader_targets,
        stream_targets,
        study_targets,
        table_targets,
        text_targets,
    )

    modules = (
        *(line_targets, reader_targets, form_targets, format_targets, table_targets),
        *(stream_targets, text_targets, study_targets),
    )
    return {name: target for module in modules for name, target in module.TARGETS.items()}


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, if the system knows it."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def limit_memory() -> None:
    """Limit this process to ROOM bytes more than now, if the system can."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@dataclass
class Tally:
    """Results of the cases of a target."""

    cases: int = 0
    refused: int = 0
    slowest: float = 0.0
    peak: int = 0
    failures: int = 0

    def add(self, other: Tally) -> None:
        self.cases += other.cases
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.peak = max(self.peak, other.peak)
        self.failures += other.failures


def mutants_of(name: str, place: Path) -> Callable[[int], bool]:
    """Return a function that says whether a mutant is refused."""
    from fuzz.mutants import mutant, outcome

    target = all_targets()[name]
    for seed in target.seeds:  # loads and compiles what the reader needs
        outcome(target, seed, place / "seed", COMPILING)
    return lambda number: outcome(target, mutant(target, number), place / "mutant") == "refused"


def commands(place: Path) -> Callable[[int], bool]:
    from fuzz.command_cases import case, check_answer, run_case, write_files
    from steadyrank import cli
    from steadyrank.cli import output

    output.PATIENCE = float("inf")  # Progress of a slow machine is no error.
    files = write_files(place)
    names = [name for name in cli.commands() if name not in ("doctor", "demo", "reproduce")]

    def refused(number: int) -> bool:
        out, err = io.StringIO(), io.StringIO()
        words = case(names[number % len(names)], number // len(names), files, place)
        with redirect_stdout(out), redirect_stderr(err):
            code = run_case(words)
        check_answer(code, err.getvalue())
        return code != 0

    for number in range(len(names)):
        refused(number)
    return refused


def environments(place: Path) -> Callable[[int], bool]:
    from fuzz.environment_cases import answer, write_files

    files = write_files(place)
    return lambda number: answer(number, files, place)


def run_batch(name: str, first: int, last: int, log: Path) -> None:
    """Run a share of the cases; `log` has the current number."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder, open(log, "w") as at:
        os.chdir(folder)
        place = Path(folder)
        whole = {"commands": commands, "environments": environments}
        refused = whole[name](place) if name in whole else mutants_of(name, place)
        before = peak_memory()
        limit_memory()
        for number in range(first, last):
            at.seek(0)
            at.write(f"{number:12d}")
            at.flush()
            started = time.monotonic()
            tally.refused += refused(number)
            tally.slowest = max(tally.slowest, time.monotonic() - started)
        tally.cases, tally.peak = last - first, peak_memory() - before
        os.chdir("/")
    print(json.dumps(asdict(tally)))


def batches(total: int, names: list[str], first: int) -> list[tuple[str, int, int]]:
    """Yield the requested number of cases, in turns of all targets."""
    weights = SHARES | {name: target.share for name, target in all_targets().items()}
    weights = {name: weights[name] for name in names}
    whole = sum(weights.values())
    shares = {name: max(1, round(total * weight / whole)) for name, weight in weights.items()}
    shares[names[0]] += max(0, total - sum(shares.values()))
    cut = [
        (turn, name, first + start, first + min(start + size, share))
        for name, share in shares.items()
        for size in [max(1, int(BATCH * min(1.0, 3 * weights[name])))]
        for turn, start in enumerate(range(0, share, size))
    ]
    return [(name, start, stop) for _, name, start, stop in sorted(cut, key=lambda part: part[0])]


def try_batch(name: str, start: int, stop: int) -> Tally:
    """Run a batch in a new process, and another after each case that fails."""
    tally = Tally()
    while start < stop:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "number"
            words = [sys.executable, "-m", "fuzz", "--batch", name, str(start), str(stop), str(log)]
            made = subprocess.run(words, capture_output=True, text=True, errors="replace")
            at = int(log.read_text().strip() or start) if log.exists() else start
        if made.returncode == 0:
            tally.add(Tally(**json.loads(made.stdout.splitlines()[-1])))
            break
        tally.add(Tally(cases=at - start + 1, failures=1))
        print(f"FAILED: {name} number {at}, exit {made.returncode}\n{made.stderr[-1500:]}")
        start = at + 1
    return tally


def run_all(total: int, names: list[str], first: int, minutes: float, jobs: int) -> int:
    """Run batches until the number or the time is reached, and print the table."""
    tallies = {name: Tally() for name in names}
    until = time.monotonic() + 60 * minutes
    done, failures = 0, 0

    def work(part: tuple[str, int, int]) -> tuple[str, Tally]:
        return part[0], try_batch(*part) if time.monotonic() < until else Tally()

    with ThreadPoolExecutor(jobs) as pool:
        for name, tally in pool.map(work, batches(total, names, first)):
            tallies[name].add(tally)
            done, failures = done + tally.cases, failures + tally.failures
            print(f"{done:,} cases, {failures} failures", file=sys.stderr, flush=True)
    print("| what is read | cases | refused | slowest | memory beyond the start | failures |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, tally in tallies.items():
        print(
            f"| {name} | {tally.cases:,} | {tally.refused / max(1, tally.cases):.0%} "
            f"| {tally.slowest:.2g} s | {tally.peak / 2**20:.0f} MB | {tally.failures} |"
        )
    print(f"| all | {done:,} | | | | {failures} |")
    return 1 if failures else 0


GUIDED = """data.read.tables data.read.score_files data.read.json_files
    data.read.run_info data.read.sources data.read.datasets
    data.interop.tables data.write measures.names compute.stores cli.topics cli.inputs"""
GUIDED_IN_LAB = "retrieval.engine.collections retrieval.makers.runs cli.make_runs"
"""Return modules without kernels, which coverage may instrument."""


def guided(name: str, seconds: float) -> None:
    """Run a target for some time, guided by the branches that mutants reach."""
    try:
        import atheris
    except ImportError:
        sys.exit("fuzz: --coverage needs atheris, which has no wheel for every Python")
    # Kernels must not be changed, so what reads runs goes unguided.

    modules = [f"steadyrank.{name}" for name in GUIDED.split()]
    modules += [f"steadyrank_lab.{name}" for name in GUIDED_IN_LAB.split()]
    for module in modules:
        sys.modules.pop(module, None)  # loaded again, with its branches instrumented
    with atheris.instrument_imports(include=[*modules, "csv", "json.decoder", "html"]):
        import steadyrank_lab.cli.make_runs
        import steadyrank_lab.retrieval.makers.runs  # noqa: F401
    from fuzz.mutants import outcome

    target = all_targets()[name]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(target.seeds):
            (corpus / str(number)).write_bytes(seed)

        def one(data: bytes) -> None:
            outcome(target, data, Path(folder) / "mutant")

        limits = (f"-max_total_time={int(seconds)}", "-rss_limit_mb=4096", "-print_final_stats=1")
        atheris.Setup([sys.argv[0], *limits, str(corpus)], one)
        atheris.Fuzz()


def main() -> None:
    if sys.argv[1:2] == ["--batch"]:
        name, first, last, log = sys.argv[2:]
        run_batch(name, int(first), int(last), Path(log))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("number", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--only", metavar="TARGET,…")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--coverage", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    if given.coverage:
        guided(given.coverage, given.seconds)
        return
    names = given.only.split(",") if given.only else [*all_targets(), *SHARES]
    sys.exit(run_all(given.number, names, given.first, given.minutes, given.jobs))


if __name__ == "__main__":
    main()
