"""How many topics, and how many instances of a non-deterministic system?

For anyone who plans a comparison that must generalise to other topics and other instances
(Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005): the power of the two-way random and the
nested test, exact for normal effects, from variances of a pilot; the cheapest design; and where one
of topics and instances cannot make up for too few of the other, that it cannot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadyrank.errors import InputError
from steadyrank.notebook import Exhibit, Framed, shown_by
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.instances.power import Claim, Design, InstanceTest, InstanceVariances

if TYPE_CHECKING:
    import pandas as pd


SLACK = 0.03
"""How far the topics by the rough power may be above the exact ones, with two more allowed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class PowerTable(Exhibit):
    """Power of a test at numbers of topics and instances."""

    topics: tuple[int, ...]
    instances: tuple[int, ...]
    power: np.ndarray
    """[number of topics, number of instances]"""
    limit: np.ndarray
    """[number of topics]: that no number of instances exceeds."""

    def caption(self) -> str:
        """What the figures are."""
        return "Power by numbers of topics (rows) and instances; inf: the limit of any number."

    def to_frame(self) -> pd.DataFrame:
        """One row a number of topics, one column a number of instances, and their limit."""
        import pandas as pd

        frame = pd.DataFrame(self.power, index=list(self.topics), columns=list(self.instances))
        frame.index.name, frame.columns.name = "topics", "instances"
        frame[math.inf] = self.limit
        return frame


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.instances.view:plan_text")
class InstancePlan(Framed):
    """The cheapest numbers of topics and instances for a power, or why there are none.

    Examples
    --------
    >>> import steadyrank as sr
    >>> pilot = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
    >>> plan = sr.plan_instances(pilot, difference=0.03, cost_per_instance=5)
    >>> plan.topics, plan.instances, plan.reached
    (91, 11, True)
    """

    test: InstanceTest
    """The claim, at which true difference, and the variances."""
    target: float
    """The power that was asked for."""
    cost_per_topic: float
    cost_per_instance: float
    given_topics: int | None
    given_instances: int | None
    most_topics: int
    most_instances: int
    topics: int | None
    """None where the power cannot be reached."""
    instances: int | None
    """Of each system that varies."""
    power: float
    """At `topics` and `instances`; where they are None, the most that what is given can reach."""
    cost: float
    fewest_topics: int | None
    """With fewer no number of instances suffices; None if more than `most_topics`."""
    fewest_instances: int | None
    """With fewer no number of topics suffices; None if more than `most_instances`."""

    @property
    def reached(self) -> bool:
        """Whether the topics and instances have the power that was asked for."""
        return self.topics is not None and self.power >= self.target

    def table(self, n_topics: Sequence[int], n_instances: Sequence[int]) -> PowerTable:
        """The same test's power at other numbers of topics and instances."""
        for size in (*n_topics, *n_instances):
            _check_size("a table's topics and instances", size)
        return PowerTable(
            topics=tuple(n_topics),
            instances=tuple(n_instances),
            power=np.array([[self.test.power(n, m) for m in n_instances] for n in n_topics]),
            limit=np.array([self.test.topic_limit(n) for n in n_topics]),
        )

    def caption(self) -> str:
        """The answer in a sentence."""
        return self.words()[0]

    def rows(self) -> list[dict[str, Any]]:
        """The one row: the sizes, their power and cost, and the fewest that can suffice."""
        keys = ("topics", "instances", "power", "target", "cost", "fewest_topics")
        return [{key: getattr(self, key) for key in (*keys, "fewest_instances")}]

    def words(self) -> list[str]:
        """The plan in sentences: what it takes, and what cannot be made up for."""
        return [*_answer(self), *_floors(self)]


