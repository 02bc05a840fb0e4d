"""`integrate`: a mechanism, a time, a scheme, and the motion comes back."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.events import Events
from genalpha.driver.knots import Knots
from genalpha.driver.march import SMALLEST_SHARE, FixedSteps, GivenSteps, StepSizes
from genalpha.driver.options import Options
from genalpha.driver.phases import Phases
from genalpha.driver.solution import Solution, reached, so_far
from genalpha.driver.stepper import Stepper
from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism
from genalpha.model.equations import Equations
from genalpha.model.given import Given
from genalpha.numerics.accuracy import leading_tolerance
from genalpha.numerics.counters import Counters

Array = np.ndarray

#: Methods with a run of their own, which is above this layer and so found by its name.
STABILIZED = ("StabilizedEuler", "StabilizedRK2")
#: Durations whose squares are numbers still.
SHORTEST, LONGEST = 1e-100, 1e100


def integrate(
    mechanism: Mechanism,
    t_final: float,
    scheme: str = "GenAlphaSOI2",
    h: float | Sequence[float] | None = None,
    *,
    t_eval: ArrayLike | None = None,
    events: Any = (),
    **options: Any,
) -> Solution:
    """Integrate a mechanism from its start to `t_final`.

    Parameters
    ----------
    mechanism : Mechanism
    t_final : float
        May lie before the start.
    scheme : str, optional
        "GenAlphaI3", "GenAlphaSOI2" (default) or "HHTI2"; also "StabilizedEuler" and
        "StabilizedRK2", the explicit methods of Mukharlyamov, with options of their own (`gains`,
        ...).
    h : float, sequence of float, or None, optional
        None (default): adaptive steps from `rtol` and `atol`. A float: equal steps of this size
        (its sign does not matter). A sequence: all step sizes, which must add up to the interval.
    t_eval : (k,) array_like, optional
        Times at which the motion is wanted; default: all steps. The steps do not depend on it.
    events : callable(t, q, v) -> float, or sequence of such, optional
        Functions whose zeros are events, as SciPy has them: the attribute ``terminal`` (bool, or
        the number of events after which the run ends) and ``direction`` (-1, 0 or 1: only falling,
        all, only rising zeros, along the run). An attribute ``impact``, callable(t, q, v), says
        what happens at the event: it returns the velocity after it, or (q, v), or a Mechanism of
        the same coordinates with which the run goes on, or a tuple of these. The velocity is then
        brought onto the constraints along the reactions. See the how-to on events.
    **options
        Those of all schemes (`genalpha.driver.options.STEPS`, `NEWTON`) and of the one chosen; the
        API page lists them. The most important: rtol, atol (1e-6 each), rho_inf, maxh,
        newton_accuracy.

    Returns
    -------
    Solution

    Raises
    ------
    GenAlphaError
        When the integration fails. The attribute ``solution`` of this and any other exception that
        passes, Ctrl-C included, has the motion so far (None if there is none).

    Examples
    --------
    >>> import numpy as np
    >>> from genalpha import Mechanism, integrate
    >>> pendulum = Mechanism(force=lambda t, q, v: np.array([0.0, -9.81]), q0=[1, 0], v0=[0, 0],
    ...                      holonomic=lambda t, q: q @ q - 1.0)
    >>> solution = integrate(pendulum, 1.0, rtol=1e-5)
    >>> bool(abs(solution.q[-1] @ solution.q[-1] - 1) < 1e-8)
    True
    """
    o, given = mechanism, Given("integrate")
    given.must_be("mechanism", o, Equations, "a genalpha Mechanism")
    before = o.calls
    t_final = _end(given, o.t0, t_final)
    times = None if t_eval is None else given.vector("t_eval", t_eval)
    functions = _functions(given, events)
    watched = Events(functions)
    faults = given.faults + Events.faults(functions)
    if not faults:
        faults = _faults_of_output(times, o.t0, t_final)
    if isinstance(scheme, str) and scheme in STABILIZED:
        if faults:
            raise InvalidOptionError("integrate", faults)
        run = importlib.import_module("genalpha.stabilization.run")
        return run.run_stabilized(o, t_final, scheme, h, times, options, watched)
    chosen = Options(scheme, o, **options)
    faults += chosen.faults + _faults_of_steps(o.t0, t_final, h)
    if faults:
        raise InvalidOptionError("integrate", faults)
    chosen.unequal = np.ndim(h) > 0 and bool(np.ptp(h) > 1e-9 * np.max(np.abs(h)))  # type: ignore[arg-type]
    tolerance = leading_tolerance(chosen.rtol, chosen.atol) if h is None else None
    counters = Counters()
    sizes = _step_sizes(h, chosen)

    def phase(mechanism: Mechanism) -> tuple[Stepper, StepSizes]:
        if mechanism is o:
            return Stepper(o, chosen, counters, tolerance), sizes
        fitting = Options(scheme, mechanism, **options)
        if fitting.faults:
            raise InvalidOptionError("integrate, after an impact", fitting.faults)
        stepper = Stepper(mechanism, fitting, counters, tolerance)
        return stepper, _step_sizes(h, fitting) if h is None else sizes

    phases = Phases(o, phase, watched, complete=times is None)
    try:
        phases.run(t_final)
    except BaseException as error:
        error.solution = so_far(lambda: _solution(phases, times))  # type: ignore[attr-defined]
        raise
    solution = _solution(phases, times)
    assert solution is not None  # there is the start
    counters.calls = {key: count - before[key] for key, count in o.calls.items()}
    return solution


def _solution(phases: Phases, times: Array | None) -> Solution | None:
    """Return what the phases have recorded."""
    record = phases.record
    if not record.blocks:
        return None
    steps = record.times
    if times is not None:
        times = reached(times, steps)
    complete = len(record.knots) == record.length
    knots = list(record.knots.values()) if complete else Knots(record.blocks, record.knots)
    counters = phases.march.stepper.counters
    return Solution(phases.mechanism, steps, knots, record.a, counters, times, phases.events)


def _step_sizes(h: float | Sequence[float] | None, chosen: Options) -> StepSizes:
    """Return adaptive, given or equal steps."""
    if h is None:
        return AdaptiveSteps.chosen(chosen, chosen.atol)
    return GivenSteps(np.asarray(h)) if np.ndim(h) else FixedSteps(float(h))  # type: ignore[arg-type]


def _end(given: Given, t0: float, t_final: Any) -> float:
    """Return the end, if it can be one."""
    expected = f"a finite time other than t0 = {t0:g}"
    end = given.number("t_final", t_final, expected)
    if end == t0:
        given.fault("t_final", t_final, expected)
    elif not SHORTEST < abs(end - t0) < LONGEST and not np.isnan(end):
        given.fault("t_final", t_final, f"|t_final - t0| between {SHORTEST:g} and {LONGEST:g}")
    return end


def _functions(given: Given, events: Any) -> list[Any]:
    """Return the event functions."""
    if callable(events):
        return [events]
    if isinstance(events, (list, tuple, type(None))):
        return list(events or ())
    given.fault("events", events, "a function of (t, q, v), or a list of such")
    return []


def _faults_of_steps(t0: float, t_final: float, h: Any) -> list[str]:
    """List what is wrong with the step sizes."""
    if h is None:
        return []
    given = Given("integrate")
    sizes = given.vector("h", h) if np.iterable(h) else np.array([given.number("h", h)])
    interval = abs(t_final - t0)
    smallest = SMALLEST_SHARE * max(interval, abs(t0), abs(t_final))
    if given.faults or not sizes.size or np.any(np.abs(sizes) < smallest):
        given.faults.clear()
        given.fault("h", h, f"nonzero, finite step sizes, of at least {smallest:.1e}")
    elif np.iterable(h) and not abs(np.sum(sizes) - (t_final - t0)) <= 1e-9 * interval:
        given.faults.append(
            f"the step sizes h add up to {np.sum(sizes):.12g}; they must add up to "
            f"t_final - t0 = {t_final - t0:.12g}"
        )
    return given.faults


def _faults_of_output(times: Array | None, t0: float, t_final: float) -> list[str]:
    """List what is wrong with the times at which the motion is wanted."""
    first, last = sorted((t0, t_final))
    # written so that NaN fails too
    if times is None or (
        times.ndim == 1 and times.size and np.all((first <= times) & (times <= last))
    ):
        return []
    return [f"t_eval must be a vector of times in [{first:g}, {last:g}]; it is {times!r:.200}"]
