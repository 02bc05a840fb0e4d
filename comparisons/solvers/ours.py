"""The schemes of genalpha, through `genalpha.integrate`."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from comparisons.names import Counter, Form, Setting
from comparisons.solvers.base import (
    Outcome,
    Solver,
    Steps,
    Task,
    Trajectory,
    register,
    solver_class,
)
from genalpha.driver import Solution, integrate
from genalpha.schemes import SCHEMES

#: `integrate` takes no larger wanted error.
LARGEST_ERROR = 0.1


class Scheme(Solver):
    """A scheme of genalpha with fixed steps."""

    setting = Setting.STEP
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
        cost = raw.statistics
        steps: Any = raw(raw.steps)
        counters: dict[Counter, int | None] = {
            Counter.STEPS: cost.nsteps,
            Counter.REJECTED: cost.nerrfails + cost.nnfails,
            Counter.RESIDUALS: cost.nfcns,
            Counter.JACOBIANS: cost.njacs,
            Counter.FACTORIZATIONS: cost.nlus,
            Counter.ITERATIONS: cost.nniters,
        }
        samples = Trajectory(raw.t, raw.q, raw.v, raw.vdot, raw.lam, raw.psi, raw.z)
        of_states = (steps.z,) if task.mechanism.n_z else ()
        return Outcome(samples, Steps(raw.steps, steps.q, steps.v, *of_states), counters)


class AdaptiveScheme(Scheme):
    """A scheme of genalpha that chooses its steps from a tolerance."""

    setting = Setting.TOLERANCE
    order = None

    def prepare(self, task: Task) -> dict[str, Any]:
        """Return the arguments that choose the steps."""
        return {"h": None, "rtol": task.value, "atol": task.value}


class ExtrapolatedScheme(Scheme):
    """A scheme of genalpha that is run several times, to an error of the result."""

    setting = Setting.TOLERANCE
    order = None
    main = False

    def prepare(self, task: Task) -> dict[str, Any]:
        """Return the wanted error."""
        return {"error": min(task.value, LARGEST_ERROR)}


#: Strong and light colours of the schemes, in the order of `SCHEMES`; a sixth begins again.
PALETTE = (
    ("#d62728", "#f4a582"),
    ("#1f77b4", "#92c5de"),
    ("#2ca02c", "#98df8a"),
    ("#e7298a", "#f1b6da"),
    ("#a6761d", "#dfc27d"),
)
COLORS = dict(zip(SCHEMES, itertools.cycle(PALETTE), strict=False))

for _kind, _name in (
    (Scheme, "{}"),
    (AdaptiveScheme, "{} (adaptive)"),
    (ExtrapolatedScheme, "{} (error)"),
):
    for _scheme, (_color, _) in COLORS.items():
        register(solver_class(_kind, _name.format(_scheme), scheme=_scheme, color=_color))
