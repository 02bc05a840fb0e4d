"""SciPy's solvers on the index-reduced form: the naive choice."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.integrate import solve_ivp

from comparisons.names import Counter, Form, Setting
from comparisons.solvers.base import Outcome, Solver, Steps, Task, Trajectory, register
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations


class SciPySolver(Solver):
    """A method of `solve_ivp` on q' = v, v' = the acceleration that g'' = 0 and k' = 0 give."""

    setting = Setting.TOLERANCE
    forms = (Form.ODE,)
    method: ClassVar[str]

    def prepare(self, task: Task) -> Any:
        """Return the right-hand side."""
        o = task.mechanism
        guess = o.multiplier_guess()

        def rhs(t: float, y: np.ndarray) -> np.ndarray:
            vdot, _, _ = accelerations(o, t, y[: o.n_q].copy(), y[o.n_q :].copy(), *guess)
            return np.concatenate([y[o.n_q :], vdot])

        return rhs

    def solve(self, task: Task, prepared: Any) -> Any:
        """Integrate."""
        o = task.mechanism
        found = solve_ivp(
            prepared, (o.t0, task.t_final), np.concatenate([o.q0, o.v0]), method=self.method,
            rtol=task.value, atol=task.value, dense_output=True,
        )  # fmt: skip
        check_end(self.method, found)
        return found, found.sol(task.times).T

    def read(self, task: Task, prepared: Any, raw: Any) -> Outcome:
        """Compute accelerations and multipliers, which the ODE does not have."""
        found, y = raw
        o, n = task.mechanism, task.mechanism.n_q
        guess = o.multiplier_guess()
        rest = [
            accelerations(o, t, x[:n].copy(), x[n:].copy(), *guess)
            for t, x in zip(task.times, y, strict=True)
        ]
        vdot, lam, psi = (np.array(part) for part in zip(*rest, strict=True))
        samples = Trajectory(task.times, y[:, :n], y[:, n:], vdot, lam, psi)
        return outcome(o, samples, found)


def check_end(method: str, found: Any) -> None:
    """Raise an error if an integration by SciPy's conventions has not come to its end."""
    if not found.success:
        raise ArithmeticError(f"{method} stopped at t = {found.t[-1]:g}: {found.message}")


def outcome(o: Mechanism, samples: Trajectory, found: Any) -> Outcome:
    """Translate steps and counters of a result by SciPy's conventions."""
    n = o.n_q
    counters: dict[Counter, int | None] = {
        Counter.STEPS: found.t.size - 1,
        Counter.REJECTED: None,
        Counter.RESIDUALS: found.nfev,
        Counter.JACOBIANS: found.njev,
        Counter.FACTORIZATIONS: found.nlu,
        Counter.ITERATIONS: None if found.njev else 0,  # an explicit method has none
    }
    return Outcome(samples, Steps(found.t, found.y[:n].T, found.y[n : 2 * n].T), counters)


@register
class DOP853(SciPySolver):
    """Explicit Runge–Kutta of order 8."""

    name, method = "SciPy DOP853", "DOP853"
    color = "#7f7f7f"


@register
class Radau(SciPySolver):
    """Implicit Runge–Kutta of order 5."""

    name, method = "SciPy Radau", "Radau"
    color = "#bcbd22"
