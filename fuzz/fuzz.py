"""Bad input by the million, in processes of limited memory; or guided by coverage.

    python fuzz/fuzz.py 1000000             mutants of every reader, and command lines
    python fuzz/fuzz.py 50000 --only topics
    python fuzz/fuzz.py --coverage scores-long --seconds 60     (needs atheris)

Every case must end within its time, within 2 GB more than the process needed before, and with an
answer or an error of steadyrank's own. What fails is printed with its number, which `--first`
takes to see it again.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOM = 2 << 30
BATCH = 5_000
CASES = 1 / 50
"""Command lines per mutant: they take fifty times as long."""

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "properties"))
warnings.simplefilter("ignore")


def all_targets() -> dict:
    import reader_targets
    import test_fuzz_reading as reading
    import text_targets
    from mutants import Target

    lines = {
        name: Target(name=name, seeds=tuple(reading.SEEDS), morsels=tuple(reading.MORSELS),
                     check=check, separators=b"\n ")
        for name, check in (("runs", reading.check_run), ("qrels", reading.check_qrels))
    }  # fmt: skip
    return {**lines, **reader_targets.TARGETS, **text_targets.TARGETS}


def limit_memory() -> None:
    """At most ROOM more than now, where the system can say how much that is."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def mutants_of(name: str, first: int, last: int, place: Path) -> Iterator[int]:
    from mutants import mutant, outcome

    target = all_targets()[name]
    for seed in target.seeds:
        outcome(target, seed, place / "seed")  # loads and compiles what the reader needs
    limit_memory()
    for number in range(first, last):
        yield number
        outcome(target, mutant(target, number), place / "mutant")


def commands(first: int, last: int, place: Path) -> Iterator[int]:
    from command_cases import case, run_case, told, write_files

    from steadyrank import cli

    files = write_files(place)
    names = [name for name in cli.COMMANDS if name not in ("doctor", "demo", "reproduce")]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for name in names:
            run_case(case(name, 0, files, place))
    limit_memory()
    for number in range(first, last):
        yield number
        out, err = io.StringIO(), io.StringIO()
        words = case(names[number % len(names)], number // len(names), files, place)
        with redirect_stdout(out), redirect_stderr(err):
            code = run_case(words)
        told(code, err.getvalue())


def run_batch(name: str, first: int, last: int, log: Path) -> None:
    """One process's share; `log` holds the number it is at, for whoever finds it dead."""
    with tempfile.TemporaryDirectory() as folder, open(log, "w") as at:
        os.chdir(folder)
        place = Path(folder)
        numbers = (
            commands(first, last, place) if name == "commands"
            else mutants_of(name, first, last, place)
        )  # fmt: skip
        for number in numbers:
            at.seek(0)
            at.write(f"{number:12d}")
            at.flush()


def run_all(total: int, names: list[str], first: int, minutes: float) -> int:
    """Batches of all targets in turn, until the number or the time is reached."""
    share = {name: total / len(names) * (CASES if name == "commands" else 1.0) for name in names}
    done, failures, until = 0, 0, time.monotonic() + 60 * minutes
    start = dict.fromkeys(names, first)
    while time.monotonic() < until and any(start[n] < first + share[n] for n in names):
        for name in names:
            batch = BATCH if name != "commands" else BATCH // 20
            stop = min(start[name] + batch, first + max(1, round(share[name])))
            if start[name] >= stop or time.monotonic() > until:
                continue
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "number"
                words = [
                    sys.executable,
                    __file__,
                    "--batch",
                    name,
                    str(start[name]),
                    str(stop),
                    str(log),
                ]
                made = subprocess.run(words, capture_output=True, text=True, errors="replace")
                reached = (
                    int(log.read_text().strip() or start[name]) if log.exists() else start[name]
                )
            if made.returncode:
                failures += 1
                done += reached - start[name] + 1
                start[name] = reached + 1
                print(f"FAILED: {name} number {reached}, exit {made.returncode}")
                print(made.stderr[-1500:])
            else:
                done += stop - start[name]
                start[name] = stop
        print(f"{done} cases, {failures} failures", flush=True)
    return 1 if failures else 0


GUIDED = [
    f"steadyrank.{name}"
    for name in (
        "data.csv_cells", "data.score_files", "data.run_info", "data.frames", "data.datasets",
        "data.sources", "measures.names", "retrieval.collections", "retrieval.topics",
        "compute.stores", "cli.topics", "cli.inputs", "cli.making",
    )
]  # fmt: skip
"""Modules without kernels, which must not be changed before Numba sees them."""


def guided(name: str, seconds: float) -> None:
    """One target for as long as asked, led by which branches a mutant reaches."""
    try:
        import atheris
    except ImportError:
        sys.exit("fuzz.py: --coverage needs atheris, which has no wheel for every Python")
    with atheris.instrument_imports(include=[*GUIDED, "csv", "json.decoder", "html"]):
        import steadyrank.cli.inputs
        import steadyrank.cli.making
        import steadyrank.cli.topics
        import steadyrank.data.score_files
        import steadyrank.retrieval.topics  # noqa: F401
    from mutants import outcome

    target = all_targets()[name]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(target.seeds):
            (corpus / str(number)).write_bytes(seed)

        def one(data: bytes) -> None:
            outcome(target, data, Path(folder) / "mutant")

        atheris.Setup([sys.argv[0], f"-max_total_time={int(seconds)}", "-rss_limit_mb=4096",
                       "-print_final_stats=1", str(corpus)], one)  # fmt: skip
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
    parser.add_argument("--only", metavar="TARGET")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--coverage", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    if given.coverage:
        guided(given.coverage, given.seconds)
        return
    names = [given.only] if given.only else [*all_targets(), "commands"]
    sys.exit(run_all(given.number, names, given.first, given.minutes))


if __name__ == "__main__":
    main()
