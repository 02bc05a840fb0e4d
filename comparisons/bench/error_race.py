"""Race to errors of the result: CPU time to 1e-2 ... 1e-10 in q, against everybody.

    python -m comparisons.bench "error race"
    python -m comparisons.bench defaults

Ours are `integrate(..., error=...)`, which finds its grid by itself, start included; the peers are
IDA, Radau5DAE and ODASSL in all their formulations, and SciPy's DOP853 and Radau on the ode form.
The error that counts is the true one, for everybody; what ours claim is not looked at here. Of
mechanisms from formulas everybody calls the same machine code; ours also take steps in it.
"defaults" is the same race at 1e-2 and 1e-3, but ours is what `integrate` does when nothing is
chosen but a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comparisons.bench.ladder import Climb, Runner, case_of, series, time_all, warm_up
from comparisons.bench.plan import Plan
from comparisons.bench.race import (
    DEFAULT,
    FROM_FORMULAS,
    QUICK_LIMIT,
    best,
    contenders,
    ratio,
    title,
    who,
)
from comparisons.bench.rows import Row
from comparisons.reference import sampled_reference
from genalpha.schemes import SCHEMES

CASES = ("pendulum_jn", "slider_crank", "andrews_squeezer", "heavy_top", "chain_20", "rolling_disk")
#: The same from formulas; the heavy top has no such twin.
FORMULAS = tuple(name + FROM_FORMULAS for name in CASES if name != "heavy_top")
QUICK = ("pendulum_jn",)
ERRORS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
#: Errors at which we should take at most this part of the best peer's time.
DEMANDED, PART = (1e-4, 1e-6, 1e-8), 0.7
#: Errors at which the default, adaptive steps, should be ahead.
DEFAULT_ERRORS = (1e-2, 1e-3)
TOLERANCES = tuple(10.0**-i for i in range(1, 14))
OURS = tuple(f"{scheme} (error)" for scheme in SCHEMES)
PEERS = ("SciPy DOP853", "ODASSL", "IDA", "Radau5DAE", "SciPy Radau")  # the quick ones first
#: Seconds of one run. As soon as somebody has reached the smallest error, nobody has more than this
#: times its time, though at least so many seconds: what is slower decides about nothing.
LIMIT, SLOWER, SHORTEST = 10.0, 5.0, 3.0


def run(plan: Plan) -> Iterator[Row]:
    """Race on all mechanisms."""
    for name in QUICK if plan.quick else (*CASES, *FORMULAS):
        yield from race(name, plan)


def defaults(plan: Plan) -> Iterator[Row]:
    """Race with the default scheme and adaptive steps on all mechanisms."""
    for name in QUICK if plan.quick else CASES:
        climbs = climbed(name, plan, DEFAULT_ERRORS, DEFAULT)
        for error in DEFAULT_ERRORS:
            yield verdict(name, error, climbs, DEFAULT, "error race: defaults")


def race(name: str, plan: Plan) -> Iterator[Row]:
    """Race on one mechanism: a row per error."""
    errors = ERRORS[1:3] if plan.quick else ERRORS
    climbs = climbed(name, plan, errors)
    for error in errors:
        yield verdict(name, error, climbs)


def climbed(
    name: str, plan: Plan, errors: Sequence[float], ours: Sequence[str] = OURS
) -> list[Climb]:
    """Return the runs of everybody on one mechanism, timed where they decide about errors."""
    case = case_of(name)
    reference = sampled_reference(case, plan.output / "references")
    runner = Runner(case, reference, QUICK_LIMIT if plan.quick else LIMIT)
    climbs = []
    try:
        for solver, form in series((*PEERS, *ours)):
            plan.tell(f"error race: {name}, {solver}, {form}")
            climb = runner.climb(solver, form, min(errors), TOLERANCES)
            climbs.append(climb)
            if climb.good and climb.errors[-1] <= min(errors):
                longest = SLOWER * runner.time(climb, len(climb.good) - 1)
                runner.limit = min(runner.limit, max(SHORTEST, longest))
        plan.tell(f"error race: {name}, times")
        warm_up(runner, climbs)
        time_all(runner, climbs, errors, 1)
        time_all(runner, contenders(climbs, errors, ours), errors, plan.repeats - 1)
    finally:
        runner.close()
    return climbs


def verdict(
    name: str,
    error: float,
    climbs: Sequence[Climb],
    group: Sequence[str] = OURS,
    section: str = "error race",
) -> Row:
    """Return the row of one error: times, ratio, and plainly who is ahead."""
    ours, peer = best(climbs, group, error), best(climbs, PEERS, error)
    values: dict[str, float | str | None] = {
        "ours ms": 1e3 * ours[1].time if ours else None,
        "ours": ours[0].label if ours else None,
        "best peer": peer[0].label if peer else None,
        "ratio": ratio(ours, peer),
    }
    for solver in PEERS:
        found = best(climbs, (solver,), error)
        values[f"{solver} ms"] = 1e3 * found[1].time if found else None
    if section == "error race":
        targets = {"ratio": 1.0 / PART} if error in DEMANDED else {}
    else:
        targets = {"ratio": 1.0}
    return Row(section, (title(name), f"{error:.0e}"), values, targets, who(ours, peer))
