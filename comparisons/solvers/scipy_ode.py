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
    """A method of `solve_ivp` on q' = v, v' = the acceleration that g'' = 0 and k' = 0 give.

    First-order states are with the velocities, see `genalpha.model.states`.
    """

    setting = Setting.TOLERANCE
    forms = (Form.ODE,)
    method: ClassVar[str]

    def prepare(self, task: Task) -> Any:
        """Return the right-hand side."""
        o = task.mechanism
        n = o.n_q

        def rhs(t: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n : 2 * n], _accelerations(o, t, y)[0]])

        return rhs

    def solve(self, task: Task, prepared: Any) -> Any:
        """Integrate."""
        o = task.mechanism
        found = solve_ivp(
            prepared, (o.t0, task.t_final), np.concatenate([o.q0, o.v0, o.z0]), method=self.method,
            rtol=task.value, atol=task.value, dense_output=True,
        )  # fmt: skip
        check_end(self.method, found)
        return found, found.sol(task.times).T

    def read(self, task: Task, prepared: Any, raw: Any) -> Outcome:
        """Compute accelerations and multipliers, which the ODE does not have."""
        found, y = raw
        o, n = task.mechanism, task.mechanism.n_q
        rest = [_accelerations(o, t, x) for t, x in zip(task.times, y, strict=True)]
        vdot, lam, psi = (np.array(part) for part in zip(*rest, strict=True))
        q, v, z = y[:, :n], y[:, n : 2 * n], y[:, 2 * n :]
        samples = Trajectory(task.times, q, v, vdot[:, :n], lam, psi, z)
        return outcome(o, samples, found)


def _accelerations(o: Mechanism, t: float, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return accelerations with the rates of states, lam, psi."""
    n = o.n_q
    q = np.append(y[:n], np.zeros(o.n_z))
    return accelerations(o.widened, t, q, y[n:].copy(), *o.multiplier_guess())


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
    q, v, z = (found.y[i : i + k].T for i, k in ((0, n), (n, n), (2 * n, o.n_z)))
    return Outcome(samples, Steps(found.t, q, v, z), counters)


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