def plan_instances(
    components: Mapping[str, float],
    *,
    difference: float | None = None,
    delta: float | None = None,
    claim: Claim | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    cost_per_topic: float = 1.0,
    cost_per_instance: float = 1.0,
    design: Design = "crossed",
    n_topics: int | None = None,
    n_instances: int | None = None,
    most_topics: int = 10_000,
    most_instances: int = 1_000,
) -> InstancePlan:
    """The cheapest numbers of topics N and instances M with which a test has the power asked for.

    Parameters
    ----------
    components : mapping of str to float
        Variances: of `instance`, of system × topic (`system_topic`: for a deterministic baseline
        that of the differences' topic effects) and of the `residual`.
    difference : float, optional
        The true difference to find by the two-sided test at alpha; of a claim about `delta` the
        true difference, 0 unless given.
    delta : float, optional
        Margin of the claim.
    claim : str, optional
        With `delta`, "equivalent" (the default: both one-sided tests at alpha) or "non_inferior".
    alpha, power : float
        Level of the test, and its power.
    cost_per_topic, cost_per_instance : float
        Cost is N cost_per_topic + the number of instances, of both systems if nested, times
        cost_per_instance.
    design : str
        "crossed" (against a deterministic system: variance of the mean s_a²/M + s_u²/N + s_e²/(M
        N)) or "nested" (two systems with M instances each: twice that).
    n_topics, n_instances : int, optional
        Give one of them, and only the other is sought.
    most_topics, most_instances : int
        How far to look.

    Returns
    -------
    InstancePlan
        Topics, instances, power and cost; `table()` has the power of other designs, `words()`
        sentences.

    Notes
    -----
    Assumes normal effects, and that the variances are those of the future: estimates from few
    instances are far off (`stats.mixed.fit.component_intervals`), so plan with a larger one too.
    Claims about other instances require at least two.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> pilot = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
    >>> plan = plan_instances(pilot, difference=0.03, cost_per_instance=5)
    >>> plan.topics, plan.instances, round(plan.power, 3), plan.fewest_topics
    (91, 11, 0.8, 58)
    >>> plan_instances(pilot, difference=0.03, n_topics=50).words()[0]
    'With 50 topics no number of instances reaches power 0.8: it stays below 0.74.'
    """
    test = InstanceTest(
        variances=InstanceVariances.of(components),
        design=design,
        claim=claim or ("different" if delta is None else "equivalent"),
        difference=_true_difference(difference, delta),
        delta=delta,
        alpha=alpha,
    )
    check_open_unit("power", power)
    _check_costs(cost_per_topic, cost_per_instance)
    for name, size in (
        ("topics", n_topics),
        ("instances", n_instances),
        ("most_topics", most_topics),
        ("most_instances", most_instances),
    ):
        _check_size(name, size)
    limits = _Limits(
        target=power,
        topic_cost=cost_per_topic,
        instance_cost=cost_per_instance * (2 if design == "nested" else 1),
        most_topics=most_topics,
        most_instances=most_instances,
    )
    fewest_topics = fewest_enough(lambda n: test.topic_limit(n) >= power, 2, most_topics)
    fewest_instances = fewest_enough(lambda m: test.instance_limit(m) >= power, 2, most_instances)
    sizes = _search(test, limits, n_topics, n_instances, fewest_topics, fewest_instances)
    return InstancePlan(
        test=test,
        target=power,
        cost_per_topic=cost_per_topic,
        cost_per_instance=cost_per_instance,
        given_topics=n_topics,
        given_instances=n_instances,
        most_topics=most_topics,
        most_instances=most_instances,
        topics=sizes[0] if sizes else None,
        instances=sizes[1] if sizes else None,
        power=test.power(*sizes) if sizes else _within_reach(test, limits, n_topics, n_instances),
        cost=limits.cost(*sizes) if sizes else math.nan,
        fewest_topics=fewest_topics,
        fewest_instances=fewest_instances,
    )


class _Limits(NamedTuple):
    """The power wanted, what topics and instances cost, and how many there may be."""

    target: float
    topic_cost: float
    instance_cost: float
    most_topics: int
    most_instances: int

    def cost(self, topics: int, instances: int) -> float:
        return topics * self.topic_cost + instances * self.instance_cost


def _search(
    test: InstanceTest,
    limits: _Limits,
    topics: int | None,
    instances: int | None,
    fewest_topics: int | None,
    fewest_instances: int | None,
) -> tuple[int, int] | None:
    """The cheapest topics and instances; those that are given stay as they are."""
    if topics is not None and instances is not None:
        return topics, instances
    if fewest_topics is None or fewest_instances is None:
        return None
    if topics is not None:
        fewest = fewest_enough(
            lambda m: test.power(topics, m) >= limits.target, 2, limits.most_instances
        )
        return None if fewest is None else (topics, fewest)
    if instances is not None:
        fewest = fewest_enough(
            lambda n: test.power(n, instances) >= limits.target, 2, limits.most_topics
        )
        return None if fewest is None else (fewest, instances)
    return _cheapest(test, limits, fewest_topics, fewest_instances)


def _cheapest(
    test: InstanceTest, limits: _Limits, fewest_topics: int, fewest_instances: int
) -> tuple[int, int] | None:
    """Exact wherever, by the rough power, a number of instances could be the cheapest."""
    rough = _rough_designs(test, limits, fewest_topics, fewest_instances)
    best = None
    for n, m in sorted(rough, key=lambda design: limits.cost(*design)):
        hoped = max(fewest_topics, math.floor((1.0 - SLACK) * n) - 2)
        if best is not None and limits.cost(hoped, m) > limits.cost(*best):
            continue
        fewest = _fewest_around(partial(_suffices, test.power, limits.target, m), n, limits)
        if fewest is not None and (
            best is None or _order(limits, fewest, m) < _order(limits, *best)
        ):
            best = (fewest, m)
    return best


def _order(limits: _Limits, topics: int, instances: int) -> tuple[float, int]:
    return limits.cost(topics, instances), instances


def _rough_designs(
    test: InstanceTest, limits: _Limits, fewest_topics: int, fewest_instances: int
) -> list[tuple[int, int]]:
    """Topics and instances by the rough power: more instances never need more topics."""
    sizes, topics = [], limits.most_topics
    for m in range(fewest_instances, limits.most_instances + 1):
        enough = partial(_suffices, test.rough_power, limits.target, m)
        topics = _fewest_below(enough, fewest_topics, topics) or topics
        sizes.append((topics, m))
        if topics <= fewest_topics and len(sizes) > 1 and sizes[-2][0] <= fewest_topics:
            break
    return sizes


