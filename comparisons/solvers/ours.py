"""The schemes of genalpha, through `genalpha.integrate`."""

from __future__ import annotations

from typing import Any, ClassVar

from comparisons.names import Counter, Form, Knob
from comparisons.solvers.base import Outcome, Solver, Steps, Task, Trajectory, register
from genalpha.driver import Solution, integrate


class Scheme(Solver):
    """A scheme of genalpha with fixed steps."""

    knob = Knob.STEP
    forms = (Form.MECHANISM,)
    order: ClassVar[int | None] = 2
    scheme: ClassVar[str]

    def prepare(self, task: Task) -> dict[str, Any]:
        """Return the arguments that choose the steps."""
        return {"h": task.value}

    def solve(self, task: Task, prepared: dict[str, Any]) -> Solution:
        """Integrate."""
        return integrate(task.mechanism, task.t_final, self.scheme, t_eval=task.times, **prepared)

    def read(self, task: Task, prepared: Any, raw: Solution) -> Outcome:
        """Translate a `Solution`."""
        cost, steps = raw.statistics, raw(raw.steps)
        counters: dict[Counter, int | None] = {
            Counter.STEPS: cost.nsteps,
            Counter.REJECTED: cost.nerrfails + cost.nnfails,
            Counter.RESIDUALS: cost.nfcns,
            Counter.JACOBIANS: cost.njacs,
            Counter.FACTORIZATIONS: cost.nlus,
            Counter.ITERATIONS: cost.nniters,
        }
        samples = Trajectory(raw.t, raw.q, raw.v, raw.vdot, raw.lam, raw.psi)
        return Outcome(samples, Steps(raw.steps, steps.q, steps.v), counters)


class AdaptiveScheme(Scheme):
    """A scheme of genalpha that chooses its steps from a tolerance."""

    knob = Knob.TOLERANCE
    order = None

    def prepare(self, task: Task) -> dict[str, Any]:
        """Return the arguments that choose the steps."""
        return {"h": None, "rtol": task.value, "atol": task.value}


@register
class GenAlphaI3(Scheme):
    """Arnold and Brüls, index 3."""

    name = scheme = "GenAlphaI3"
    color = "#d62728"


@register
class GenAlphaSOI2(Scheme):
    """Jay and Negrut, overdetermined index 2."""

    name = scheme = "GenAlphaSOI2"
    color = "#1f77b4"


@register
class HHTI2(Scheme):
    """Jay and Negrut, extended HHT."""

    name = scheme = "HHTI2"
    color = "#2ca02c"


@register
class GenAlphaI3Adaptive(AdaptiveScheme):
    """Arnold and Brüls with error control."""

    name, scheme = "GenAlphaI3 (adaptive)", "GenAlphaI3"
    color = GenAlphaI3.color


@register
class GenAlphaSOI2Adaptive(AdaptiveScheme):
    """Jay and Negrut with error control."""

    name, scheme = "GenAlphaSOI2 (adaptive)", "GenAlphaSOI2"
    color = GenAlphaSOI2.color


@register
class HHTI2Adaptive(AdaptiveScheme):
    """Extended HHT with error control."""

    name, scheme = "HHTI2 (adaptive)", "HHTI2"
    color = HHTI2.color
