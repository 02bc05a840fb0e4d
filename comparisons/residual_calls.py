"""Calls of a plain residual at equal error: our classes, and IDA, Radau5DAE and ODASSL.

Everybody gets the same mechanism as a plain Assimulo problem, in the formulation that it can solve,
without `jac`. Calls are counted by wrapping `res`. For each error of q at the end, the cheapest run
over a row of tolerances that is at least as good counts.

    python -m comparisons.residual_calls > docs/pages/residual_calls.md
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from genalpha import integrate
from genalpha.mechanisms import catalogue

MADE = catalogue()
ERRORS = (1e-2, 1e-3, 1e-4)
TOLERANCES = tuple(10.0 ** (-k / 2) for k in range(4, 13))
#: Name, how it is made, and the end of the run.
CASES: dict[str, tuple[Any, float]] = {
    "pendulum": (MADE["pendulum_jn"], 1.0),
    "slider-crank": (MADE["slider_crank"], 0.5),
    "Andrews": (MADE["andrews_squeezer"], 0.02),
    "heavy top": (MADE["heavy_top"], 0.2),
    "chain of 20": (partial(MADE["chain"], 20), 0.2),
}
#: Solver and formulation.
OURS = (
    ("GenAlphaI3", "ind3"),
    ("GenAlphaSOI2", "ind3"),
    ("GenAlphaSOI2", "ovstab2"),
    ("HHTI2", "ind3"),
    ("HHTI2", "ovstab2"),
)
PEERS = (("IDA", "ind1"), ("IDA", "ind2"), ("Radau5DAE", "ind1"), ("ODASSL", "ovstab2"))


class Run(NamedTuple):
    """What a run has cost, and how good it is."""

    error: float
    calls: int
    cpu: float


def solver_class(name: str) -> Any:
    """Return a solver class by its name."""
    if name == "IDA":
        from genalpha.assimulo import IDA

        return IDA
    if name in ("Radau5DAE", "ODASSL"):
        import assimulo.solvers

        return getattr(assimulo.solvers, name)
    import genalpha

    return getattr(genalpha, name)


def run(name: str, form: str, mechanism: Any, end: float, tolerance: float, truth: Any) -> Run:
    """Solve one plain problem, and count."""
    from assimulo.problem import Implicit_Problem, Overdetermined_Problem

    own, calls = mechanism.problem(form), 0

    def res(t: float, y: Any, yd: Any) -> Any:
        nonlocal calls
        calls += 1
        return own.res(t, y, yd)

    kind = Overdetermined_Problem if form.startswith("ov") else Implicit_Problem
    problem = kind(res, own.y0, own.yd0, own.t0)
    problem.algvar = own.algvar
    began = time.process_time()
    solver = solver_class(name)(problem)
    solver.verbosity = 50
    solver.rtol, solver.atol = tolerance, np.full(own.y0.size, 0.1 * tolerance)
    if name == "IDA":
        solver.suppress_alg = True
    solver.maxsteps = 5000
    _, y, _ = solver.simulate(end)
    cpu = time.process_time() - began
    error = float(np.max(np.abs(y[-1][: mechanism.n_q] - truth)))
    return Run(error, calls, cpu)


def best(runs: list[Run], error: float) -> Run | None:
    """Return the cheapest run that is good enough."""
    good = [x for x in runs if x.error <= error]
    return min(good, key=lambda x: x.calls, default=None)


def measured(name: str, form: str, mechanism: Any, end: float, truth: Any) -> list[Run]:
    """Return the runs of a solver that succeed, up to the last error that is asked for."""
    runs: list[Run] = []
    for tolerance in TOLERANCES:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            runs.append(run(name, form, mechanism, end, tolerance, truth))
        if runs and runs[-1].error <= ERRORS[-1]:
            break
    return runs


def rows(case: str) -> list[str]:
    """Return the lines of the table for one mechanism."""
    make, end = CASES[case]
    mechanism = make()
    truth = integrate(mechanism, end, "GenAlphaSOI2", rtol=1e-9, atol=1e-11).q[-1]
    found = {key: measured(*key, mechanism, end, truth) for key in (*PEERS, *OURS)}
    lines = []
    for error in ERRORS:
        peers = [x for key in PEERS if (x := best(found[key], error)) is not None]
        calls = min((x.calls for x in peers), default=0)
        cpu = min((x.cpu for x in peers), default=0.0)
        cells = [f"{calls or '–'}"]
        for key in OURS:
            x = best(found[key], error)
            ratio = f"{x.calls} ({x.calls / calls:.1f}; {x.cpu / cpu:.1f})" if x and calls else "–"
            cells.append(ratio)
        lines.append(f"| {case} | {error:.0e} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print the page."""
    warnings.simplefilter("ignore")
    head = " | ".join(f"{name}, {form}" for name, form in OURS)
    print("# What a plain residual costs\n")
    print((__doc__ or "").split("    python")[0].strip().replace("\n\n", "\n\n"))
    print(
        "\nIn brackets: calls, and CPU time, relative to the best of IDA, Radau5DAE and ODASSL "
        "(which need not be the same one). Written by `python -m comparisons.residual_calls`.\n"
    )
    print(f"| mechanism | error of q | best peer | {head} |")
    print("|---|---|---|" + "---|" * len(OURS))
    for case in CASES:
        for line in rows(case):
            print(line, flush=True)


if __name__ == "__main__":
    main()
