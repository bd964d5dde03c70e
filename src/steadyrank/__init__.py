"""steadyrank: how far can you trust this leaderboard?

Public names live here, and figures of one paper in `steadyrank.papers`; each is imported when it is
first used.
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
    "Runs": "data.runs",
    "Scores": "data.scores",
    "AgreeResult": "studies.agree.result",
    "agree": "studies.agree.study",
    "ComponentsResult": "studies.components.study",
    "components": "studies.components.study",
    "CheckResult": "measures.check",
    "check": "measures.check",
    "CompareResult": "studies.compare.result",
    "CompareTable": "studies.compare.result",
    "as_qrels": "data.interop.objects",
    "audit_tests": "studies.compare.audit",
    "compare": "studies.compare.study",
    "DatasetsResult": "studies.datasets.result",
    "Leaderboard": "data.leaderboard",
    "datasets": "studies.datasets.study",
    "read_leaderboard": "data.read.leaderboards",
    "InstancesResult": "studies.instances.study",
    "InstancesTable": "studies.instances.study",
    "instances": "studies.instances.study",
    "JudgesResult": "studies.judges.result",
    "judges": "studies.judges.study",
    "SimulateResult": "studies.simulate.study",
    "simulate": "studies.simulate.study",
    "discriminative_power": "studies.compare.power",
    "as_run": "data.interop.objects",
    "as_scores": "data.interop.objects",
    "evaluate": "measures.evaluate",
    "join_scores": "data.scores",
    "max_input": "data.read.limits",
    "parse_measure": "measures.names",
    "PlanResult": "studies.plan.study",
    "plan": "studies.plan.study",
    "planner_page": "studies.plan.planner_page",
    "PoolsResult": "studies.pools.result",
    "pools": "studies.pools.study",
    "HolesResult": "studies.holes.result",
    "holes": "studies.holes.study",
    "StabilityResult": "studies.stability.study",
    "stability": "studies.stability.study",
    "TopicsResult": "studies.topics.result",
    "topics": "studies.topics.study",
    "plot": "studies.plotting",
    "Reproduction": "papers.model",
    "ReportResult": "reporting.run",
    "report": "reporting.run",
    "reproduce": "papers.reproduce",
    "BuiltinCollection": "retrieval.builtin.collection",
    "builtin_collection": "retrieval.builtin.collection",
    "builtin_instances": "retrieval.builtin.instances",
    "builtin_runs": "retrieval.builtin.runs",
    "GateHistory": "studies.gate.history",
    "GateResult": "studies.gate.result",
    "gate": "studies.gate.study",
    "GridResult": "retrieval.makers.grid",
    "grid": "retrieval.makers.grid",
    "write_grid": "retrieval.makers.grid",
    "ShardResult": "retrieval.makers.shard",
    "shard": "retrieval.makers.shard",
    "write_shards": "retrieval.makers.shard",
    "qrels_from_dict": "data.qrels",
    "read_qrels": "data.read.qrels",
    "read_run": "data.read.runs",
    "read_runs": "data.read.runs",
    "read_scores": "data.read.score_files",
    "register_measure": "measures.own",
    "run_from_dict": "data.run",
    "SimulatedTrack": "data.track.simulated",
    "TrackModel": "data.track.model",
    "simulated_track": "data.track.simulated",
    "true_means": "data.track.model",
    "read_topics": "data.interop.datasets",
    "write_qrels": "data.write.files",
    "write_run": "data.write.files",
    "write_scores": "data.read.score_files",
    "plan_instances": "studies.instances.planning",
    "kendall_tau": "stats.ranks.correlation",
    "tau_ap": "stats.ranks.correlation",
    "symmetric_tau_ap": "stats.ranks.correlation",
    "correlations": "stats.ranks.correlation",
    "cohen_kappa": "stats.ranks.kappa",
    "rbo": "stats.ranks.overlap",
    "AuditResult": "studies.compare.audit",
    "DiscriminativePower": "studies.compare.power",
    "InstancePlan": "studies.instances.planning",
    "Interval": "stats.interval",
    "RankCorrelation": "stats.ranks.correlation",
    "TrueMeans": "data.track.model",
}

__all__ = [
    "AgreeResult",
    "AuditResult",
    "BuiltinCollection",
    "CheckResult",
    "CompareResult",
    "CompareTable",
    "ComponentsResult",
    "DatasetsResult",
    "DiscriminativePower",
    "FormatError",
    "GateHistory",
    "GateResult",
    "GridResult",
    "HolesResult",
    "InputError",
    "InstancePlan",
    "InstancesResult",
    "InstancesTable",
    "Interval",
    "JudgesResult",
    "Leaderboard",
    "MachineError",
    "Measure",
    "PlanResult",
    "PoolsResult",
    "Qrels",
    "RankCorrelation",
    "ReportResult",
    "Reproduction",
    "Run",
    "Runs",
    "Scores",
    "ShardResult",
    "SimulateResult",
    "SimulatedTrack",
    "StabilityResult",
    "SteadyrankError",
    "SteadyrankWarning",
    "TopicsResult",
    "TrackModel",
    "TrueMeans",
    "UnknownNameError",
    "__version__",
    "agree",
    "as_qrels",
    "as_run",
    "as_scores",
    "audit_tests",
    "builtin_collection",
    "builtin_instances",
    "builtin_runs",
    "check",
    "cohen_kappa",
    "compare",
    "components",
    "correlations",
    "datasets",
    "discriminative_power",
    "evaluate",
    "gate",
    "grid",
    "holes",
    "instances",
    "join_scores",
    "judges",
    "kendall_tau",
    "max_input",
    "parse_measure",
    "plan",
    "plan_instances",
    "planner_page",
    "plot",
    "pools",
    "qrels_from_dict",
    "rbo",
    "read_leaderboard",
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
        raise AttributeError(f"module 'steadyrank' has no attribute {name!r}{_meant(name)}")
    from importlib import import_module

    value = getattr(import_module(f"steadyrank.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    if name.startswith("_"):  # Python's own questions, such as __path__
        return ""
    from steadyrank.guesses import name_meant

    return name_meant(name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from steadyrank.data.interop.datasets import read_topics
    from steadyrank.data.interop.objects import as_qrels, as_run, as_scores
    from steadyrank.data.leaderboard import Leaderboard
    from steadyrank.data.qrels import Qrels, qrels_from_dict
    from steadyrank.data.read.leaderboards import read_leaderboard
    from steadyrank.data.read.limits import max_input
    from steadyrank.data.read.qrels import read_qrels
    from steadyrank.data.read.runs import read_run, read_runs
    from steadyrank.data.read.score_files import read_scores, write_scores
    from steadyrank.data.run import Run, run_from_dict
    from steadyrank.data.runs import Runs
    from steadyrank.data.scores import Scores, join_scores
    from steadyrank.data.track.model import TrackModel, TrueMeans, true_means
    from steadyrank.data.track.simulated import SimulatedTrack, simulated_track
    from steadyrank.data.write.files import write_qrels, write_run
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
    from steadyrank.papers.model import Reproduction
    from steadyrank.papers.reproduce import reproduce
    from steadyrank.reporting.run import ReportResult, report
    from steadyrank.retrieval.builtin.collection import BuiltinCollection, builtin_collection
    from steadyrank.retrieval.builtin.instances import builtin_instances
    from steadyrank.retrieval.builtin.runs import builtin_runs
    from steadyrank.retrieval.makers.grid import GridResult, grid, write_grid
    from steadyrank.retrieval.makers.shard import ShardResult, shard, write_shards
    from steadyrank.stats.interval import Interval
    from steadyrank.stats.ranks.correlation import (
        RankCorrelation,
        correlations,
        kendall_tau,
        symmetric_tau_ap,
        tau_ap,
    )
    from steadyrank.stats.ranks.kappa import cohen_kappa
    from steadyrank.stats.ranks.overlap import rbo
    from steadyrank.studies.agree.result import AgreeResult
    from steadyrank.studies.agree.study import agree
    from steadyrank.studies.compare.audit import AuditResult, audit_tests
    from steadyrank.studies.compare.power import DiscriminativePower, discriminative_power
    from steadyrank.studies.compare.result import CompareResult, CompareTable
    from steadyrank.studies.compare.study import compare
    from steadyrank.studies.components.study import ComponentsResult, components
    from steadyrank.studies.datasets.result import DatasetsResult
    from steadyrank.studies.datasets.study import datasets
    from steadyrank.studies.gate.history import GateHistory
    from steadyrank.studies.gate.result import GateResult
    from steadyrank.studies.gate.study import gate
    from steadyrank.studies.holes.result import HolesResult
    from steadyrank.studies.holes.study import holes
    from steadyrank.studies.instances.planning import InstancePlan, plan_instances
    from steadyrank.studies.instances.study import InstancesResult, InstancesTable, instances
    from steadyrank.studies.judges.result import JudgesResult
    from steadyrank.studies.judges.study import judges
    from steadyrank.studies.plan.planner_page import planner_page
    from steadyrank.studies.plan.study import PlanResult, plan
    from steadyrank.studies.plotting import plot
    from steadyrank.studies.pools.result import PoolsResult
    from steadyrank.studies.pools.study import pools
    from steadyrank.studies.simulate.study import SimulateResult, simulate
    from steadyrank.studies.stability.study import StabilityResult, stability
    from steadyrank.studies.topics.result import TopicsResult
    from steadyrank.studies.topics.study import topics
