"""Assimulo's solvers for implicit problems, and IDA, on the formulations of a mechanism."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from comparisons.names import Counter, Form, Setting
from comparisons.solvers.base import (
    Array,
    Outcome,
    Solver,
    Steps,
    Task,
    Trajectory,
    register,
    solver_class,
)
from comparisons.solvers.ours import COLORS

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

    setting = Setting.TOLERANCE
    home: ClassVar[str] = "assimulo.solvers"
    class_name: ClassVar[str]
    unreported: ClassVar[frozenset[Counter]] = frozenset()

    def kind(self) -> Any:
        """Return the class, or raise ImportError or AttributeError."""
        with _quiet():
            return getattr(importlib.import_module(self.home), self.class_name)

    def missing(self) -> str | None:
        """Tell whether Assimulo has the class."""
        try:
            self.kind()
        except (ImportError, AttributeError) as error:
            return f"{self.home}.{self.class_name}: {str(error).splitlines()[0]}"
        return None

    def prepare(self, task: Task) -> Any:
        """Return a solver object with its options set."""
        return self.made(task, task.mechanism.problem(str(task.form)))

    def made(self, task: Task, problem: Any) -> Any:
        """Return a solver object of a problem."""
        solver = self.kind()(problem)
        solver.verbosity = 50  # nothing
        solver.rtol = solver.atol = task.value
        self.configure(solver, task)
        return solver

    def again(self, task: Task) -> Any:
        """Return another solver object for the same run."""
        return self.prepare(task)

    def configure(self, solver: Any, task: Task) -> None:
        """Set further options."""

    def solve(self, task: Task, prepared: Any) -> tuple[Array, Array, Array]:
        """Integrate."""
        t, y, yd = prepared.simulate(task.t_final, 0, task.times)
        return np.array(t), np.array(y), np.array(yd)

    def read(self, task: Task, prepared: Any, raw: tuple[Array, Array, Array]) -> Outcome:
        """Split the states; integrate once more, without output points, to see the steps."""
        counters = {
            ours: None if ours in self.unreported else prepared.statistics[theirs]
            for ours, theirs in STATISTICS.items()
        }
        t, y, yd = _with_start(task, raw)
        at = np.searchsorted(t, task.times - 1e-9 * task.t_final)
        samples = Trajectory.of(task.mechanism, t[at], y[at], yd[at])
        again = self.again(task).simulate(task.t_final)
        whole = Trajectory.of(task.mechanism, *_with_start(task, tuple(np.array(x) for x in again)))
        return Outcome(samples, Steps(whole.t, whole.q, whole.v, whole.z), counters)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Import without the lines that Assimulo prints about what it lacks."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def _with_start(task: Task, raw: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """Restore the first row, which ODASSL overwrites with the last."""
    t, y, yd = raw
    problem = task.mechanism.problem(str(task.form))
    y[0], yd[0] = problem.y0, problem.yd0
    return t, y, yd


class DropIn(AssimuloSolver):
    """A scheme of genalpha as a solver class of Assimulo, on the index-3 form.

    Beside the same scheme through `genalpha.integrate` it shows what Assimulo's way in costs.
    """

    home = "genalpha"
    forms = (Form.IND3,)
    main = False


for _scheme, (_, _color) in COLORS.items():
    _name = f"{_scheme} (Assimulo)"
    register(solver_class(DropIn, _name, class_name=_scheme, color=_color))


@register
class IDA(AssimuloSolver):
    """IDA of SUNDIALS: Assimulo's own where it was built with it, otherwise scikit-sundae's."""

    name = class_name = "IDA"
    forms = (Form.IND3, Form.IND2, Form.IND1, Form.GGL2)
    unreported = frozenset({Counter.FACTORIZATIONS})
    color = "#9467bd"

    def kind(self) -> Any:
        """Return Assimulo's class or ours."""
        try:
            return super().kind()
        except (ImportError, AttributeError):
            return importlib.import_module("genalpha.assimulo").IDA

    def missing(self) -> str | None:
        """Tell whether Assimulo and one of both are there."""
        try:
            if self.kind().__module__.startswith("genalpha"):
                importlib.import_module("sksundae")
        except ImportError as error:
            return f"neither Assimulo's nor scikit-sundae's: {str(error).splitlines()[0]}"
        return None

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
