"""Orders of extrapolation as they are measured: 4 from three runs, 5 from four.

Errors of q, v, the acceleration and the multipliers that belong to them, the largest over the
second half of the motion, with N and 2 N steps of the coarsest run; on equal steps, and on those of
an adaptive run, smoothed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from comparisons.table import grid as table_of
from comparisons.table import markdown
from genalpha.driver import Options, Stepper, integrate
from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.grid import SmoothGrid
from genalpha.errors import GenAlphaError
from genalpha.mechanisms import catalogue
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.schemes import SCHEMES

Array = np.ndarray

#: Mechanisms whose motion is known at any time, and the fewest steps of their coarsest run, with
#: three columns and with four, whose errors would be rounding with as many.
CASES = {
    "simple_pendulum": (40, 30),
    "spherical_pendulum": (40, 20),
    "driven_pendulum": (40, 16),
    "hht_test": (40, 14),
    "jay_negrut_test": (30, 12),
    "rolling_disk": (30, 10),
    "knife_edge": (30, 10),
    "chaplygin_sleigh": (30, 10),
}
KINDS = ("q", "v", "a", "lam", "psi")
GRIDS = ("equal", "adaptive")
#: Of time.
LENGTH = 0.8
#: Errors below this, relative to the motion, are rounding and have no order.
ROUNDING = 3e-13
#: Tolerance of the adaptive run.
LOOSE = 1e-3


def runs_of(o: Mechanism, scheme: str, grid: str) -> Columns:
    """Return runs of a scheme with its usual coefficients, solved to rounding."""
    options = Options(scheme, o, newton_accuracy=1e-13)
    end = o.t0 + LENGTH
    times = np.array([o.t0, end])
    if grid == "adaptive":
        times = integrate(o, end, "GenAlphaI3", rtol=LOOSE, atol=LOOSE).steps
    start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())
    return Columns(SmoothGrid(times, worth=1.0).times, Stepper(o, options), start, symmetric=False)


def errors(o: Mechanism, runs: Columns, base: int, columns: int) -> dict[str, float]:
    """Return the errors of an extrapolation, relative to the motion."""
    assert o.reference is not None
    q, v = runs.extrapolated(base, range(1, columns + 1))
    found = dict.fromkeys(KINDS, 0.0)
    sizes = dict.fromkeys(KINDS, 0.0)
    for i, t in enumerate(runs.times(base).tolist()):
        if 2 * i < base:
            continue
        exact = o.reference.motion(t)
        vdot, lam, psi = accelerations(o, t, q[i], v[i], exact.lam, exact.psi)
        true = (exact.q, exact.v, exact.vdot, exact.lam, exact.psi)
        for kind, x, y in zip(KINDS, (q[i], v[i], vdot, lam, psi), true, strict=True):
            if np.size(x) and y is not None:
                found[kind] = max(found[kind], float(np.abs(x - y).max()))
                sizes[kind] = max(sizes[kind], float(np.abs(y).max()))
    return {kind: x / sizes[kind] for kind, x in found.items() if sizes[kind]}


def measured(o: Mechanism, scheme: str, grid: str, base: int, columns: int) -> dict[str, float]:
    """Return the orders; NaN where errors are rounding."""
    runs = runs_of(o, scheme, grid)
    coarse, fine = (errors(o, runs, n, columns) for n in (base, 2 * base))
    return {
        kind: float(np.log2(coarse[kind] / fine[kind])) if fine[kind] > ROUNDING else np.nan
        for kind in coarse
    }


def rows(refusals: dict[tuple[str, str], str]) -> Iterator[tuple[str, ...]]:
    """Yield a row per mechanism, scheme and grid: orders from three and from four runs.

    Why a scheme does not take a mechanism goes into `refusals`.
    """
    for name, bases in CASES.items():
        o = catalogue()[name]()
        for scheme in SCHEMES:
            for grid in GRIDS:
                try:
                    three, four = (
                        measured(o, scheme, grid, n, k) for n, k in zip(bases, (3, 4), strict=True)
                    )
                except GenAlphaError as error:
                    refusals[scheme, name] = str(error)
                    yield (name, scheme, grid, "refused", *[""] * (len(KINDS) - 1))
                    continue
                yield (name, scheme, grid, *(_cell(three, four, kind) for kind in KINDS))


def _cell(three: dict[str, float], four: dict[str, float], kind: str) -> str:
    if kind not in three:
        return ""
    return " / ".join("–" if np.isnan(x[kind]) else f"{x[kind]:.1f}" for x in (three, four))


def order_table() -> str:
    """Return the table of all orders."""
    refusals: dict[tuple[str, str], str] = {}
    heads = ("mechanism", "scheme", "steps", *KINDS)
    table = markdown(table_of(heads, rows(refusals), left=3))
    reasons = [f"- {why}." for why in refusals.values()]
    return "\n".join([table, *reasons])
