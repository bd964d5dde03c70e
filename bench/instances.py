"""Algorithm 2 and the two-way bootstrap: steadyrank against loops in NumPy.

    pip install -e . && python -m bench.instances
    python -m bench.instances --levels 2000      # the tables of docs/levels.md instead

100 instances × 150 topics; 10,000 resamples of each instance's topics, drawn independently for
each instance, and 10,000 resamples of topics and instances. The loops in NumPy are timed on a share
of their work and scaled up; the table says so. Everything runs in this process. The first ratio is
of CPU time on one core (BLAS too), the second of seconds on the wall with all cores for steadyrank;
the loops use one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank_lab.papers.jayasinghe2015.experiments import TESTS, error_rates
from tests.instance_power import exact_rates, power

N_INSTANCES, N_TOPICS, B = 100, 150, 10_000
ROWS = [
    (3, 50, 0.0),
    (3, 50, 0.02),
    (5, 10, 0.0),
    (5, 10, 0.02),
    (5, 50, 0.01),
    (5, 50, 0.02),
    (10, 50, 0.02),
    (10, 150, 0.01),
    (10, 150, 0.02),
    (30, 50, 0.02),
    (100, 50, 0.02),
]
NESTED_ROWS = [
    (3, 50, 0.02),
    (5, 10, 0.0),
    (5, 50, 0.02),
    (10, 50, 0.02),
    (10, 150, 0.02),
    (30, 50, 0.02),
]


def seconds(work: Callable[[], object], repeat: int = 5) -> tuple[float, float]:
    """Return median CPU and wall seconds."""
    times = []
    for _ in range(repeat):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = np.median(times, axis=0)
    return float(cpu), float(wall)


def report(
    what: str, ours: tuple[float, float], peers: dict[str, tuple[tuple[float, float], float]]
) -> None:
    print(f"{what}: steadyrank {ours[0]:.3g} s of CPU, {ours[1]:.3g} s with all cores")
    for name, ((cpu, wall), scale) in peers.items():
        cpu, wall = cpu * scale, wall * scale
        print(f"    {name:62} {cpu:8.3g} s  {cpu / ours[0]:6.0f} x  {wall / ours[1]:6.0f} x")


def made() -> np.ndarray:
    rng = np.random.default_rng(0)
    topics, instances = rng.normal(0.01, 0.08, N_TOPICS), rng.normal(0, 0.02, (N_INSTANCES, 1))
    return topics + instances + rng.normal(0, 0.06, (N_INSTANCES, N_TOPICS))


def student(z: np.ndarray) -> float:
    return float(z.mean() / (z.std(ddof=1) / np.sqrt(z.size)))


def one_by_one(d: np.ndarray, n_samples: int) -> float:
    """Return the published algorithm's result, one resample after the other."""
    rng, t, count = np.random.default_rng(0), abs(student(d.mean(axis=0))), 0
    for z in d:
        centred = z - z.mean()
        for _ in range(n_samples):
            count += abs(student(centred[rng.integers(0, z.size, z.size)])) >= t
    return count / (len(d) * n_samples)


def by_weights(d: np.ndarray, n_samples: int) -> float:
    """Return the result of a loop over instances with multinomial weights."""
    rng, t, count, n = np.random.default_rng(0), abs(student(d.mean(axis=0))), 0, d.shape[1]
    for z in d:
        centred = z - z.mean()
        weights = rng.multinomial(n, np.full(n, 1 / n), size=n_samples)
        mean, squares = weights @ centred / n, weights @ centred**2
        count += (np.abs(mean) / np.sqrt((squares - n * mean**2) / (n * (n - 1))) >= t).sum()
    return count / (len(d) * n_samples)


def by_indices(d: np.ndarray, n_samples: int) -> float:
    """Return the result of a loop over instances with indexed resamples."""
    rng, t, count, n = np.random.default_rng(0), abs(student(d.mean(axis=0))), 0, d.shape[1]
    for z in d:
        drawn = (z - z.mean())[rng.integers(0, n, (n_samples, n))]
        stars = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
        count += (np.abs(stars) >= t).sum()
    return count / (len(d) * n_samples)


