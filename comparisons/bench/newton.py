"""Newton: iterations, Jacobians and factorizations per step, in all three modes.

The step size suits the mechanism: the median step of an adaptive run of GenAlphaSOI2 with
rtol = atol = 1e-6. Where that fails, it is the coarsest one of the comparisons. What fails keeps
its row, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row, one_line
from comparisons.bench.timing import interleaved
from comparisons.cases import CASES
from genalpha import Mechanism, Solution, integrate
from genalpha.mechanisms import catalogue
from genalpha.schemes import SCHEMES

#: Mode -> what its columns are marked with.
MODES = {"auto": "", "every step": " (s)", "every iteration": " (i)"}
TARGETS = {"it": 3.0, "J": 0.15, "time": 1.1}
TOLERANCE = 1e-6
#: Steps of one run.
FEWEST, MOST = 50, 400
#: Time a mechanism moves that is not in the comparisons.
DURATION = 1.0


def run(plan: Plan) -> Iterator[Row]:
    """Measure the whole catalogue with all schemes."""
    for name, make in catalogue().items():
        mechanism = make()
        plan.tell(f"newton: {name}, step size")
        h, steps, note = chosen_steps(name, mechanism, MOST // 4 if plan.quick else MOST)
        for scheme in SCHEMES:
            plan.tell(f"newton: {name}, {scheme}")
            try:
                yield measure(name, mechanism, scheme, h, steps, plan.repeats, note)
            except Exception as error:
                values = {"h": h, "steps": float(steps)}
                yield Row("newton", (name, scheme), {**values}, {}, one_line(error))


def measure(
    name: str, mechanism: Mechanism, scheme: str, h: float, steps: int, repeats: int, note: str = ""
) -> Row:
    """Return the row of one mechanism and scheme."""

    def solve(mode: str) -> Solution:
        t_end = mechanism.t0 + steps * h
        return integrate(mechanism, t_end, scheme, h=h, t_eval=[t_end], jacobian=mode)

    values: dict[str, float | str | None] = {"h": h, "steps": float(steps)}
    for mode, mark in MODES.items():
        cost = solve(mode).statistics
        values["it" + mark] = cost.nniters / cost.nsteps
        values["J" + mark] = cost.njacs / cost.nsteps
        values["LU" + mark] = cost.nlus / cost.nsteps
    times = interleaved(
        {"auto": lambda: solve("auto"), "every": lambda: solve("every iteration")}, repeats
    )
    values["time"] = times["auto"] / times["every"]
    return Row("newton", (name, scheme), values, TARGETS, note)


def chosen_steps(name: str, mechanism: Mechanism, most: int) -> tuple[float, int, str]:
    """Return step size, number of steps, and a note where the size is not that of error control."""
    case = CASES.get(name) or CASES.get(f"{name}_5")  # the comparisons have chains by length
    duration = (case.t_final - mechanism.t0) if case else DURATION
    note = ""
    try:
        t = integrate(mechanism, mechanism.t0 + duration, rtol=TOLERANCE, atol=TOLERANCE).steps
        h = float(np.median(np.diff(t)))
    except Exception as error:
        h = duration / (case.steps if case else FEWEST)
        note = f"adaptive run failed ({type(error).__name__}), h is the comparisons' own"
    h = min(h, duration / FEWEST)
    return h, min(most, round(duration / h)), note
