"""`integrate`: a mechanism, a time, a scheme, and the motion comes back."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.events import Events
from genalpha.driver.extrapolation import cheapest, integrate_to_error
from genalpha.driver.hints import tell
from genalpha.driver.knots import Knots
from genalpha.driver.options import DEFAULT_SCHEME, STABILIZED, Options
from genalpha.driver.origin import Asked, Origin
from genalpha.driver.phases import Phases
from genalpha.driver.progress import Bar, Line
from genalpha.driver.progress import progress as shown_progress
from genalpha.driver.repair import repaired
from genalpha.driver.sizes import SMALLEST_SHARE, FixedSteps, GivenSteps, StepSizes
from genalpha.driver.solution import Solution, reached, so_far
from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism
from genalpha.model.equations import Equations
from genalpha.model.given import Given, shown
from genalpha.numerics.accuracy import leading_tolerance
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: Durations whose squares are numbers still.
SHORTEST, LONGEST = 1e-100, 1e100


def integrate(
    mechanism: Mechanism,
    t_final: float | tuple[float, float],
    scheme: str | None = None,
    h: float | Sequence[float] | None = None,
    *,
    t_eval: ArrayLike | None = None,
    events: Any = (),
    repair: bool = False,
    progress: bool = False,
    **options: Any,
) -> Solution:
    """Integrate a mechanism from its start to `t_final`.

    Parameters
    ----------
    mechanism : Mechanism
    t_final : float or (float, float)
        The end, which may lie before the start; or both, if the start is at another time than the
        mechanism's `t0`.
    scheme : str, optional
        "GenAlphaI3", "GenAlphaSOI2" (default) or "HHTI2"; also "StabilizedEuler" and
        "StabilizedRK2", the explicit methods of Mukharlyamov, with options of their own (`gains`,
        ...). With `error`, the default is "HHTI2" with alpha = 0, or "GenAlphaI3" for mechanisms
        that it does not take.
    h : float, sequence of float, or None, optional
        None (default): adaptive steps from `rtol` and `atol`. A float: equal steps of this size
        (its sign does not matter). A sequence: all step sizes, which must add up to the interval.
    t_eval : (k,) array_like, optional
        Times at which the motion is wanted; default: all steps. The steps do not depend on it.
        Of very long runs (20000 steps and 32 MB) only the last steps and those next to these times
        are kept then, so that memory does not grow.
    events : callable(t, q, v) or callable(t, q, v, z) -> float, or sequence of such, optional
        Functions whose zeros are events, as SciPy has them: the attribute ``terminal`` (bool, or
        the number of events after which the run ends) and ``direction`` (-1, 0 or 1: only falling,
        all, only rising zeros, along the run). An attribute ``impact``, callable(t, q, v), says
        what happens at the event: it returns the velocity after it, or (q, v), or (q, v, z), or a
        Mechanism of the same coordinates and states with which the run goes on, or a tuple of
        these. The velocity is then brought onto the constraints along the reactions. See the
        how-to on events.
    repair : bool, optional
        Whether a start off the constraints is moved to the nearest one on them, with a
        `RepairedStartWarning` that says by how much. Default False: it is refused.
    progress : bool, optional
        Whether to show on standard error how far the run is, by tqdm where that is installed.
        Default False.
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
    given = Given("integrate")
    given.must_be("mechanism", mechanism, Equations, _instead(mechanism, t_final))
    o, t_final = _from_interval(mechanism, t_final)
    t_final = _end(given, o.t0, t_final)
    times = None if t_eval is None else given.vector("t_eval", t_eval)
    functions = _functions(given, events)
    faults = given.faults + Events.faults(functions, bool(o.n_z))
    watched = Events([] if faults else functions, o)
    if not faults:
        faults = faults_of_output(times, o.t0, t_final)
    if isinstance(scheme, str) and scheme in STABILIZED:
        if faults:
            raise InvalidOptionError("integrate", faults)
        run = importlib.import_module("genalpha.stabilization.run")
        o = (repaired(o) if repair else o).widened
        with shown_progress(progress, o.name, o.t0, t_final) as display:
            return run.run_stabilized(o, t_final, scheme, h, times, options, watched, display)
    to_error = options.get("error") is not None
    given_scheme = scheme
    if scheme is None:
        scheme = cheapest(o.widened) if to_error else DEFAULT_SCHEME
    checked = Options(scheme, o.widened, **options)
    faults += checked.faults + _faults_of_steps(o.t0, t_final, h)
    if to_error:
        faults += _faults_beside_error(h, progress)
    if faults:
        raise InvalidOptionError("integrate", faults)
    o = (repaired(o) if repair else o).widened
    if to_error:
        try:
            return integrate_to_error(o, t_final, given_scheme, options, times, None, watched)
        except BaseException as error:
            error.solution = None  # type: ignore[attr-defined]  # no run alone is the result
            raise
    with shown_progress(progress, o.name, o.t0, t_final) as display:
        asked = Asked(scheme, h, options)
        return solve(o, t_final, asked, times, watched, checked=checked, display=display)


def _instead(mechanism: Any, t_final: Any) -> str:
    """Say what `integrate` wants where it was given something else."""
    expected = "a genalpha Mechanism"
    if isinstance(t_final, Equations):
        return f"{expected}, first: integrate(mechanism, t_final)"
    if any(hasattr(mechanism, name) for name in ("res", "rhs", "y0")):  # a problem of Assimulo
        return (
            f"{expected}: integrate(mechanism, {t_final!r}). A problem of Assimulo goes to a "
            f"solver class, GenAlphaSOI2(problem).simulate({t_final!r}), or is read as a mechanism "
            "by genalpha.assimulo.mechanism_from_problem(problem)"
        )
    return f"{expected}, as Mechanism(force=..., q0=..., v0=...) makes it"


