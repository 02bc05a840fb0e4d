"""What the harness asks of a solver: one small class per solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from comparisons.names import Counter, Form, Setting
from genalpha.model import Mechanism

Array = np.ndarray

#: First-order states of mechanisms that have none.
NOTHING = np.zeros((0, 0))


class Task(NamedTuple):
    """One run: the mechanism in a formulation, the setting's value, the sample times."""

    mechanism: Mechanism
    form: Form
    value: float
    times: Array

    @property
    def t_final(self) -> float:
        """The end."""
        return float(self.times[-1])


class Trajectory(NamedTuple):
    """A motion at k instants; arrays are (k, n), (k, m), (k, l), those of states (k, s)."""

    t: Array
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array
    z: Array = NOTHING

    @classmethod
    def of(cls, o: Mechanism, t: Array, y: Array, yd: Array) -> Trajectory:
        """Split the states y = [q, v, z, lam, psi, ...] of Assimulo's problems, shape (k, neq)."""
        ends = np.cumsum([o.n_q, o.n_q, o.n_z, o.n_lam, o.n_psi]).tolist()
        q, v, z, lam, psi = np.split(y[:, : ends[-1]], ends[:-1], axis=1)
        return cls(t, q, v, yd[:, o.n_q : 2 * o.n_q], lam, psi, z)


class Steps(NamedTuple):
    """Position, velocity and first-order states at the solver's own steps."""

    t: Array
    q: Array
    v: Array
    z: Array = NOTHING


class Outcome(NamedTuple):
    """What a solver has found, and what it says it cost."""

    samples: Trajectory
    steps: Steps
    counters: dict[Counter, int | None]


class Solver(ABC):
    """A solver, as the harness runs it.

    1. `prepare` is not timed: it makes the solver's own objects, afresh for every run.
    2. `solve` is timed: the integration, with output at the sample times, and nothing else.
    3. `read` is not timed: it translates the result. It may integrate again to find the steps.
    4. A failure is any exception; its message is the reason that tables show.

    Attributes
    ----------
    name : str
        In tables and on the command line.
    setting : Setting
        What decides the accuracy.
    forms : tuple of Form
        The formulations it is tried in.
    order : int or None
        The order that the method promises in all variables; tables flag what falls short of it.
    color : str
        In plots.
    main : bool
        Whether it belongs to the main job, `make compare`.
    """

    name: ClassVar[str]
    setting: ClassVar[Setting]
    forms: ClassVar[tuple[Form, ...]]
    order: ClassVar[int | None] = None
    color: ClassVar[str] = "black"
    main: ClassVar[bool] = True

    def missing(self) -> str | None:
        """Return why the solver cannot run here, or None if it can."""
        return None

    @abstractmethod
    def prepare(self, task: Task) -> Any:
        """Return whatever `solve` needs."""

    @abstractmethod
    def solve(self, task: Task, prepared: Any) -> Any:
        """Integrate."""

    @abstractmethod
    def read(self, task: Task, prepared: Any, raw: Any) -> Outcome:
        """Translate what `solve` returned."""


SOLVERS: dict[str, Solver] = {}

S = TypeVar("S", bound=type[Solver])


def register(kind: S) -> S:
    """Enter a solver class into the comparisons (a class decorator)."""
    SOLVERS[kind.name] = kind()
    return kind


def solver_class(base: type[Solver], name: str, **attributes: Any) -> type[Solver]:
    """Return a class of solvers that differs from its base in a few attributes."""
    return type(name, (base,), {"name": name, "__doc__": base.__doc__, **attributes})
