"""A plugin with deliberately wrong solvers, which tables and plots must expose."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from comparisons.cases import CASES, Case
from comparisons.names import Counter, Form, Setting
from comparisons.solvers import Outcome, Solver, Steps, Task, Trajectory, register
from genalpha.mechanisms import simple_pendulum
from genalpha.numerics.initial_values import accelerations


@register
class ExplicitEuler(Solver):
    """First order, and nothing holds it on the constraints; it claims to be of second order."""

    name = "explicit Euler"
    setting = Setting.STEP
    forms = (Form.ODE,)
    order = 2

    def prepare(self, task: Task) -> None:
        return None

    def solve(self, task: Task, prepared: Any) -> Any:
        o = task.mechanism
        steps = round((task.t_final - o.t0) / task.value)
        times = np.linspace(o.t0, task.t_final, steps + 1)
        motion = [self._state(task, times[0], o.q0, o.v0)]
        for t in times[1:]:
            q, v, vdot = motion[-1][:3]
            motion.append(self._state(task, t, q + task.value * v, v + task.value * vdot))
        return times, [np.array(part) for part in zip(*motion, strict=True)]

    def read(self, task: Task, prepared: Any, raw: Any) -> Outcome:
        times, parts = raw
        at = np.searchsorted(times, task.times - 1e-9)
        samples = Trajectory(times[at], *(part[at] for part in parts))
        counters = dict.fromkeys(Counter) | {Counter.STEPS: times.size - 1}
        return Outcome(samples, Steps(times, parts[0], parts[1]), counters)

    def _state(self, task: Task, t: float, q: Any, v: Any) -> tuple[Any, ...]:
        guess = task.mechanism.multiplier_guess()
        vdot, lam, psi = accelerations(task.mechanism, t, q, v, *guess)
        return q, v, vdot, lam, psi


class Faulty(ExplicitEuler):
    """A solver that goes wrong in `solve`."""

    order = None


@register
class Hangs(Faulty):
    name = "hangs"

    def solve(self, task: Task, prepared: Any) -> Any:
        while True:
            pass


@register
class Crashes(Faulty):
    name = "crashes"

    def solve(self, task: Task, prepared: Any) -> Any:
        print("noise that must not reach the parent")
        os.write(1, b"noise from below Python")
        os._exit(3)


@register
class Raises(Faulty):
    name = "raises"

    def solve(self, task: Task, prepared: Any) -> Any:
        raise ArithmeticError("the step size\nbecame too small")


@register
class NotFinite(Faulty):
    name = "not finite"

    def solve(self, task: Task, prepared: Any) -> Any:
        times, parts = super().solve(task, prepared)
        parts[1][-1] = np.nan
        return times, parts


# a mechanism in one line
CASES["short_pendulum"] = Case("short_pendulum", simple_pendulum, 1.0, 40, levels=3)
