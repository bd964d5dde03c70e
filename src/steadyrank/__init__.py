"""steadyrank: how far can you trust this leaderboard?

Public names live here, and figures of one paper in `steadyrank.papers`; each is imported when it is
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadyrank._version import __version__

_NAMES = {
    "data.interop.objects": "as_qrels as_run as_scores",
    "data.leaderboard": "Leaderboard",
    "data.qrels": "Qrels qrels_from_dict",
    "data.read.datasets": "read_topics",
    "data.read.leaderboards": "read_leaderboard",
    "data.read.limits": "max_input",
    "data.read.qrels": "read_qrels",
    "data.read.runs": "Runs read_run read_runs",
    "data.read.score_files": "read_scores",
    "data.run": "Run run_from_dict",
    "data.scores": "Scores join_scores",
    "data.track.model": "TrackModel TrueMeans true_means",
    "data.track.simulated": "SimulatedTrack simulated_track",
    "data.write.files": "write_qrels write_run write_scores",
    "errors": "FormatError InputError MachineError SteadyrankError SteadyrankWarning "
    "UnknownNameError",
    "measures.check": "CheckResult check",
    "measures.evaluate": "evaluate",
    "measures.names": "Measure parse_measure",
    "measures.own": "register_measure",
    "papers.model": "Reproduction",
    "papers.reproduce": "reproduce",
    "reporting.run": "ReportResult report",
    "retrieval.builtin.collection": "BuiltinCollection builtin_collection",
    "retrieval.builtin.instances": "builtin_instances",
    "retrieval.builtin.runs": "builtin_runs",
    "retrieval.makers.grid": "GridResult grid write_grid",
    "retrieval.makers.shard": "ShardResult shard write_shards",
    "stats.interval": "Interval",
    "stats.ranks.correlation": "RankCorrelation correlations kendall_tau symmetric_tau_ap tau_ap",
    "stats.ranks.kappa": "cohen_kappa",
    "stats.ranks.overlap": "rbo",
    "studies.agree.result": "AgreeResult",
    "studies.agree.study": "agree",
    "studies.compare.audit": "AuditResult audit_tests",
    "studies.compare.power": "DiscriminativePower discriminative_power",
    "studies.compare.result": "CompareResult CompareTable",
    "studies.compare.study": "compare",
    "studies.components.study": "ComponentsResult components",
    "studies.datasets.result": "DatasetsResult",
    "studies.datasets.study": "datasets",
    "studies.gate.history": "GateHistory",
    "studies.gate.result": "GateResult",
    "studies.gate.study": "gate",
    "studies.holes.result": "HolesResult",
    "studies.holes.study": "holes",
    "studies.instances.planning": "InstancePlan plan_instances",
    "studies.instances.study": "InstancesResult InstancesTable instances",
    "studies.judges.result": "JudgesResult",
    "studies.judges.study": "judges",
    "studies.plan.planner_page": "planner_page",
    "studies.plan.study": "PlanResult plan",
    "studies.plotting": "plot",
    "studies.pools.result": "PoolsResult",
    "studies.pools.study": "pools",
    "studies.simulate.study": "SimulateResult simulate",
    "studies.stability.study": "StabilityResult stability",
    "studies.topics.result": "TopicsResult",
    "studies.topics.study": "topics",
}
"""What each module gives."""

_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

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
    from steadyrank.data.interop.objects import as_qrels, as_run, as_scores
    from steadyrank.data.leaderboard import Leaderboard
    from steadyrank.data.qrels import Qrels, qrels_from_dict
    from steadyrank.data.read.datasets import read_topics
    from steadyrank.data.read.leaderboards import read_leaderboard
    from steadyrank.data.read.limits import max_input
    from steadyrank.data.read.qrels import read_qrels
    from steadyrank.data.read.runs import Runs, read_run, read_runs
    from steadyrank.data.read.score_files import read_scores
    from steadyrank.data.run import Run, run_from_dict
    from steadyrank.data.scores import Scores, join_scores
    from steadyrank.data.track.model import TrackModel, TrueMeans, true_means
    from steadyrank.data.track.simulated import SimulatedTrack, simulated_track
    from steadyrank.data.write.files import write_qrels, write_run, write_scores
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