def _from_interval(o: Mechanism, t_final: Any) -> tuple[Mechanism, float]:
    """Return mechanism and end; of an interval, the mechanism starts where that does."""
    if isinstance(t_final, (tuple, list)) or (isinstance(t_final, np.ndarray) and t_final.ndim):
        try:
            start, t_final = map(float, t_final)
        except (TypeError, ValueError):
            fault = f"t_final = {shown(t_final)}; expected a time, or a pair of times (t0, t_final)"
            raise InvalidOptionError("integrate", [fault]) from None
        o = o if start == o.t0 else o.replace(t0=start)
    return o, t_final


def solve(
    o: Mechanism,
    t_final: float,
    asked: Asked,
    times: Array | None,
    events: Events,
    before: Solution | None = None,
    checked: Options | None = None,
    display: Line | Bar | None = None,
) -> Solution:
    """Integrate with arguments that have been checked.

    Parameters
    ----------
    o : Mechanism
    t_final : float
    asked : Asked
    times : (k,) array or None
        Where the motion is wanted; None: at all steps.
    events : Events
    before : Solution, optional
        A run of `o` up to now, which is to go on; the result has both.
    checked : Options, optional
        The options for `o`, where they have been made from `asked` already.
    display : optional
        Shows how far the run is.
    """
    scheme, h, options = asked
    earlier = o.calls
    counters = Counters() if before is None else copy.deepcopy(before.statistics)
    sizes: StepSizes | None = None

    def phase(mechanism: Mechanism) -> tuple[Options, StepSizes, float | None]:
        nonlocal sizes
        fitting = checked if checked is not None and mechanism is o else None
        fitting = fitting or Options(scheme, mechanism, **options)
        if fitting.faults:
            raise InvalidOptionError("integrate, after an impact", fitting.faults)
        fitting.unequal = np.ndim(h) > 0 and bool(np.ptp(h) > 1e-9 * np.max(np.abs(h)))  # type: ignore[arg-type]
        tolerance = leading_tolerance(fitting.rtol, fitting.atol) if h is None else None
        if sizes is None or (h is None and mechanism is not o):
            sizes = _step_sizes(h, fitting)
        return fitting, sizes, tolerance

    phases = Phases(o, phase, counters, events, times is None, display, times)
    try:
        phases.run(t_final, None if before is None else before.end())
    except BaseException as error:
        error.solution = so_far(  # type: ignore[attr-defined]
            lambda: _solution(phases, times, asked, before)
        )
        raise
    solution = _solution(phases, times, asked, before)
    assert solution is not None  # there is the start
    counters.calls = {
        key: counters.calls.get(key, 0) + count - earlier[key] for key, count in o.calls.items()
    }
    tell(o, counters)
    return solution


def _solution(
    phases: Phases, times: Array | None, asked: Asked, before: Solution | None
) -> Solution | None:
    """Return what the phases have recorded, after what was before."""
    record = phases.record
    if not record.blocks:
        return None
    steps, a = record.times, record.a
    knots: Sequence[Knot] = list(record.knots.values())
    if len(knots) < record.length:
        knots = Knots(record.blocks, record.knots)
    if times is not None:
        times = reached(times, steps)
    origin = Origin(record.mechanisms, phases.events, asked, phases.last, record.gaps)
    counters = phases.march.counters
    if before is None:
        return Solution(phases.mechanism, steps, knots, a, counters, times, origin)
    return before.extended(steps, knots, a, counters, times, origin)


def _step_sizes(h: float | Sequence[float] | None, chosen: Options) -> StepSizes:
    """Return adaptive, given or equal steps."""
    if h is None:
        return AdaptiveSteps.chosen(chosen, chosen.atol)
    return GivenSteps(np.asarray(h)) if np.ndim(h) else FixedSteps(float(h))  # type: ignore[arg-type]


def faults_of_times(t0: float, t_final: Any, h: Any) -> list[str]:
    """List what is wrong with the end and the step sizes."""
    given = Given("integrate")
    end = _end(given, t0, t_final)
    return given.faults or _faults_of_steps(t0, end, h)


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
    interval = abs(t_final - t0)
    smallest = SMALLEST_SHARE * max(interval, abs(t0), abs(t_final))
    if several := np.iterable(h):
        sizes = given.vector("h", h)
        too_small = not sizes.size or bool(np.any(np.abs(sizes) < smallest))
    else:
        too_small = abs(given.number("h", h)) < smallest
    if given.faults or too_small:
        given.faults.clear()
        given.fault("h", h, f"nonzero, finite step sizes, of at least {smallest:.1e}")
    elif several and not abs(np.sum(sizes) - (t_final - t0)) <= 1e-9 * interval:
        given.faults.append(
            f"the step sizes h add up to {np.sum(sizes):.12g}; they must add up to "
            f"t_final - t0 = {t_final - t0:.12g}"
        )
    return given.faults


def _faults_beside_error(h: Any, progress: Any) -> list[str]:
    """List what cannot be had together with a wanted error of the result."""
    faults = []
    if h is not None:
        faults.append(f"error and h = {shown(h)} are given; give one of them")
    if progress:
        faults.append("error and progress are given: how many runs it takes is not known before")
    return faults


def faults_of_output(times: Array | None, t0: float, t_final: float) -> list[str]:
    """List what is wrong with the times at which the motion is wanted."""
    first, last = sorted((t0, t_final))
    # written so that NaN fails too
    if times is None or (
        times.ndim == 1 and times.size and np.all((first <= times) & (times <= last))
    ):
        return []
    return [f"t_eval must be a vector of times in [{first:g}, {last:g}]; it is {shown(times, 200)}"]
