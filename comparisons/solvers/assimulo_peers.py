"""Assimulo's solvers for implicit problems, and IDA, on the formulations of a mechanism."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from comparisons.names import Counter, Form, Knob
from comparisons.solvers.base import Array, Outcome, Solver, Steps, Task, Trajectory, register

#: Our words for Assimulo's.
STATISTICS = {
    Counter.STEPS: "nsteps",
    Counter.REJECTED: "nerrfails",
    Counter.RESIDUALS: "nfcns",
    Counter.JACOBIANS: "njacs",
    Counter.FACTORIZATIONS: "nlus",
    Counter.ITERATIONS: "nniters",
}


class AssimuloSolver(Solver):
    """A solver class of Assimulo's, or one that is called like them.

    Attributes
    ----------
    home, class_name : str
        Where the class is.
    unreported : frozenset of Counter
        Statistics that the solver leaves at 0 because it does not know them.
    """

    knob = Knob.TOLERANCE
    home: ClassVar[str] = "assimulo.solvers"
    class_name: ClassVar[str]
    unreported: ClassVar[frozenset[Counter]] = frozenset()

    def missing(self) -> str | None:
        """Tell whether Assimulo has the class."""
        try:
            with _quiet():
                getattr(importlib.import_module(self.home), self.class_name)
        except (ImportError, AttributeError) as error:
            return f"{self.home}.{self.class_name}: {str(error).splitlines()[0]}"
        return None

    def prepare(self, task: Task) -> Any:
        """Return a solver object with its options set."""
        kind = getattr(importlib.import_module(self.home), self.class_name)
        solver = kind(task.mechanism.problem(str(task.form)))
        solver.verbosity = 50  # nothing
        solver.rtol = solver.atol = task.value
        self.configure(solver, task)
        return solver

    def configure(self, solver: Any, task: Task) -> None:
        """Set further options."""

    def solve(self, task: Task, prepared: Any) -> tuple[Array, Array, Array]:
        """Integrate."""
        t, y, yd = prepared.simulate(task.t_final, 0, task.times)
        return np.array(t), np.array(y), np.array(yd)

    def read(self, task: Task, prepared: Any, raw: tuple[Array, Array, Array]) -> Outcome:
        """Split the states; integrate once more, without output points, to see the steps."""
        counters = {
            ours: None if ours in self.unreported else _number(prepared.statistics[theirs])
            for ours, theirs in STATISTICS.items()
        }
        t, y, yd = _with_start(task, raw)
        o = task.mechanism
        n, m = o.n_q, o.n_lam
        at = np.searchsorted(t, task.times - 1e-9 * task.t_final)
        t, y, yd = t[at], y[at], yd[at]
        samples = Trajectory(
            t, y[:, :n], y[:, n : 2 * n], yd[:, n : 2 * n],
            y[:, 2 * n : 2 * n + m], y[:, 2 * n + m : 2 * n + m + o.n_psi],
        )  # fmt: skip
        again = self.prepare(task).simulate(task.t_final)
        t, y, _ = _with_start(task, tuple(np.array(x) for x in again))
        return Outcome(samples, Steps(t, y[:, :n], y[:, n : 2 * n]), counters)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Import without the lines that Assimulo prints about what it lacks."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _with_start(task: Task, raw: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """Restore the first row, which ODASSL overwrites with the last."""
    t, y, yd = raw
    problem = task.mechanism.problem(str(task.form))
    y[0], yd[0] = problem.y0, problem.yd0
    return t, y, yd


@register
class IDA(AssimuloSolver):
    """IDA of SUNDIALS, by scikit-sundae."""

    name = class_name = "IDA"
    home = "genalpha.assimulo"
    forms = (Form.IND3, Form.IND2, Form.IND1, Form.GGL2)
    color = "#9467bd"

    def missing(self) -> str | None:
        """Tell whether Assimulo and scikit-sundae are there."""
        if importlib.util.find_spec("sksundae") is None:
            return "scikit-sundae is not installed"
        return super().missing()

    def configure(self, solver: Any, task: Task) -> None:
        """Keep multipliers out of the error test where their index forbids it."""
        solver.suppress_alg = task.form is not Form.IND1


@register
class Radau5DAE(AssimuloSolver):
    """Hairer and Wanner's RADAU5; every variable counts as index 1."""

    name = class_name = "Radau5DAE"
    forms = (Form.IND3, Form.IND2, Form.IND1, Form.GGL2)
    unreported = frozenset({Counter.ITERATIONS})
    color = "#ff7f0e"


@register
class ODASSL(AssimuloSolver):
    """BDF for overdetermined systems."""

    name = class_name = "ODASSL"
    forms = (Form.OVSTAB2, Form.OVSTAB1, Form.IND3, Form.IND2, Form.IND1)
    unreported = frozenset({Counter.ITERATIONS, Counter.FACTORIZATIONS})
    color = "#8c564b"
