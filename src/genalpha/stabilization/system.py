"""A mechanism with its gains, and the record of a run: what stabilized integrations share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from genalpha.errors import CallbackError, ConvergenceError, InvalidOptionError
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.initial_values import project_position, project_velocity
from genalpha.numerics.redundancy import Reduction
from genalpha.stabilization.automatic import automatic_gains
from genalpha.stabilization.deviation import Deviation, Guarantee, deviation_of_run, step_matrix
from genalpha.stabilization.equations import ORDERS, Evaluation, deviation, evaluate, remainders
from genalpha.stabilization.gains import Gains, Perturbation
from genalpha.stabilization.options import StabilizedOptions

Array = np.ndarray

#: States of the pilot motion from which the remainders are taken.
PILOT_STATES = 40


class StabilizedSystem:
    """A mechanism with its gains: the right-hand side of (3.1), and what it costs.

    Parameters
    ----------
    mechanism : Mechanism
        Its start need not satisfy the constraints.
    options : StabilizedOptions
    h, t_final : float, optional
        Step size and end of the run, for gains="auto" only.

    Attributes
    ----------
    mechanism : Mechanism
        Without constraints that depend on others, where the given one allows such.
    gains : Gains
    promise : Guarantee or None
        The bound that goes with gains="auto".
    """

    def __init__(
        self,
        mechanism: Mechanism,
        options: StabilizedOptions,
        h: float | None = None,
        t_final: float | None = None,
    ) -> None:
        self.full, self.options = mechanism, options
        t0, q0, v0 = mechanism.t0, mechanism.q0, mechanism.v0
        self.reduction = Reduction(mechanism, t0, q0, v0)
        self.mechanism = o = self.reduction.mechanism
        self.x0 = np.concatenate([q0, v0])
        self.counters = Counters()
        self.promise: Guarantee | None = None
        self._guess = o.multiplier_guess()
        if isinstance(options.gains, Gains):
            self.gains = options.gains
        elif o.n_lam + o.n_psi == 0:
            self.gains = Gains.none()
        else:
            self.gains, self.promise = self._automatic(h, t_final)
        self.perturbation = self.gains.sized(o.n_lam, o.n_psi)

    def _automatic(self, h: float | None, t_final: float | None) -> tuple[Gains, Guarantee]:
        o, step, x0 = self.mechanism, self.options.step(), self.x0
        faults = []
        if h is None or not h > 0.0:
            faults.append(f"h = {h!r}; gains='auto' needs the step size, positive")
        if t_final is None or not t_final > o.t0:
            faults.append(f"t_final = {t_final!r}; gains='auto' needs the end of the run")
        if faults or h is None or t_final is None:
            raise InvalidOptionError(self.options.scheme, faults)
        states = pilot_states(o, t_final)

        def leftover(gains: Gains) -> Array:
            return remainders(o, gains.sized(o.n_lam, o.n_psi), step, states, h)

        start = deviation(o, o.t0, x0[: o.n_q], x0[o.n_q :])
        sizes = (o.n_lam, o.n_psi)
        return automatic_gains(h, self.options.order, sizes, start, leftover, self.options.bounds)

    def evaluate(self, t: float, x: Array) -> Evaluation:
        """Return (3.1) at x = (q, v), and what else is known there.

        Raises
        ------
        CallbackError
            It is not finite.
        """
        found = evaluate(self.mechanism, self.perturbation, t, x, self._guess)
        if not np.isfinite(found.xdot).all():
            raise CallbackError(
                f"{self.full.name}: the motion is not finite at t = {t:.9g}: a callback returned "
                "NaN or infinity, or the steps are too large"
            )
        self._guess = found.lam, found.psi
        self.counters.nfcns += 1
        self.counters.nlus += 1
        return found

    def rhs(self, t: float, x: Array) -> Array:
        """Return x'."""
        return self.evaluate(t, x).xdot

    def multipliers(self, t: float, x: Array, control: bool = False) -> tuple[Array, Array]:
        """Return lam and psi of all constraints; with `control`, the pull is included."""
        found, o = self.evaluate(t, x), self.mechanism
        mu = np.concatenate([found.lam, found.psi]) + (found.control if control else 0.0)
        q, v = x[: o.n_q], x[o.n_q :]
        return self.reduction.expand(t, q, v, mu[: o.n_lam], mu[o.n_lam :])

    def check_step(self, h: float, scheme: str) -> None:
        """Refuse gains that a scheme with this step size turns into growth."""
        A = self.perturbation.constant
        if A is None or not A.size:
            return
        roots = np.linalg.eigvals(step_matrix(A, h, ORDERS[scheme]))
        radius = float(np.abs(roots).max())
        if radius > 1.0 + 1e-6:
            fault = (
                f"h = {h:.3g} is too large for the gains: a deviation from the constraints would "
                f"grow by the factor {radius:.3g} in each step; take smaller gains or steps"
            )
            raise InvalidOptionError(scheme, [fault])


