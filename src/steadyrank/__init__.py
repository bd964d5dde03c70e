"""steadyrank: how far can you trust this leaderboard?

Public names live here and nowhere else; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadyrank._version import __version__

_HOMES = {
    "FormatError": "errors",
    "InputError": "errors",
    "MachineError": "errors",
    "SteadyrankError": "errors",
    "SteadyrankWarning": "errors",
    "UnknownNameError": "errors",
    "Measure": "measures.names",
    "Qrels": "data.qrels",
    "Run": "data.run",
    "Scores": "data.scores",
    "AgreeResult": "studies.agree",
    "agree": "studies.agree",
    "ComponentsResult": "studies.components",
    "components": "studies.components",
    "CheckResult": "measures.check",
    "check": "measures.check",
    "CompareResult": "studies.compare_result",
    "as_qrels": "data.foreign",
    "audit_tests": "studies.audit",
    "compare": "studies.compare",
    "InstancesResult": "studies.instances",
    "InstancesTable": "studies.instances",
    "instances": "studies.instances",
    "SimulateResult": "studies.simulate",
    "simulate": "studies.simulate",
    "discriminative_power": "studies.compare",
    "as_run": "data.foreign",
    "as_scores": "data.foreign",
    "evaluate": "measures.evaluate",
    "join_scores": "data.scores",
    "parse_measure": "measures.names",
    "PlanResult": "studies.plan",
    "plan": "studies.plan",
    "PoolsResult": "studies.pool_results",
    "pools": "studies.pools",
    "StabilityResult": "studies.stability",
    "stability": "studies.stability",
    "TopicsResult": "studies.topics",
    "topics": "studies.topics",
    "plot": "render.plots",
    "Reproduction": "workflows.exhibits",
    "ReportResult": "workflows.report",
    "report": "workflows.report",
    "reproduce": "workflows.reproduce",
    "BuiltinCollection": "retrieval.builtin",
    "builtin_collection": "retrieval.builtin",
    "builtin_runs": "retrieval.builtin_runs",
    "GridResult": "retrieval.grid",
    "grid": "retrieval.grid",
    "write_grid": "retrieval.grid",
    "ShardResult": "retrieval.selective",
    "shard": "retrieval.selective",
    "write_shards": "retrieval.selective",
    "qrels_from_dict": "data.qrels",
    "read_qrels": "data.reading",
    "read_run": "data.reading",
    "read_runs": "data.reading",
    "read_scores": "data.score_files",
    "register_measure": "measures.own",
    "run_from_dict": "data.run",
    "SimulatedTrack": "data.simulated",
    "TrackModel": "data.track_model",
    "simulated_track": "data.simulated",
    "true_means": "data.track_model",
    "read_topics": "data.datasets",
    "write_qrels": "data.writing",
    "write_run": "data.writing",
    "write_scores": "data.score_files",
    "single_instance_shares": "studies.instance_pitfalls",
    "equivalence_intervals": "studies.instance_pitfalls",
    "contradictions": "studies.instance_pitfalls",
    "instance_spread": "studies.instance_pitfalls",
    "method_pvalues": "studies.instance_agreement",
    "paper_comparisons": "studies.instance_agreement",
    "pool_pvalues": "studies.instance_agreement",
    "plan_instances": "studies.instance_planning",
    "kendall_tau": "stats.correlation",
    "tau_ap": "stats.correlation",
    "symmetric_tau_ap": "stats.correlation",
    "correlations": "stats.correlation",
    "cohen_kappa": "stats.kappa",
    "rbo": "stats.overlap",
}

__all__ = [
    "AgreeResult",
    "BuiltinCollection",
    "CheckResult",
    "CompareResult",
    "ComponentsResult",
    "FormatError",
    "GridResult",
    "InputError",
    "InstancesResult",
    "InstancesTable",
    "MachineError",
    "Measure",
    "PlanResult",
    "PoolsResult",
    "Qrels",
    "ReportResult",
    "Reproduction",
    "Run",
    "Scores",
    "ShardResult",
    "SimulateResult",
    "SimulatedTrack",
    "StabilityResult",
    "SteadyrankError",
    "SteadyrankWarning",
    "TopicsResult",
    "TrackModel",
    "UnknownNameError",
    "__version__",
    "agree",
    "as_qrels",
    "as_run",
    "as_scores",
    "audit_tests",
    "builtin_collection",
    "builtin_runs",
    "check",
    "cohen_kappa",
    "compare",
    "components",
    "contradictions",
    "correlations",
    "discriminative_power",
    "equivalence_intervals",
    "evaluate",
    "grid",
    "instance_spread",
    "instances",
    "join_scores",
    "kendall_tau",
    "method_pvalues",
    "paper_comparisons",
    "parse_measure",
    "plan",
    "plan_instances",
    "plot",
    "pool_pvalues",
    "pools",
    "qrels_from_dict",
    "rbo",
    "read_qrels",
    "read_run",
    "read_runs",
    "read_scores",
    "read_topics",
    "register_measure",
    "report",
    "reproduce",
    "run_from_dict",
    "shard",
    "simulate",
    "simulated_track",
    "single_instance_shares",
    "stability",
    "symmetric_tau_ap",
    "tau_ap",
    "topics",
    "true_means",
    "write_grid",
    "write_qrels",
    "write_run",
    "write_scores",
    "write_shards",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'steadyrank' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"steadyrank.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from steadyrank.data.datasets import read_topics
    from steadyrank.data.foreign import as_qrels, as_run, as_scores
    from steadyrank.data.qrels import Qrels, qrels_from_dict
    from steadyrank.data.reading import read_qrels, read_run, read_runs
    from steadyrank.data.run import Run, run_from_dict
    from steadyrank.data.score_files import read_scores, write_scores
    from steadyrank.data.scores import Scores, join_scores
    from steadyrank.data.simulated import SimulatedTrack, simulated_track
    from steadyrank.data.track_model import TrackModel, true_means
    from steadyrank.data.writing import write_qrels, write_run
    from steadyrank.errors import (
        FormatError,
        InputError,
        MachineError,
        SteadyrankError,
        SteadyrankWarning,
        UnknownNameError,
    )
    from steadyrank.measures.check import CheckResult, check
    from steadyrank.measures.evaluate import evaluate
    from steadyrank.measures.names import Measure, parse_measure
    from steadyrank.measures.own import register_measure
    from steadyrank.render.plots import plot
    from steadyrank.retrieval.builtin import BuiltinCollection, builtin_collection
    from steadyrank.retrieval.builtin_runs import builtin_runs
    from steadyrank.retrieval.grid import GridResult, grid, write_grid
    from steadyrank.retrieval.selective import ShardResult, shard, write_shards
    from steadyrank.stats.correlation import correlations, kendall_tau, symmetric_tau_ap, tau_ap
    from steadyrank.stats.kappa import cohen_kappa
    from steadyrank.stats.overlap import rbo
    from steadyrank.studies.agree import AgreeResult, agree
    from steadyrank.studies.audit import audit_tests
    from steadyrank.studies.compare import compare, discriminative_power
    from steadyrank.studies.compare_result import CompareResult
    from steadyrank.studies.components import ComponentsResult, components
    from steadyrank.studies.instance_agreement import (
        method_pvalues,
        paper_comparisons,
        pool_pvalues,
    )
    from steadyrank.studies.instance_pitfalls import (
        contradictions,
        equivalence_intervals,
        instance_spread,
        single_instance_shares,
    )
    from steadyrank.studies.instance_planning import plan_instances
    from steadyrank.studies.instances import InstancesResult, InstancesTable, instances
    from steadyrank.studies.plan import PlanResult, plan
    from steadyrank.studies.pool_results import PoolsResult
    from steadyrank.studies.pools import pools
    from steadyrank.studies.simulate import SimulateResult, simulate
    from steadyrank.studies.stability import StabilityResult, stability
    from steadyrank.studies.topics import TopicsResult, topics
    from steadyrank.workflows.exhibits import Reproduction
    from steadyrank.workflows.report import ReportResult, report
    from steadyrank.workflows.reproduce import reproduce
