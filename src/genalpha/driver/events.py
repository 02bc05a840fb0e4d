"""Event functions of `integrate`: SciPy's conventions, and what an impact does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.march import March
from genalpha.driver.watch import Happening
from genalpha.errors import CallbackError, InconsistentStartError
from genalpha.model import Mechanism
from genalpha.model.given import NO_NUMBERS, real, shown, takes, wrong_call
from genalpha.model.states import with_z
from genalpha.numerics.impulses import velocity_after
from genalpha.numerics.initial_values import project_position

Array = np.ndarray
Function = Callable[[float, Array, Array], float]

#: A position may be moved onto the constraints by this much, relative to its size.
NEARBY = 1e-6


class Impulse(NamedTuple):
    """What the constraints do at once at an impact.

    Attributes
    ----------
    t : float
    event : int
        Number of the event function.
    v_before, v_after : (n,) array
        Velocities before the impact and after it.
    lam, psi : (m,), (l,) array
        Time integrals of the multipliers over the impact, of the constraints after it: they bring
        the velocity that `impact` gave onto the constraints.
    """

    t: float
    event: int
    v_before: Array
    v_after: Array
    lam: Array
    psi: Array


class Events:
    """The event functions, what is known of them, and what has happened.

    Parameters
    ----------
    functions : sequence of callable(t, q, v) -> float
        Each may also take z, if the mechanism has states, and may have the attributes ``terminal``
        (bool, or after how many events it stops the run),
        ``direction`` (-1, 0, 1) and ``impact`` (callable(t, q, v)).
    mechanism : Mechanism, optional
        As the user gave it; matters if it has states.

    Attributes
    ----------
    times, points : list of list
        For each function, its events so far, and (q, v) there, which are (Q, V) with states.
    impulses : list of Impulse
    held : list of int
        The functions of the last impacts, without those that have handed over a mechanism: what
        they have stopped must not go on through zero.
    """

    def __init__(self, functions: Sequence[Function], mechanism: Mechanism | None = None) -> None:
        self.functions = list(functions)
        self.mechanism = mechanism
        self._called = [self._wide(f) for f in self.functions]
        self.times: list[list[float]] = [[] for _ in self.functions]
        self.points: list[list[tuple[Array, Array]]] = [[] for _ in self.functions]
        self.impulses: list[Impulse] = []
        self.held: list[int] = []

    def copy(self) -> Events:
        """Return the same functions and what has happened, to be added to by a longer run."""
        other = Events(self.functions, self.mechanism)
        other.times = [list(times) for times in self.times]
        other.points = [list(points) for points in self.points]
        other.impulses = list(self.impulses)
        return other

    def _wide(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the user's for (t, Q, V)."""
        o = self.mechanism
        return function if o is None or not o.n_z else with_z(function, o.n_q)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the user's functions only."""
        return {key: value for key, value in self.__dict__.items() if key != "_called"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._called = [self._wide(f) for f in self.functions]

    @staticmethod
    def faults(events: Any, has_states: bool = False) -> list[str]:
        """List what is wrong with the events given to `integrate`."""
        found = []
        arguments = "(t, q, v) or (t, q, v, z)" if has_states else "(t, q, v)"
        for i, f in enumerate(events):
            if not callable(f):
                found.append(f"events[{i}] = {shown(f)}; expected a function of {arguments}")
                continue
            impact = getattr(f, "impact", None)
            called = {"event": f, "impact": impact}
            for name, function in called.items():
                fits = takes(function, 3) or (has_states and takes(function, 4))
                if callable(function) and not fits:
                    wanted = "t, q, v, z" if has_states else "t, q, v"
                    which = f"events[{i}]" + (".impact" if name == "impact" else "")
                    found.append(wrong_call(which, function, wanted, name))
            terminal, direction = getattr(f, "terminal", None), getattr(f, "direction", 0.0)
            whole = isinstance(terminal, (bool, int, np.integer, np.bool_))
            if terminal is not None and not (whole and terminal >= 0):
                found.append(f"events[{i}].terminal = {terminal!r}; expected a bool or a count")
            if not (np.ndim(direction) == 0 and np.isreal(direction)):
                found.append(f"events[{i}].direction = {direction!r}; expected -1, 0 or 1")
            if impact is not None and not callable(impact):
                found.append(
                    f"events[{i}].impact = {shown(impact)}; expected a function of {arguments}"
                )
        return found

    def values(self, t: float, q: Array, v: Array) -> list[float]:
        """Return the values of all functions; each gets arrays of its own."""
        return [self._value(i, f, t, q, v) for i, f in enumerate(self._called)]

    @staticmethod
    def _value(i: int, f: Function, t: float, q: Array, v: Array) -> float:
        found: Any = f(t, q.copy(), v.copy())
        if isinstance(found, float):
            return float(found)
        try:
            return float(real(found).reshape(()))
        except NO_NUMBERS as error:
            raise CallbackError(
                f"events[{i}] returned {shown(found)} at t = {t:.9g}; expected one number"
            ) from error

    def note(self, happening: Happening) -> list[int]:
        """Take down an event, and return the functions that wanted it: by their `direction`."""
        wanted = []
        for i, (f, info) in enumerate(zip(self.functions, happening.info, strict=True)):
            if info and getattr(f, "direction", 0) * info >= 0:
                wanted.append(i)
                self.times[i].append(happening.t)
                self.points[i].append((happening.point[1].copy(), happening.point[2].copy()))
        return wanted

    def is_terminal(self, i: int) -> bool:
        """Tell whether the run ends with the last event of a function."""
        terminal = getattr(self.functions[i], "terminal", None) or 0
        return bool(terminal) and len(self.times[i]) >= int(terminal)

    def impact(self, i: int) -> Callable[..., Any] | None:
        """Return the function's impact, if it has one."""
        return getattr(self.functions[i], "impact", None)

    def after(
        self, o: Mechanism, wanted: list[int], t: float, q: Array, v: Array
    ) -> tuple[Mechanism, Array, Array]:
        """Return mechanism, position and velocity after the impacts of some functions, in order."""
        self.held = []
        for i in wanted:
            impact = self.impact(i)
            if impact is None:
                continue
            returned = self._wide(impact)(t, q.copy(), v.copy())
            new, q1, v1 = read_impact(returned, o, q, v, i, f" at t = {t:.9g}")
            q1 = _on_constraints(new, t, q, q1, i)
            try:
                after, lam, psi = velocity_after(new, t, q1, v1)
            except InconsistentStartError as error:
                raise InconsistentStartError(f"events[{i}].impact: {error}") from error
            n = new.n_moving
            self.impulses.append(Impulse(t, i, v[:n], after[:n], lam, psi))
            if not hands_over(returned):
                self.held.append(i)
            o, q, v = new, q1, after
        return o, q, v


def hands_over(found: Any) -> bool:
    """Tell whether an impact has returned a mechanism: the user has said what follows."""
    parts = found if isinstance(found, tuple) else [found]
    return any(isinstance(x, Mechanism) for x in parts)


def read_impact(
    found: Any, o: Mechanism, q: Array, v: Array, i: int, when: str = ""
) -> tuple[Mechanism, Array, Array]:
    """Return mechanism, position and velocity from what an impact has returned.

    That is v, (q, v), a Mechanism, or these with a Mechanism in a tuple; None changes nothing. With
    states also (q, v, z). What is returned is what goes on: with states Q and V, see
    `genalpha.model.states`.
    """
    parts = list(found) if isinstance(found, tuple) else [found]
    mechanisms = [x for x in parts if isinstance(x, Mechanism)]
    parts = [x for x in parts if x is not None and not isinstance(x, Mechanism)]
    new, n = mechanisms[0].widened if mechanisms else o, o.n_moving
    if new.n_q != o.n_q or new.n_states != o.n_states:
        of_states = f" and {new.n_states} states" if new.n_states or o.n_states else ""
        wanted = f" and {o.n_states}" if of_states else ""
        raise CallbackError(
            f"events[{i}].impact returned a mechanism of {new.n_moving} coordinates{of_states}"
            f"{when}; expected {n}{wanted}, as before: coordinates must stay the same, constraints "
            "may change"
        )
    if len(parts) > 1 and all(np.ndim(x) == 0 for x in parts):
        parts = [parts]  # a velocity as a tuple of numbers
    try:
        values = [real(x) for x in parts]
    except NO_NUMBERS:
        values = []
        parts = [found]
    if len(values) == 1 and values[0].shape == (2, n) and n != 2:
        values = list(values[0])
    shapes = {1: [(n,)], 2: [(n,), (n,)], 3: [(n,), (n,), (o.n_states,)]}
    most = 3 if o.n_states else 2
    good = len(values) == len(parts) <= most
    good &= not values or [x.shape for x in values] == shapes.get(len(values))
    if not good or not all(np.isfinite(x).all() for x in values):
        with_states = f", or (q, v, z) with z of shape ({o.n_states},)" if o.n_states else ""
        raise CallbackError(
            f"events[{i}].impact returned {shown(found, 200)}{when}; expected v or (q, v), finite "
            f"and of shape ({n},){with_states}, a Mechanism, or both in a tuple"
        )
    if not values:
        return new, q, v
    if not o.n_states:
        return new, (values[0] if len(values) == 2 else q), values[-1]
    q, v = q.copy(), v.copy()
    if len(values) > 1:
        q[:n] = values[0]
    v[:n] = values[min(1, len(values) - 1)]
    if len(values) == 3:
        v[n:] = values[2]
    return new, q, v


def _on_constraints(o: Mechanism, t: float, before: Array, q: Array, i: int) -> Array:
    """Return a position on the constraints, if it is nearly so already."""
    moved = project_position(o, t, q)
    n = o.n_moving
    if np.abs(moved - q)[:n].max() <= NEARBY * max(1.0, float(np.abs(q[:n]).max())):
        return moved
    moves = not np.array_equal(before, q)
    what = "moves the position" if moves else "hands over a mechanism, and stays"
    worst = o.holonomic(t, q)
    j = int(np.argmax(np.abs(worst)))
    raise InconsistentStartError(
        f"{o.name}: events[{i}].impact at t = {t:.9g} {what} off constraint "
        f"{o.constraint_names[j]}: its residual is {worst[j]:.3e} where 0 is needed"
    )


class Coordinates:
    """A march as event functions see it: points (t, q, v) of its last step."""

    def __init__(self, march: March) -> None:
        self._march = march

    @property
    def t_left(self) -> float:
        """Where the last step began."""
        return self._march.t_left

    @property
    def t(self) -> float:
        """Where it ended."""
        return self._march.t

    def at(self, t: float) -> tuple[float, Array, Array]:
        """Return the motion, interpolated."""
        return self._march.coordinates_at(t)

    def consistent_at(self, t: float) -> tuple[float, Array, Array]:
        """Return the same on the constraints."""
        return self._march.consistent_coordinates_at(t)