def two_ways(a: np.ndarray, n_samples: int) -> float:
    """Return resamples of topics and instances by indices, in a loop."""
    rng, below = np.random.default_rng(0), 0
    for _ in range(n_samples):
        rows, columns = rng.integers(0, len(a), len(a)), rng.integers(0, a.shape[1], a.shape[1])
        below += a[np.ix_(rows, columns)].mean() <= 0
    return below / n_samples


def compare_speed() -> None:
    d = made()
    algorithm_two(d, n_samples=100)
    ours = seconds(lambda: algorithm_two(d, n_samples=B, jobs=1))[0]
    wall = seconds(lambda: algorithm_two(d, n_samples=B))[1]
    with threadpool_limits(1):
        peers = {
            "NumPy, one resample at a time (from 1 in 500)": (
                seconds(lambda: one_by_one(d[:20], B // 100), 3),
                500.0,
            ),
            "NumPy, independent multinomial weights (from 1 in 50)": (
                seconds(lambda: by_weights(d[:20], B // 10), 3),
                50.0,
            ),
            "NumPy, indices of one instance at a time (from 1 in 50)": (
                seconds(lambda: by_indices(d[:20], B // 10), 3),
                50.0,
            ),
        }
    report(
        f"Algorithm 2, {N_INSTANCES} × {B:,} resamples of {N_TOPICS} topics", (ours, wall), peers
    )
    p = algorithm_two(d, n_samples=B).pvalue
    print(f"    p = {p:.4f}; by weights, of the same instances, {by_weights(d, 100):.4f}")
    zero = np.zeros(N_TOPICS)
    ours = seconds(lambda: two_way_bootstrap(d, zero, n_samples=B, jobs=1))[0]
    wall = seconds(lambda: two_way_bootstrap(d, zero, n_samples=B))[1]
    loop = {
        "NumPy, one resample at a time (from 1 in 20)": (
            seconds(lambda: two_ways(d, B // 20), 3),
            20.0,
        )
    }
    report(f"two-way bootstrap, {B:,} resamples", (ours, wall), loop)


def variances(instance: float, design: str) -> dict[str, float]:
    """Return variances with s_u = .08 for the difference; two systems have .08 / sqrt 2 each."""
    topic = 0.08**2 / (2 if design == "nested" else 1)
    return {"instance": instance**2, "system_topic": topic, "residual": 0.06**2}


def print_levels(n_replications: int, designs: list[str]) -> None:
    """Print the tables of the documentation: level, and power at a difference of .03."""
    for design in designs:
        rows = ROWS if design == "crossed" else NESTED_ROWS
        tests = TESTS[design]
        print(f"\n{design}\n\n| M | N | s_a | {' | '.join(tests)} |")
        print("|---" * (3 + len(tests)) + "|")
        for difference in (0.0, 0.03):
            for skewed in (False, True) if difference == 0.0 else (False,):
                print(f"difference {difference:g}, {'skewed' if skewed else 'normal'}")
                for m, n, instance in rows:
                    found = error_rates(
                        m,
                        n,
                        components=variances(instance, design),
                        difference=difference,
                        design=design,
                        skewed=skewed,
                        n_replications=n_replications,
                    )
                    known: dict[str, float] = {}
                    if not skewed:
                        options = {"design": design, "difference": difference}
                        known = exact_rates(m, n, variances(instance, design), **options)
                    cells = [
                        f"{rate:.3f}" + (f" ({known[name]:.3f})" if name in known else "")
                        for name, rate in found["rate"].items()
                    ]
                    print(f"| {m} | {n} | {instance:g} | {' | '.join(cells)} |", flush=True)


def print_worst() -> None:
    """Print the largest exact level of the default test, by numbers of instances."""
    print("\n| M | crossed | nested |\n|---|---|---|")
    for m in (2, 3, 4, 5, 7, 10, 20):
        worst = [
            max(
                power({**variances(a, design), "residual": e**2}, n, m, design=design)
                for n in (10, 50, 250, 1000)
                for a in (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.3)
                for e in (0.01, 0.06, 0.2)
            )
            for design in ("crossed", "nested")
        ]
        print(f"| {m} | {worst[0]:.3f} | {worst[1]:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--levels", type=int, default=0, metavar="REPLICATIONS")
    parser.add_argument("--design", choices=["crossed", "nested"], action="append")
    options = parser.parse_args()
    if options.levels:
        print_levels(options.levels, options.design or ["crossed", "nested"])
        print_worst()
    else:
        compare_speed()


if __name__ == "__main__":
    main()
