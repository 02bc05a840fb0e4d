"""Peers that are compared where they are installed: solve-dae."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, ClassVar

from comparisons.names import Form, Setting
from comparisons.solvers.base import Outcome, Solver, Task, Trajectory, register
from comparisons.solvers.scipy_ode import check_end, outcome


class SolveDAE(Solver):
    """A method of solve-dae, which treats every variable as index 1."""

    setting = Setting.TOLERANCE
    forms = (Form.IND3, Form.IND2, Form.IND1, Form.GGL2)
    method: ClassVar[str]

    def missing(self) -> str | None:
        """Tell whether it is installed; the formulations need Assimulo."""
        for module in ("solve_dae", "assimulo"):
            if importlib.util.find_spec(module) is None:
                return f"{module} is not installed"
        return None

    def prepare(self, task: Task) -> Any:
        """Return the problem."""
        return task.mechanism.problem(str(task.form))

    def solve(self, task: Task, prepared: Any) -> Any:
        """Integrate."""
        solve_dae = importlib.import_module("solve_dae.integrate").solve_dae
        found = solve_dae(
            prepared.res, (prepared.t0, task.t_final), prepared.y0, prepared.yd0,
            method=self.method, rtol=task.value, atol=task.value, dense_output=True,
        )  # fmt: skip
        check_end(self.method, found)
        return found, found.sol(task.times)

    def read(self, task: Task, prepared: Any, raw: Any) -> Outcome:
        """Split the states."""
        found, (y, yd) = raw
        samples = Trajectory.of(task.mechanism, task.times, y.T, yd.T)
        return outcome(task.mechanism, samples, found)


@register
class SolveDAERadau(SolveDAE):
    """Radau IIA of order 5."""

    name, method = "solve-dae Radau", "Radau"
    color = "#17becf"


@register
class SolveDAEBDF(SolveDAE):
    """Variable-order BDF."""

    name, method = "solve-dae BDF", "BDF"
    color = "#e377c2"
