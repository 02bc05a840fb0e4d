"""Mechanisms with first-order states: our schemes beside IDA, Radau5DAE and ODASSL.

    python -m comparisons.states

All get the same mechanism, without any derivative beside the constraints' gradient, as an Assimulo
problem in the formulation that suits them, and one tolerance for everything. Errors are those at
the end, relative to the largest value of all components: of q, and of z.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from comparisons import table
from genalpha.mechanisms import catalogue
from genalpha.model import Mechanism

#: Mechanism -> end of the run.
ENDS = {"motor_slider_crank": 0.6, "controlled_pendulum": 1.5, "hydraulic_boom": 0.6}
#: Class -> formulation. Radau5DAE fails on "ind1" with most constraints.
SOLVERS = {
    "GenAlphaI3": "ind3",
    "GenAlphaSOI2": "ind3",
    "HHTI2": "ind3",
    "IDA": "ind1",
    "Radau5DAE": "ggl2",
    "ODASSL": "ovstab2",
}
TOLERANCES = (1e-4, 1e-6)


class Row(NamedTuple):
    """One run; without errors if it failed."""

    mechanism: str
    solver: str
    tolerance: float
    steps: int
    error_q: float
    error_z: float
    seconds: float
    failure: str = ""


def _class(name: str) -> Any:
    import assimulo.solvers

    import genalpha

    if name == "IDA":
        return genalpha.assimulo.IDA
    return getattr(genalpha, name, None) or getattr(assimulo.solvers, name)


def measure(o: Mechanism, name: str, tolerance: float) -> Row:
    """Run a solver, and compare its results with the reference."""
    end = ENDS[o.name]
    problem = o.problem(SOLVERS[name])
    problem.name = o.name
    try:
        solver = _class(name)(problem)
        solver.rtol, solver.verbosity = tolerance, 50
        solver.atol = np.full(problem.y0.size, tolerance)
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, y, _ = solver.simulate(end)
        seconds = time.process_time() - begin
    except Exception as error:
        return Row(o.name, name, tolerance, 0, np.nan, np.nan, np.nan, f"{error}"[:60])
    exact, n = o.reference.motion(end), o.n_q  # type: ignore[union-attr]
    last = np.asarray(y)[-1]
    of_q, of_z = (
        float(np.abs(found - x).max() / np.abs(x).max())
        for found, x in ((last[:n], exact.q), (last[2 * n : 2 * n + o.n_z], exact.z))
    )
    return Row(o.name, name, tolerance, solver.statistics["nsteps"], of_q, of_z, seconds)


def rows() -> Iterator[Row]:
    """Run all solvers on all mechanisms with states."""
    for make in catalogue(states=True).values():
        o = make()
        for tolerance in TOLERANCES:
            for name in SOLVERS:
                yield measure(o, name, tolerance)


HEADER = ("mechanism", "tolerance", "solver", "steps", "error of q", "error of z", "CPU, ms")


def cells() -> list[tuple[str, ...]]:
    """Return the table's rows as text; failures have their reason."""
    found: list[tuple[str, ...]] = []
    for row in rows():
        start = (row.mechanism, f"{row.tolerance:.0e}", f"{row.solver} ({SOLVERS[row.solver]})")
        if row.failure:
            found.append((*start, "fails", row.failure, "", ""))
            continue
        errors = f"{row.error_q:.1e}", f"{row.error_z:.1e}", f"{1e3 * row.seconds:.0f}"
        found.append((*start, str(row.steps), *errors))
    return found


if __name__ == "__main__":
    print(table.markdown(table.grid(HEADER, cells(), left=len(HEADER))))
