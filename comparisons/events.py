"""The same scripts with events in every solver: which impacts each finds, what it does then.

A ball falls from 1 m onto a floor, g = y. Handlers are what new users write. Run as
``python -m comparisons.events``; with ``--docs`` the page of the documentation is written.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from comparisons.table import grid, markdown

PAGE = Path(__file__).parents[1] / "docs/pages/events.md"
GRAVITY, END = 10.0, 5.0
FALL = np.sqrt(2.0 / GRAVITY)
#: So many events of one run are taken for a loop.
LOOP = 400
INTRODUCTION = """\
# Events in every solver

A ball falls from 1 m onto a floor; the event function is its height, the handlers are what new
users write. All solvers get the same Assimulo problem, a plain `Implicit_Problem` with
y = [height, velocity] (tolerances 1e-8; `genalpha.integrate` gets the same functions). "n of m" are
the events within 1e-6 of the exact ones, of those that there are in 5 s down to waits of a
nanosecond; a ball that loses speed has infinitely many, and "comes to rest" says how fast it was
when the solver said so. After `v = 0` it rests at once; gravity would pull it through the floor.

`IDA` is SUNDIALS through scikit-sundae, with genalpha's own search for events. `Radau5DAE` and
`ODASSL` are those of Assimulo {version}; ODASSL has no state events, Radau5DAE looks at the ends of
steps only. Written by `python -m comparisons.events --docs`.

"""


def _looking(y: np.ndarray) -> None:
    if y[1] < 0.0:
        y[1] *= -0.5


def _absolute(y: np.ndarray) -> None:
    y[0], y[1] = 0.0, abs(y[1])


def _damped(y: np.ndarray) -> None:
    y[0], y[1] = 0.0, 0.8 * abs(y[1])


def _blind(y: np.ndarray) -> None:
    y[1] = -y[1]


def _plastic(y: np.ndarray) -> None:
    y[1] = 0.0


def _nothing(y: np.ndarray) -> None:
    pass


#: Text, what happens, and the factor of the speed (None: not this ball).
HANDLERS: list[tuple[str, Callable[[np.ndarray], None], float | None]] = [
    ("`if v < 0: v = -.5 v`", _looking, 0.5),
    ("`y = 0; v = abs(v)`", _absolute, 1.0),
    ("`y = 0; v = .8 abs(v)`", _damped, 0.8),
    ("`v = -v`", _blind, 1.0),
    ("`v = 0`", _plastic, 0.0),
    ("g = sin(1e4 t), 0.05 s", _nothing, None),
]


def exact_times(factor: float | None) -> np.ndarray:
    """Return the exact times of the events, down to waits of a nanosecond."""
    if factor is None:
        return np.pi / 1e4 * np.arange(1, 160)
    times, wait = [FALL], 2.0 * FALL * factor
    while times[-1] + wait < END and wait > 1e-9:
        times.append(times[-1] + wait)
        wait *= factor
    return np.array(times)


class Run:
    """One script in one solver."""

    def __init__(self, handler: Callable[[np.ndarray], None], factor: float | None) -> None:
        self.handler, self.factor = handler, factor
        self.end = END if factor is not None else 0.05
        self.times: list[float] = []
        self.lowest, self.speed, self.verdict = 0.0, np.inf, ""

    def gap(self, t: float, height: float) -> float:
        """Return the event function."""
        return height if self.factor is not None else float(np.sin(1e4 * t))

    def happened(self, t: float, y: np.ndarray) -> bool:
        """Note an event and change the state; tell whether there were too many."""
        self.times.append(t)
        self.speed = abs(float(y[1]))
        self.handler(y)
        return len(self.times) >= LOOP

    def summary(self) -> str:
        """Say what came out."""
        truth = exact_times(self.factor)
        found = np.array(self.times)
        right = sum(bool(np.any(np.abs(found - t) < 1e-6)) for t in truth) if found.size else 0
        double = len(found) - len(np.unique(np.round(found, 9)))
        waits = np.diff(found[-20:])
        text = f"{right} of {len(truth)}"
        if len(found) >= LOOP and np.all(waits < 1e-9):
            return f"{text}, then loops"
        if self.factor is not None and self.lowest < -1e-3:
            return f"{text}, then through the floor"
        if self.verdict:
            return f"{text}{self.verdict.format(speed=self.speed)}"
        return f"{text}, {double} double" if double > 0 else text


def in_assimulo(solver_class: Callable[[Any], Any], run: Run) -> str:
    """Run a script in a solver class of Assimulo's kind."""
    from assimulo.exception import TerminateSimulation
    from assimulo.problem import Implicit_Problem

    from genalpha.errors import AccumulatingEventsError

    def handle_event(solver: Any, info: Any) -> None:
        if run.happened(solver.t, solver.y):
            raise TerminateSimulation

    problem = Implicit_Problem(
        lambda t, y, yd, sw=None: np.array([yd[0] - y[1], yd[1] + GRAVITY]),
        [1.0, 0.0],
        [0.0, -GRAVITY],
        name="ball",
    )
    problem.state_events = lambda t, y, yd, sw: np.array([run.gap(t, y[0])])
    problem.handle_event = handle_event
    try:
        solver = solver_class(problem)
        solver.verbosity, solver.rtol, solver.atol = 50, 1e-8, 1e-8
        _, y, _ = solver.simulate(run.end)
        run.lowest = float(np.min(y[:, 0]))
    except AccumulatingEventsError:
        run.verdict = ", then says that it comes to rest" + " (at {speed:.1e} m/s)" * bool(
            run.factor
        )
    except Exception as error:
        run.verdict = f", then {type(error).__name__}: {str(error).splitlines()[0][:60]}"
    return run.summary()


def in_integrate(run: Run) -> str:
    """Run a script in `genalpha.integrate`."""
    from genalpha import Mechanism, integrate
    from genalpha.errors import AccumulatingEventsError

    def event(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return run.gap(t, float(q[0]))

    def impact(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = np.array([q[0], v[0]])
        run.happened(t, y)
        return y[:1], y[1:]

    event.impact = impact  # type: ignore[attr-defined]
    o = Mechanism(force=lambda t, q, v: np.array([-GRAVITY]), q0=[1.0], v0=[0.0], name="ball")
    try:
        run.lowest = float(integrate(o, run.end, rtol=1e-8, atol=1e-8, events=[event]).q.min())
    except AccumulatingEventsError:
        run.verdict = ", then says that it comes to rest" + " (at {speed:.1e} m/s)" * bool(
            run.factor
        )
    return run.summary()


def rows() -> list[list[str]]:
    """Return one row per solver, one column per script."""
    from assimulo.solvers import ODASSL, Radau5DAE

    from genalpha.assimulo import IDA
    from genalpha.assimulo import solvers as ours
    from genalpha.schemes import SCHEMES

    classes: list[Any] = [getattr(ours, name) for name in SCHEMES] + [IDA, Radau5DAE, ODASSL]
    found = [["`integrate`", *(in_integrate(Run(f, e)) for _, f, e in HANDLERS)]]
    for made in classes:
        cells = [in_assimulo(made, Run(f, e)) for _, f, e in HANDLERS]
        found.append([f"`{made.__name__}`", *cells])
    return found


def main() -> None:
    """Print the table, or write the page."""
    from assimulo import __version__ as version

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = grid(["solver", *(text for text, _, _ in HANDLERS)], rows(), left=7)
    text = markdown(table)
    if arguments.docs:
        PAGE.write_text(INTRODUCTION.format(version=version) + text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
