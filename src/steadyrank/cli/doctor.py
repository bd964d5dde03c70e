"""`steadyrank doctor`: versions, threads, caches and a self-test."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import time
from typing import Any

from steadyrank._version import __version__
from steadyrank.cli.command import subcommand
from steadyrank.cli.options import output_options
from steadyrank.cli.output import Output, emit
from steadyrank.compute.executors import default_jobs
from steadyrank.compute.kernel_cache import kernel_home
from steadyrank.errors import MachineError


@subcommand("doctor")
@output_options
def command(output: Output) -> None:
    """Show what is installed, and test that it computes correctly."""
    from steadyrank.present.json import to_json
    from steadyrank.present.table import Table, render, text_rows

    report = examine()
    if output.format == "json":
        emit(to_json(report), output.path)
        return
    table = Table(
        header=["what", "here"],
        rows=text_rows([key, str(value)] for key, value in report.items()),
        n_names=2,
    )
    output.show(render, table)


_PACKAGES = ("numpy", "numba", "scipy", "pandas", "pyarrow", "matplotlib", "click", "rich")
_EXTRAS = {"dask": "distributed", "ir": "ir_datasets"}


def examine() -> dict[str, Any]:
    """Return versions, processors, the folder of cached kernels, extras and the self-test."""
    report: dict[str, Any] = {
        "steadyrank": __version__,
        "Python": platform.python_version(),
        "system": platform.platform(),
        "processors": default_jobs(),
    }
    report.update({name: importlib.metadata.version(name) for name in _PACKAGES})
    for extra, package in _EXTRAS.items():
        there = importlib.util.find_spec(package) is not None
        report[f"extra [{extra}]"] = "installed" if there else "not installed"
    nowhere = "none is writable: kernels are compiled at every start"
    report["kernel cache"] = str(kernel_home() or nowhere)
    started = time.perf_counter()
    self_test()
    report["self-test"] = f"passed in {time.perf_counter() - started:.1f} s"
    return report


def self_test() -> None:
    """Score a ranking whose scores were computed by hand."""
    from steadyrank.data.qrels import qrels_from_dict
    from steadyrank.data.run import run_from_dict
    from steadyrank.measures.evaluate import evaluate

    # Ranking d3 d1 d2 (d2 before d1 by score would be wrong: the tie goes to the later id).
    qrels = qrels_from_dict({"1": {"d1": 1, "d2": 2, "d4": 1}})
    run = run_from_dict({"1": {"d1": 1.0, "d2": 1.0, "d3": 2.0}}, name="self-test")
    values = evaluate(run, qrels, ["AP", "P@2", "RR"], rel=1).values[:, 0, 0]
    expected = [(1 / 2 + 2 / 3) / 3, 1 / 2, 1 / 2]
    if any(abs(value - right) > 1e-12 for value, right in zip(values, expected, strict=True)):
        raise MachineError(f"the self-test failed: got {values.tolist()}, expected {expected}")