def pilot_states(o: Mechanism, t_final: float) -> list[tuple[float, Array]]:
    """Return states (t, x) of an accurate motion on the constraints, spread over the run."""
    n = o.n_q

    def projected(t: float, x: Array) -> Array:
        q = project_position(o, t, x[:n])
        return np.concatenate([q, project_velocity(o, t, q, x[n:])])

    still, guess = Gains.none().sized(o.n_lam, o.n_psi), o.multiplier_guess()
    times = np.linspace(o.t0, t_final, PILOT_STATES)
    x0 = projected(o.t0, np.concatenate([o.q0, o.v0]))
    run = scipy.integrate.solve_ivp(
        lambda t, x: evaluate(o, still, t, x, guess).xdot,
        (o.t0, t_final),
        x0,
        t_eval=times,
        rtol=1e-6,
        atol=1e-9,
    )
    if not run.success:
        raise ConvergenceError(
            f"{o.name}: no pilot motion for gains='auto' to t = {t_final:g}: {run.message}; "
            "give gains"
        )
    return [(float(t), projected(t, x)) for t, x in zip(run.t, run.y.T, strict=True)]


class Recorder:
    """Keeps what the theorems need of a run: times, step sizes, states, deviations."""

    def __init__(self, perturbation: Perturbation, order: int, promise: Guarantee | None) -> None:
        self.perturbation, self.order, self.promise = perturbation, order, promise
        self._rows: list[tuple[float, float, Array, Array]] = []

    def add(self, t: float, h: float, x: Array, deviation: Array) -> None:
        """Add the end of a step of size h, or a start (h = 0)."""
        # only gains that vary ask for the state later
        kept = x if self.perturbation.constant is None else x[:0]
        self._rows.append((t, h, kept, deviation))

    def result(self) -> Deviation:
        """Apply Theorem 6 or 7 to what was recorded."""
        t, h = (np.array([row[i] for row in self._rows]) for i in (0, 1))
        values = np.array([row[3] for row in self._rows])
        matrices, which = self._matrices(t, h)
        pattern = self.perturbation.pattern()
        return deviation_of_run(t, h, values, matrices, which, pattern, self.promise)

    def _matrices(self, t: Array, h: Array) -> tuple[Sequence[Array], Array]:
        """Return step matrices, and which of them belongs to the step that ended at each time."""
        A = self.perturbation.constant
        if A is not None:
            sizes, which = np.unique(h, return_inverse=True)
            return [step_matrix(A, float(size), self.order) for size in sizes], which
        n = self._rows[0][2].size // 2
        A_at = [self.perturbation(row[0], row[2][:n], row[2][n:]) for row in self._rows]
        found = [step_matrix(A_at[0], 0.0, self.order)]
        for i in range(1, t.size):
            # A~' by the difference over the step: what it is off by is left to the remainder
            rate = (A_at[i] - A_at[i - 1]) / h[i] if h[i] else None
            found.append(step_matrix(A_at[i - 1], float(h[i]), self.order, rate))
        return found, np.arange(t.size)
