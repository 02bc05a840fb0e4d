"""Stabilized explicit integration, step by step, as `integrate` calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genalpha.driver.solution import Solution
from genalpha.driver.stabilized_options import StabilizedOptions
from genalpha.driver.stabilized_system import Recorder, StabilizedSystem
from genalpha.errors import GenAlphaError, InvalidOptionError
from genalpha.model import Mechanism
from genalpha.numerics.deviation import Deviation, Guarantee
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.stabilization import Gains
from genalpha.schemes.stabilized import Evaluation

Array = np.ndarray


class StabilizedSolution(Solution):
    """A `Solution` with the gains that were used and the deviation from the constraints.

    Attributes
    ----------
    gains : Gains
    deviation : Deviation
        Measured and guaranteed deviations, see `genalpha.numerics.deviation.Deviation`.
    promise : Guarantee or None
        What gains="auto" promised before the run; ``promise.edge`` tells how far off the
        constraints another start may be.
    """

    gains: Gains
    deviation: Deviation
    promise: Guarantee | None


def equal_steps(t: float, t_end: float, h: float) -> Iterator[tuple[float, float]]:
    """Yield sizes of steps and the times at which they end, the last exactly `t_end`.

    The last step is shorter than h, or longer by up to 1 %, if h does not divide the interval.
    """
    count = (t_end - t) / h
    whole = round(count)
    if whole and abs(count - whole) <= 1e-9 * whole:
        h, count = (t_end - t) / whole, float(whole)
    last = max(0, int(np.ceil(count - 0.01)) - 1)
    for i in range(1, last + 1):
        yield h, t + i * h
    yield (h if count == whole else t_end - (t + last * h)), t_end


def _sizes(scheme: str, t0: float, t_final: float, h: Any) -> list[tuple[float, float]]:
    """Return sizes and ends of all steps."""
    faults = []
    if not (np.isfinite(t_final) and t_final > t0):
        faults.append(
            f"t_final = {t_final!r}; expected a time after t0 = {t0:g}: gains pull forward only"
        )
    sizes = np.asarray(np.nan if h is None else h, dtype=float)
    if sizes.ndim > 1 or not sizes.size or not np.all(np.isfinite(sizes) & (sizes > 0.0)):
        faults.append(f"h = {h!r}; expected a positive step size, or a sequence of them")
    elif sizes.ndim and abs(sizes.sum() - (t_final - t0)) > 1e-9 * abs(t_final - t0):
        faults.append(f"the step sizes h add up to {sizes.sum():.12g}, not to t_final - t0")
    if faults:
        raise InvalidOptionError(scheme, faults)
    if not sizes.ndim:
        return list(equal_steps(t0, t_final, float(sizes)))
    ends = t0 + np.cumsum(sizes)
    ends[-1] = t_final
    return list(zip(sizes.tolist(), ends.tolist(), strict=True))


def run_stabilized(
    mechanism: Mechanism,
    t_final: float,
    scheme: str,
    h: float | Sequence[float] | None,
    t_eval: Array | None,
    options: Mapping[str, Any],
) -> StabilizedSolution:
    """Integrate by an explicit scheme that is pulled back to the constraints.

    Parameters
    ----------
    mechanism : Mechanism
        Its start need not satisfy the constraints.
    t_final : float
        After the start.
    scheme : {"StabilizedEuler", "StabilizedRK2"}
    h : float or sequence of float
        Step size, or all step sizes.
    t_eval : (k,) array, optional
        Times at which the motion is wanted; default: all steps.
    options : mapping
        See `StabilizedOptions`: gains, eps, sigma, alpha.
    """
    checked = StabilizedOptions.checked(scheme, options)
    sizes = _sizes(scheme, mechanism.t0, t_final, h)
    largest = max(size for size, _ in sizes)
    system = StabilizedSystem(mechanism, checked, largest, t_final)
    system.check_step(largest, scheme)
    step, recorder = checked.step(), Recorder(system.perturbation, checked.order, system.promise)
    t, x, knots = mechanism.t0, system.x0, []
    try:
        now = system.evaluate(t, x)
        recorder.add(t, 0.0, x, now.deviation)
        knots.append(_knot(system, t, x, now))
        for size, t_next in sizes:
            x, t = step(system.rhs, t, x, now.xdot, size), t_next
            now = system.evaluate(t, x)
            recorder.add(t, size, x, now.deviation)
            knots.append(_knot(system, t, x, now))
            system.counters.nsteps += 1
    except GenAlphaError as error:
        if knots:
            error.solution = _solution(system, knots, recorder, None)  # type: ignore[attr-defined]
        raise
    return _solution(system, knots, recorder, t_eval)


def _knot(system: StabilizedSystem, t: float, x: Array, now: Evaluation) -> Knot:
    n = system.mechanism.n_q
    q, v = x[:n], x[n:]
    return Knot(t, q, v, now.vdot, *system.reduction.expand(t, q, v, now.lam, now.psi))


def _solution(
    system: StabilizedSystem, knots: list[Knot], recorder: Recorder, t_eval: Array | None
) -> StabilizedSolution:
    vdot = [knot.vdot for knot in knots]
    times = [knot.t for knot in knots]
    solution = StabilizedSolution(system.full, times, knots, vdot, system.counters, t_eval)
    solution.gains, solution.promise = system.gains, system.promise
    solution.deviation = recorder.result()
    return solution
