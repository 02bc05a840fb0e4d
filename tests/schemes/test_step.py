"""A scheme in plain Python, without a .pxd file, runs on the compiled package."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.kernels import plus
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import DEFAULT
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.newton import Newton
from genalpha.schemes.settings import Settings
from genalpha.schemes.step import Step


class Trapezoidal(Step):
    """v1 = v0 + h (f0 + f1) / 2, q1 = q0 + h (v0 + v1) / 2 for a unit mass without constraints."""

    def take(self, state, h):
        self.t, self.q, self.v, self.h = *state, h
        self.f = self.o.force_now(self.t, self.q, self.v)
        self.unknowns = self.v
        self.newton.solve(self)
        v = self.unknowns
        return self.t + h, plus(self.q, 0.5 * h, self.v + v), v

    def correct(self, solvers):
        v = self.unknowns
        q = plus(self.q, 0.5 * self.h, self.v + v)
        r = v - self.v - 0.5 * self.h * (self.f + self.o.force_now(self.t + self.h, q, v))
        d = np.linalg.solve(solvers, -r)
        self.unknowns = v + d
        return (float(np.abs(d).max()) / self.relative,)

    def setup(self):
        K = self.o.stiffness(self.t, self.q, self.v, self.v, *self.o.multiplier_guess())
        return np.eye(self.o.n_q) + 0.25 * self.h**2 * K


def test_a_step_in_plain_python():
    o = Mechanism(force=lambda t, q, v: -4.0 * q, q0=[1.0], v0=[0.5],
                  stiffness=lambda *_: [[4.0]], damping=lambda *_: [[0.0]])  # fmt: skip
    step = Trapezoidal(o, Settings(Coefficients.trapezoidal()), Newton())
    assert (step.o, step.beta, step.relative) == (o, 0.25, DEFAULT)
    state, h = (0.0, o.q0, o.v0), 0.1
    for _ in range(50):
        state = step.take(state, h)
    t, q, v = state
    # the rule keeps the energy, and turns the phase by 2 atan(omega h / 2) in every step
    phase = 50 * 2.0 * np.arctan(h)
    exact = np.cos(phase) + 0.25 * np.sin(phase), -2.0 * np.sin(phase) + 0.5 * np.cos(phase)
    assert t == pytest.approx(5.0)
    assert (q[0], v[0]) == pytest.approx(exact, abs=1e-9)
