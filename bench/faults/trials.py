"""Commands that are killed at random moments and repeated: is anything lost?

`python -m bench.faults` tries every long command many times, the tests a few of them twice.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import steadyrank as sr
from steadyrank.compute.files import is_unfinished

TRACK = ("{data}/qrels.txt", "{data}/runs")
INFO = ("--run-info", "{data}/run-info.csv")
COLLECTION = ("{data}/collection", "--depth", "50")
SYSTEMS = ("--stop-lists", "none,lucene,smart", "--lexical", "none,porter,lovins,5grams")
SHARDS = ("--shards", "8", "--csi", "6", "--partitions", "4", "--sample", "5%")
SIZES = ("--topic-sizes", "5,10,20", "--system-sizes", "4,8")
MEASURES = ("-m", "AP", "-m", "P@10", "-m", "nDCG")

CASES: dict[str, tuple[str, ...]] = {
    "simulate": ("simulate", *TRACK, "--samples", "20000"),
    "simulate --store -o --plot": (
        "simulate",
        *TRACK,
        "--samples",
        "20000",
        "--store",
        "store",
        "-o",
        "result.json",
        "--plot",
        "figure.svg",
    ),
    "grid --out": ("grid", *COLLECTION, *SYSTEMS, "--out", "made"),
    "grid --out --scores": (
        "grid",
        *COLLECTION,
        *SYSTEMS,
        "-m",
        "AP",
        "--out",
        "made",
        "--scores",
        "scores.parquet",
    ),
    "shard --out": ("shard", *COLLECTION, *SHARDS, "--out", "made"),
    "shard --out --scores": (
        "shard",
        *COLLECTION,
        *SHARDS,
        "-m",
        "AP",
        "--out",
        "made",
        "--scores",
        "scores.csv",
    ),
    "instances -o --plot": (
        "instances",
        *TRACK,
        "--system-from",
        "^(team[0-9]+)",
        "--b",
        "team1",
        "--draws",
        "500",
        "--samples",
        "2000",
        "-o",
        "result.json",
        "--plot",
        "figure.svg",
    ),
    "pools -o --plot": (
        "pools",
        *TRACK,
        *INFO,
        "--trials",
        "60",
        "-o",
        "result.json",
        "--plot",
        "figure.svg",
    ),
    "agree -o --plot": (
        "agree",
        *TRACK,
        *MEASURES,
        *SIZES,
        "--samples",
        "400",
        "-o",
        "result.json",
        "--plot",
        "figure.svg",
    ),
    "report --out": ("report", *TRACK, *INFO, "-m", "AP", "--samples", "100"),
    "report --out --store": (
        "report",
        *TRACK,
        *INFO,
        "-m",
        "AP",
        "-m",
        "P@10",
        "--samples",
        "1500",
        "--store",
        "store",
    ),
}
"""Return every long command, with and without a folder for finished work."""


def write_inputs(folder: Path) -> None:
    """Write a small track and a small collection of artificial words."""
    track = sr.simulated_track(n_teams=6, runs_per_team=2, n_topics=26, depth=60, pool_depth=20)
    track.write(folder)
    words = [f"{stem}{end}" for stem in _stems(400) for end in ("", "s", "ing")]
    chance = random.Random(0)
    weights = [1.0 / (3 + place) for place in range(len(words))]
    place = folder / "collection"
    place.mkdir()
    documents = [" ".join(chance.choices(words, weights, k=80)) for _ in range(400)]
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(documents)]
    (place / "docs.jsonl").write_text("\n".join(lines) + "\n")
    topics = [f"{t}\t{' '.join(chance.choices(words[:300], k=3))}\n" for t in range(1, 11)]
    (place / "topics.tsv").write_text("".join(topics))
    judged = [(t, d) for t in range(1, 11) for d in sorted(chance.sample(range(400), 40))]
    qrels = [f"{t} 0 d{d} {chance.randrange(2)}\n" for t, d in judged]
    (place / "qrels.txt").write_text("".join(qrels))


def _stems(n: int) -> list[str]:
    consonants, vowels = "bdfgklmnprstv", "aeiou"
    chance = random.Random(1)
    made = ("".join(chance.choice(kind) for kind in (consonants, vowels) * 3) for _ in range(9 * n))
    return list(dict.fromkeys(made))[:n]


@dataclass(frozen=True)
class Outcome:
    """Exit code, output and files of a command."""

    code: int
    printed: bytes
    told: bytes
    files: dict[str, bytes]
    seconds: float

    def same_as(self, other: Outcome) -> bool:
        """Return whether two commands have the same output and files."""
        return (self.code, self.printed, self.files) == (other.code, other.printed, other.files)


@dataclass
class Tally:
    """Results of the trials of one command."""

    name: str
    seconds: float
    """Seconds without a kill."""
    kills: int = 0
    """Number of kills of a running command."""
    trials: int = 0
    taken_up: int = 0
    """Number of trials in which the last command resumed."""
    different: list[str] = field(default_factory=list)
    unfinished: int = 0
    """Number of files that killed commands left."""
    exposed: int = 0
    """Number of these files that others may read: complete, killed while renaming."""


def words_of(case: str, data: Path) -> list[str]:
    """Return the command line of a case."""
    words = [word.format(data=data) for word in CASES[case]]
    return [sys.executable, "-m", "steadyrank", *words, "--quiet", "--format", "json"]


def run_whole(case: str, data: Path, folder: Path) -> Outcome:
    """Run a command to its end in a folder."""
    started = time.monotonic()
    done = subprocess.run(
        words_of(case, data), cwd=folder, capture_output=True, check=False, timeout=600
    )
    seconds = time.monotonic() - started
    return Outcome(done.returncode, done.stdout, done.stderr, contents(folder), seconds)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file in a folder except unfinished ones."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not is_unfinished(path.name)
    }


def unfinished_in(folder: Path) -> list[Path]:
    """Return the files that were being written when a command was killed."""
    return [path for path in folder.rglob(".*") if is_unfinished(path.name)]


def products_in(folder: Path) -> int:
    """Return the existing files among those that a command writes in sequence."""
    return sum(1 for kind in ("*.block", "*.run") for _ in folder.rglob(kind))


def run_killed(case: str, data: Path, folder: Path, *, seconds: float, products: int = 0) -> bool:
    """Start a command and kill it after some seconds, or after this number of products;
    whether that met it alive.
    """
    running = subprocess.Popen(
        words_of(case, data), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + (60.0 if products else seconds)
    while running.poll() is None and time.monotonic() < until:
        if products and products_in(folder) >= products:
            break
        time.sleep(0.003)
    alive = running.poll() is None
    running.send_signal(signal.SIGKILL)
    running.wait()
    return alive


def try_killing(case: str, data: Path, work: Path, *, kills: int, chance: random.Random) -> Tally:
    """Kill a command at random moments, repeat it, and compare with an undisturbed
    run; half the trials are killed twice before they may finish.

    Moments are drawn from the last two thirds of its time, or, every second one where a command
    leaves many files, as the moment at which so many are there.
    """
    whole = run_whole(case, data, fresh(work / "whole"))
    if whole.code != 0:
        raise RuntimeError(f"{case}: {whole.told.decode(errors='replace')}")
    tally, usual, most = Tally(case, whole.seconds), whole.seconds, products_in(work / "whole")
    while tally.kills < kills:
        folder = fresh(work / "killed")
        for _ in range(min(2 - tally.trials % 2, kills - tally.kills)):
            seconds = chance.uniform(0.3, 1.0) * usual
            products = chance.randint(1, most - 1) if most > 2 and tally.kills % 2 == 0 else 0
            if run_killed(case, data, folder, seconds=seconds, products=products):
                tally.kills += 1
            elif not products:
                usual = min(usual, 0.95 * seconds)  # the machine has less to do by now
        _look_around(folder, tally)
        again = run_whole(case, data, folder)
        if not again.same_as(whole):
            tally.different.append(_difference(again, whole))
    return tally


def run_interrupted(case: str, data: Path, folder: Path, seconds: float) -> tuple[str, float]:
    """Press Ctrl-C after some seconds: what is wrong with the answer ("" if nothing), and how long
    it took.
    """
    running = subprocess.Popen(
        words_of(case, data),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(seconds)
    finished, pressed = running.poll() is not None, time.monotonic()
    running.send_signal(signal.SIGINT)
    told = running.communicate(timeout=300)[1].decode(errors="replace")
    lines, took = told.splitlines(), time.monotonic() - pressed
    # Python may end itself by the signal, which a shell also reports as 130.
    ended = running.returncode in (130, -signal.SIGINT)
    answered = ended and len(lines) == 1 and "interrupted; " in lines[0]
    if unfinished_in(folder):
        return "left an unfinished file", took
    done = told == "" and running.returncode in (0, -signal.SIGINT)  # it had all but ended
    if finished or answered or done:
        return "", took
    return f"exit code {running.returncode}: {lines[-1:]}", took


def _look_around(folder: Path, tally: Tally) -> None:
    """Record the files that killed commands have left."""
    tally.trials += 1
    left = unfinished_in(folder)
    tally.unfinished += len(left)
    tally.exposed += sum(bool(stat.S_IMODE(path.stat().st_mode) & 0o077) for path in left)
    tally.taken_up += any(not name.endswith("settings.json") for name in contents(folder))


def fresh(folder: Path) -> Path:
    """Return the emptied folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _difference(found: Outcome, expected: Outcome) -> str:
    if found.code != expected.code:
        return f"exit code {found.code}: {found.told.decode(errors='replace').strip()[-200:]}"
    if found.printed != expected.printed:
        return "another result on stdout"
    names = sorted(found.files.keys() ^ expected.files.keys())
    names += [name for name in found.files if found.files[name] != expected.files.get(name)]
    return f"other files: {', '.join(names[:5])}"


def quiet_environment() -> None:
    """Return an environment with one thread per kernel."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
