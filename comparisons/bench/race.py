"""Race: CPU time to errors of 1e-2, 1e-3 and 1e-4 in q, against IDA, Radau5DAE and ODASSL.

Every solver runs through the classes of the comparisons: the same Python callbacks for all, and
the same Jacobians where they take them (IDA does; Assimulo's Radau5DAE and ODASSL difference).
Ours run with fixed steps and with error control, the others in all their formulations; the best of
each counts, and is named. A step size that suits an error is only known in hindsight: rows of their
own have what `integrate` does by itself, its default scheme with adaptive steps, start included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comparisons.bench.ladder import (
    Climb,
    Runner,
    case_of,
    series,
    time_all,
    warm_up,
)
from comparisons.bench.plan import Plan
from comparisons.bench.reach import Reach
from comparisons.bench.rows import Row, one_line
from comparisons.record import Record
from comparisons.reference import sampled_reference
from comparisons.solvers import SOLVERS
from comparisons.store import Store
from genalpha.schemes import SCHEMES

#: Case -> its name in the table.
MECHANISMS = {
    "pendulum_jn": "pendulum (16)",
    "slider_crank": "slider-crank",
    "andrews_squeezer": "Andrews",
    "heavy_top": "heavy top",
    "rolling_disk": "rolling disk",
    "chain_20": "chain of 20",
    "flexible_pendulum": "flexible pendulum",
    "flexible_8": "flexible pendulum, 8 elements",
}
#: Mechanisms of `race_cases` that are made from formulas have this at the end of their names.
FROM_FORMULAS = "_formulas"
QUICK = ("pendulum_jn", "flexible_pendulum")
#: The stiff and the large ones, where we must be ahead at the first two errors.
DEMANDED = ("chain_20", "flexible_pendulum", "flexible_8")
ERRORS = (1e-2, 1e-3, 1e-4)
DEMANDED_ERRORS = ERRORS[:2]
OURS = (*SCHEMES, *(f"{scheme} (adaptive)" for scheme in SCHEMES))
#: What runs when nothing is chosen but the tolerance.
DEFAULT = ("GenAlphaSOI2 (adaptive)",)
PEERS = ("IDA", "Radau5DAE", "ODASSL")
#: Section -> how its solvers are called: everybody on a plain residual, see `solvers.residuals`.
RESIDUAL = {
    "race: residual": "{} (residual)",
    "race: residual with jac": "{} (residual, jac)",
}
#: Where everybody gets one.
RESIDUAL_ON = ("pendulum_jn", "slider_crank", "andrews_squeezer", "heavy_top", "chain_20")
#: Seconds of one run.
LIMIT, QUICK_LIMIT = 6.0, 2.0
#: Who is slower than this at first is not timed again.
CLOSE = 1.5

Best = tuple[Climb, Reach]


def run(plan: Plan) -> Iterator[Row]:
    """Race on all mechanisms."""
    for name in PEERS:
        reason = SOLVERS[name].missing()
        if reason:
            yield Row("race: failures", ("all", name), {}, {}, reason)
    for name in QUICK if plan.quick else MECHANISMS:
        yield from race(name, plan)


def title(name: str) -> str:
    """Return the name of a mechanism in tables."""
    twin = name.removesuffix(FROM_FORMULAS)
    return MECHANISMS[twin] if twin == name else f"{MECHANISMS[twin]}, formulas"


def race(name: str, plan: Plan) -> Iterator[Row]:
    """Race on one mechanism: a row per error, and a row per series with failures."""
    case = case_of(name)
    plan.tell(f"race: {name}, reference")
    reference = sampled_reference(case, plan.output / "references")
    runner = Runner(case, reference, QUICK_LIMIT if plan.quick else LIMIT)
    climbs = []
    try:
        for solver, form in series((*OURS, *PEERS, *on_residuals(name))):
            plan.tell(f"race: {name}, {solver}, {form}")
            climbs.append(runner.climb(solver, form, min(ERRORS)))
        plan.tell(f"race: {name}, times")
        warm_up(runner, climbs)
        time_all(runner, climbs, ERRORS, 1)
        chosen = contenders(climbs)
        plan.tell(f"race: {name}, times of {len(chosen)} contenders")
        time_all(runner, chosen, ERRORS, plan.repeats - 1)
    finally:
        runner.close()
    _keep(climbs, plan)
    for error in ERRORS:
        yield verdict(name, error, climbs)
    for error in ERRORS:
        yield verdict(name, error, climbs, DEFAULT, "race: defaults")
    if name in RESIDUAL_ON:
        for section, label in RESIDUAL.items():
            ours, peers = (tuple(map(label.format, group)) for group in (SCHEMES, PEERS))
            for error in ERRORS:
                yield verdict(name, error, climbs, ours, section, peers)
    yield from failures(name, climbs)


def on_residuals(name: str) -> list[str]:
    """Return the solvers that get a plain residual of a mechanism."""
    every = [label.format(x) for label in RESIDUAL.values() for x in (*SCHEMES, *PEERS)]
    return every if name in RESIDUAL_ON else []


def best(climbs: Sequence[Climb], solvers: Sequence[str], error: float) -> Best | None:
    """Return the climb of these solvers that is first at an error, and its time."""
    found = [
        (climb, reach)
        for climb in climbs
        if climb.solver in solvers and (reach := climb.reach(error)) is not None
    ]
    return min(found, key=lambda pair: pair[1], default=None)


def contenders(
    climbs: Sequence[Climb], errors: Sequence[float] = ERRORS, ours: Sequence[str] = OURS
) -> list[Climb]:
    """Return the climbs that may be the best of ours, or of a peer, at some error."""
    chosen = []
    for climb in climbs:
        alone = climb.solver in DEFAULT or climb.solver not in ours  # on a residual too
        group = (climb.solver,) if alone else ours
        for error in errors:
            mine, first = climb.reach(error), best(climbs, group, error)
            if mine and first and mine.time <= CLOSE * first[1].time:
                chosen.append(climb)
                break
    return chosen


def verdict(
    name: str,
    error: float,
    climbs: Sequence[Climb],
    group: Sequence[str] = OURS,
    section: str = "race",
    peers: Sequence[str] = PEERS,
) -> Row:
    """Return the row of one error: times, ratio, and plainly who is ahead.

    `group` are those of ours that take part, `peers` the others, called as in `PEERS` with
    something behind it; targets are those of the section "race".
    """
    ours, peer = best(climbs, group, error), best(climbs, peers, error)
    values: dict[str, float | str | None] = {"ours ms": None, "ours": None, "best peer": None}
    if ours:
        values["ours ms"], values["ours"] = 1e3 * ours[1].time, ours[0].label
    for solver, called in zip(PEERS, peers, strict=True):
        found = best(climbs, (called,), error)
        values[f"{solver} ms"] = 1e3 * found[1].time if found else None
    if peer:
        values["best peer"] = peer[0].label
    values["ratio"] = ratio(ours, peer)
    demanded = section == "race" and name in DEMANDED and error in DEMANDED_ERRORS
    note = who(ours, peer)
    if "get" in note and any(climb.cut_off for climb in climbs):
        note += " within the time limit"
    bounds = [pair[0].label for pair in (ours, peer) if pair and pair[1].bound]
    if bounds:
        note += f"; at most, the coarsest run is already better: {', '.join(bounds)}"
    targets = {"ratio": 1.0} if demanded else {}
    return Row(section, (MECHANISMS[name], f"{error:.0e}"), values, targets, note)


def ratio(ours: Best | None, peer: Best | None) -> float | None:
    """Return peer / ours: infinite if no peer gets there, 0 if we do not, None if nobody does."""
    if ours is None:
        return None if peer is None else 0.0
    return float("inf") if peer is None else peer[1].time / ours[1].time


def who(ours: Best | None, peer: Best | None) -> str:
    """Say plainly who is ahead."""
    value = ratio(ours, peer)
    if value is None:
        return "nobody gets there"
    if peer is None:
        return "no peer gets there"
    if ours is None:
        return f"{peer[0].label} IS AHEAD; ours do not get there"
    if value < 1.0:
        return f"{peer[0].label} IS AHEAD by {1.0 / value:.1f}"
    return "ours ahead"


def failures(name: str, climbs: Sequence[Climb]) -> Iterator[Row]:
    """Return a row for every series in which something failed, with the last reason."""
    for climb in climbs:
        failed = [record for record in climb.records if not record.ok]
        if failed:
            values: dict[str, float | str | None] = {
                "failed": float(len(failed)),
                "runs": float(len(climb.records)),
            }
            last = failed[-1]
            reason = f"{last.status} at {last.setting.symbol} = {last.value:.0e}: {last.reason}"
            label = (MECHANISMS[name], climb.label)
            yield Row("race: failures", label, values, {}, one_line(reason))


def _keep(climbs: Sequence[Climb], plan: Plan) -> None:
    """Write all runs as records of the comparisons, so that its tables and plots can show them."""
    file = Store(plan.output / "race.jsonl", Record)
    for climb in climbs:
        done = {id(r): climb.timed_record(i) for i, r in enumerate(climb.good) if i in climb.times}
        for record in climb.records:
            file.append(done.get(id(record), record))
