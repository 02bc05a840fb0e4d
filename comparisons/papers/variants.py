"""What the papers offer beside their schemes, solved as printed and measured.

- Jay and Negrut 2008: M_alpha evaluated anew in every step instead of carried on; the implicit
  start (8).
- Jay and Negrut 2007, section 7: the form of Lunk and Simeon for linear reactions.

Equations are those of the papers, solved by Newton's method to rounding errors; nothing of the
schemes of the package is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from comparisons.papers.printed import Point, Row, Step13, first_point, row_of, solved
from comparisons.papers.study import Errors
from genalpha.mechanisms.exponential import jay_negrut_test, jay_test
from genalpha.mechanisms.pendulums import simple_pendulum
from genalpha.mechanisms.stiff_pendulum import pendulum_jn
from genalpha.model import Mechanism
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.initial_values import accelerations

Array = np.ndarray


def run_13(
    o: Mechanism, c: Coefficients, sizes: Sequence[float], start: str, anew: bool
) -> list[Point]:
    """Return all states of a run of (13) with (14).

    Parameters
    ----------
    o : Mechanism
    c : Coefficients
    sizes : sequence of float
    start : "plain", "shifted" or "implicit"
        a := vdot0, the default of the package, or (8).
    anew : bool
        Whether M_alpha is M(t_alpha, q0 + alpha h v0), instead of M_{1+alpha} of the step before.
    """
    alpha, points = c.alpha, [first_point(o, sizes[0], c.alpha)]
    a_old = Ma_old = None
    h_old = sizes[0]
    for h in sizes:
        s = points[-1]
        step = Step13(o, c, s, h)
        a0, Ma0 = s.a, s.Ma
        if a_old is not None:
            ratio = alpha * (h / h_old - 1.0)
            a0, Ma0 = a0 + ratio * (a0 - a_old), Ma0 + ratio * (Ma0 - Ma_old)  # (14)
        elif start == "implicit":
            a0, Ma0 = step.started()
        elif start == "shifted":
            a0, Ma0 = step.shifted()
        if anew:
            Ma0 = o.mass(s.t + alpha * h, s.q + alpha * h * s.v) @ a0
        points.append(step.taken(a0, Ma0))
        a_old, Ma_old, h_old = a0, Ma0, h
    return points


def errors_13(
    o: Mechanism, c: Coefficients, sizes: Sequence[float], points: list[Point], first: int = 1
) -> Errors:
    """Return the largest error of each variable from step `first` on."""
    assert o.reference is not None
    found = dict.fromkeys(("q", "v", "a", "lam", "psi"), 0.0)
    for h, point in list(zip(sizes, points[1:], strict=True))[first - 1 :]:
        true = o.reference.motion(point.t)
        a = o.reference.motion(point.t + c.alpha * h).vdot
        true = true._replace(vdot=a)
        for name in found:
            wanted = getattr(true, "vdot" if name == "a" else name)
            error = float(np.linalg.norm(getattr(point, name) - wanted))
            found[name] = max(found[name], error)
    return {name: value for name, value in found.items() if value > 0.0}


RHO = 0.2
ALPHA = -0.1
COUNTS = (20, 40, 80)


def mass_choices() -> list[Row]:
    """M_alpha carried on and evaluated anew, with alternating steps and mass matrices that vary."""
    rows = []
    c = Coefficients.chung_hulbert(RHO)
    for o in (jay_negrut_test(), jay_test()):
        for anew, name in ((False, "of the step before"), (True, "evaluated anew")):
            found = []
            for count in COUNTS:
                sizes = [1.0 / count / 3.0, 2.0 / count / 3.0] * count
                points = run_13(o, c, sizes, "shifted", anew)
                found.append(errors_13(o, c, sizes, points))
            rows.append(row_of((o.name, name), 1.0 / np.array(COUNTS), found))
    return rows


def starts() -> list[Row]:
    """Kinds of starts: the largest errors of all steps, the first one included."""
    rows = []
    for o, length in ((jay_negrut_test(), 0.5), (pendulum_jn(), 0.05)):
        for label, c in (
            ("rho_inf = 0.2", Coefficients.chung_hulbert(RHO)),
            ("HHT, alpha = -0.1", Coefficients.hht(-0.1)),
        ):
            for start in ("plain", "shifted", "implicit"):
                found = []
                for count in COUNTS:
                    sizes = [length / count] * count
                    found.append(errors_13(o, c, sizes, run_13(o, c, sizes, start, False)))
                rows.append(row_of((o.name, label, start), length / np.array(COUNTS), found))
    return rows


# --------------------------------------------------------- Lunk and Simeon, section 7 of 2007


class Step34(NamedTuple):
    """One step of (3.4) as printed; `one`: q1 has Lambda_0 only, as with Lunk and Simeon."""

    o: Mechanism
    c: Coefficients
    b: float
    one: bool
    t: float
    q: Array
    v: Array
    a: Array
    h: float

    def parts(self, x: Array) -> tuple[Array, ...]:
        """Return q1, v1, Lambda_0, Lambda_1, a1."""
        n, m, alpha = self.o.n_q, self.o.n_lam, self.c.alpha
        q1, v1, L0, L1 = np.split(x, np.cumsum([n, n, m]))
        f0, f1 = self.f(self.t, self.q, self.v), self.f(self.t + self.h, q1, v1)
        return q1, v1, L0, L1, (1.0 + alpha) * f1 - alpha * f0  # (3.4c)

    def residual(self, x: Array) -> Array:
        """Return the residuals of (3.4a), (3.4b), (3.4e)."""
        o, c, b, h, t1 = self.o, self.c, self.b, self.h, self.t + self.h
        q1, v1, L0, L1, a1 = self.parts(x)
        R0, R1 = self.r(self.t, self.q, L0), self.r(t1, q1, L1)  # (3.4d)
        in_q = self.r(t1, q1, L0) if self.one else R1
        newmark = (1.0 - 2.0 * c.beta) * self.a + 2.0 * c.beta * a1 + (1.0 - b) * R0 + b * in_q
        mean = (1.0 - c.gamma) * self.a + c.gamma * a1 + 0.5 * (R0 + R1)
        return np.concatenate(
            [
                (q1 - self.q - h * self.v) / h**2 - 0.5 * newmark,  # (3.4a)
                (v1 - self.v) / h - mean,  # (3.4b)
                o.holonomic(t1, q1) / h**2,  # (3.4e)
                o.holonomic_rate(t1, q1, v1) / h,
            ]
        )

    def f(self, t: float, q: Array, v: Array) -> Array:
        """Return M^-1 force."""
        return np.linalg.solve(self.o.mass(t, q), self.o.force(t, q, v))

    def r(self, t: float, q: Array, L: Array) -> Array:
        """Return M^-1 reaction."""
        reaction = self.o.reaction(t, q, np.zeros(self.o.n_q), L, np.zeros(0))
        return np.linalg.solve(self.o.mass(t, q), reaction)


def errors_34(o: Mechanism, b: float, one: bool, count: int, t_final: float) -> Errors:
    """Return the errors at the end of a run of (3.4), plainly started."""
    c, h = Coefficients.hht(ALPHA), t_final / count
    _, lam, _ = accelerations(o, o.t0, o.q0, o.v0, *o.multiplier_guess())
    step = Step34(o, c, b, one, o.t0, o.q0, o.v0, np.zeros(o.n_q), h)
    step = step._replace(a=step.f(o.t0, o.q0, o.v0))
    L0 = L1 = lam
    for _ in range(count):
        guess = np.concatenate([step.q + h * step.v, step.v, L0, L1])
        q, v, L0, L1, a = step.parts(solved(step.residual, guess))
        step = step._replace(t=step.t + h, q=q, v=v, a=a)
    assert o.reference is not None
    true, middle, then = (
        o.reference.motion(t) for t in (t_final, t_final - 0.5 * h, t_final + ALPHA * h)
    )
    assert then.q is not None
    assert then.v is not None
    differences = {
        "q": step.q - true.q,
        "v": step.v - true.v,
        "a": step.a - step.f(t_final + ALPHA * h, then.q, then.v),
        "mean of Lambda": 0.5 * (L0 + L1) - middle.lam,
    }
    errors = {name: float(np.linalg.norm(x)) for name, x in differences.items()}
    return {name: value for name, value in errors.items() if value > 0.0}  # forces may be constant


def lunk_simeon() -> list[Row]:
    """(3.4) beside the form of Lunk and Simeon, for several b; b = 0 makes them the same."""
    rows = []
    for o, t_final in ((simple_pendulum(), 1.0), (pendulum_jn(), 0.3)):
        for b in (0.0, 1.0 / 3.0, 0.5, 1.0):
            for theirs, name in ((False, "(3.4)"), (True, "Lunk and Simeon")):
                if b == 0.5 and not theirs:
                    continue  # (3.4) excludes it
                found = [errors_34(o, b, theirs, n, t_final) for n in COUNTS]
                rows.append(row_of((o.name, f"{b:.3g}", name), t_final / np.array(COUNTS), found))
    return rows
