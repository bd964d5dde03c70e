"""Every long command, killed at random moments and run again: the table of docs/faults.md.

    pip install -e . && python -m bench.faults [--kills 20] [--only simulate] [--interrupts 20]

Each command is run undisturbed, then killed (kill -9) so often at random moments. A trial is one
such kill, or two, and the same command again to its end. What is printed and every file that is
left are compared with the undisturbed run, byte for byte. With --interrupts, Ctrl-C instead: one
line on stderr and exit code 130 are required. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from bench.faults.trials import (
    CASES,
    Tally,
    fresh,
    quiet_environment,
    run_interrupted,
    run_whole,
    try_killing,
    write_inputs,
)

HEADER = (
    "| command | undisturbed | kills | trials | of these found files there | same bytes "
    "| unfinished files left |\n|---|---:|---:|---:|---:|---|---:|"
)

PRESSED = "| command | Ctrl-C | one line, 130 | slowest to end |\n|---|---:|---:|---:|"


def row(tally: Tally) -> str:
    same = "yes" if not tally.different else f"**{len(tally.different)} not**"
    left = f"{tally.unfinished}" + (f", {tally.exposed} of them complete" if tally.exposed else "")
    return (
        f"| `{tally.name}` | {tally.seconds:.1f} s | {tally.kills} | {tally.trials} "
        f"| {tally.taken_up} | {same} | {left} |"
    )


def press_often(case: str, data: Path, work: Path, times: int, chance: random.Random) -> list[str]:
    """Press Ctrl-C at random moments after half a second, when Python has started."""
    usual = run_whole(case, data, fresh(work)).seconds
    answers = [
        run_interrupted(case, data, fresh(work), chance.uniform(0.5, max(0.6, usual)))
        for _ in range(times)
    ]
    wrong = [what for what, _ in answers if what]
    slowest = max(took for _, took in answers)
    print(f"| `{case}` | {times} | {times - len(wrong)} | {slowest:.1f} s |", flush=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--interrupts", type=int, default=0)
    parser.add_argument("--only", default="", help="cases whose names hold this text")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    quiet_environment()
    chance = random.Random(given.seed)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        data, work = Path(name) / "data", Path(name) / "work"
        data.mkdir()
        write_inputs(data)
        print(PRESSED if given.interrupts else HEADER, flush=True)
        for case in (case for case in CASES if given.only in case):
            run_whole(case, data, fresh(work))  # kernels compile once
            if given.interrupts:
                wrong = press_often(case, data, work, given.interrupts, chance)
            else:
                tally = try_killing(case, data, work, kills=given.kills, chance=chance)
                print(row(tally), flush=True)
                wrong = tally.different
            failures += [f"{case}: {what}" for what in wrong]
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