def _suffices(
    power: Callable[[int, int], float], target: float, instances: int, topics: int
) -> bool:
    return power(topics, instances) >= target


def _fewest_around(enough: Callable[[int], bool], start: int, limits: _Limits) -> int | None:
    """The smallest number that is enough, looked for from `start` both ways."""
    if enough(start):
        return _fewest_below(enough, 2, start)
    return fewest_enough(enough, start, limits.most_topics)


def fewest_enough(enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """The smallest number from low to high that is enough, if more is never less."""
    if not enough(high):
        return None
    step, start = 1, low
    while low < high and not enough(low):
        start, low, step = low + 1, min(low + step, high), 2 * step
    return _bisected(enough, start, low)


def _fewest_below(enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """As `fewest_enough`, looking from `high` down: it is near."""
    if not enough(high):
        return None
    step = 1
    while high > low and enough(max(high - step, low)):
        high, step = max(high - step, low), 2 * step
    return _bisected(enough, max(high - step + 1, low), high)


def _bisected(enough: Callable[[int], bool], low: int, high: int) -> int:
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def _within_reach(
    test: InstanceTest, limits: _Limits, topics: int | None, instances: int | None
) -> float:
    """The power that cannot be exceeded with what is given."""
    if topics is not None:
        return test.topic_limit(topics)
    if instances is not None:
        return test.instance_limit(instances)
    return test.power(limits.most_topics, limits.most_instances)


def _answer(plan: InstancePlan) -> list[str]:
    """What the plan takes, or that it cannot be had."""
    goal = f"power {plan.target:g}"
    claim = _claim_words(plan.test)
    if plan.topics is not None and plan.instances is not None:
        sizes = f"{_topics(plan.topics)} and {_instances(plan, plan.instances)}"
        if plan.given_topics is not None and plan.given_instances is not None:
            verdict = "enough" if plan.reached else "too few"
            return [
                f"{sizes} have power {plan.power:.2f} to {claim}: {verdict} for {plan.target:g}."
            ]
        cheapest = plan.given_topics is None and plan.given_instances is None
        how = f", at the least cost, {plan.cost:,g}" if cheapest else ""
        return [f"{sizes} reach {goal} to {claim} ({plan.power:.3f}){how}."]
    below = f"it stays below {_rounded_up(plan.power)}"
    if plan.given_topics is not None:
        return [_alone(plan, _topics(plan.given_topics), "instances", plan.most_instances, below)]
    if plan.given_instances is not None:
        given = _instances(plan, plan.given_instances)
        return [_alone(plan, given, "topics", plan.most_topics, below)]
    return [
        f"No design of up to {_topics(plan.most_topics)} and "
        f"{_instances(plan, plan.most_instances)} reaches {goal} to {claim}: {below}."
    ]


def _alone(plan: InstancePlan, given: str, sought: str, most: int, below: str) -> str:
    """That what is given cannot be made up for, or only by very many."""
    if plan.power < plan.target:
        return f"With {given} no number of {sought} reaches power {plan.target:g}: {below}."
    return f"With {given} it takes more than {most:,} {sought} to reach power {plan.target:g}."


def _floors(plan: InstancePlan) -> list[str]:
    """How few topics, and instances, nothing can make up for."""
    said = []
    for fewest, most, noun, other in (
        (plan.fewest_topics, plan.most_topics, "topics", "instances"),
        (plan.fewest_instances, plan.most_instances, "instances", "topics"),
    ):
        if fewest is None:
            said.append(f"Even {most:,} {noun} are too few, whatever the number of {other}.")
        elif fewest > 2:
            said.append(f"With fewer than {fewest:,} {noun} no number of {other} suffices.")
    return said


def _claim_words(test: InstanceTest) -> str:
    if test.claim == "different":
        return f"find a difference of {test.difference:g}"
    shown = "equivalence within" if test.claim == "equivalent" else "non-inferiority by"
    if test.difference == 0.0:
        return f"show {shown} {test.delta:g}"
    return f"show {shown} {test.delta:g} where the difference is {test.difference:g}"


def _topics(number: int) -> str:
    return f"{number:,} topics"


def _instances(plan: InstancePlan, number: int) -> str:
    of_each = " of each system" if plan.test.design == "nested" else ""
    return f"{number:,} instances{of_each}"


def _rounded_up(power: float) -> str:
    return f"{math.ceil(100.0 * power) / 100.0:.2f}"


def _true_difference(difference: float | None, delta: float | None) -> float:
    if difference is None and delta is None:
        raise InputError("give the difference that must be found, or the margin delta")
    if delta is None and difference == 0.0:
        raise InputError("no number of topics finds a difference of 0: give a margin delta instead")
    return float(difference or 0.0)


def _check_costs(*costs: float) -> None:
    if min(costs) < 0.0 or max(costs) == 0.0 or not all(map(math.isfinite, costs)):
        raise InputError(f"costs must be numbers of at least 0, and one above 0, got {costs}")


def _check_size(name: str, size: int | None) -> None:
    if size is not None and size < 2:
        raise InputError(f"{name} must be at least 2 for claims about others, got {size}")
