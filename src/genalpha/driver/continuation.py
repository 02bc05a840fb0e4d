"""A run that goes on where it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver.integrate import faults_of_output, faults_of_times, solve
from genalpha.errors import InvalidOptionError, UnsupportedProblemError
from genalpha.model.given import Given

if TYPE_CHECKING:
    from genalpha.driver.solution import Solution


def continued(
    solution: Solution,
    t_final: float,
    t_eval: ArrayLike | None,
    h: float | Sequence[float] | None,
) -> Solution:
    """See `Solution.continued`."""
    origin = solution.origin
    if origin.asked is None:
        raise UnsupportedProblemError(
            f"{type(solution).__name__} cannot be continued; start a run of its own from its end: "
            "integrate(mechanism.replace(t0=solution.t[-1], q0=solution.q[-1], v0=solution.v[-1]), "
            "...)"
        )
    asked = origin.asked
    if h is not None:
        asked = asked._replace(h=h)
    start, end = float(solution.steps[0]), float(solution.steps[-1])
    given = Given("continued")
    times = None if t_eval is None else given.vector("t_eval", t_eval)
    given.faults += faults_of_times(end, t_final, None)
    given.check()
    faults = faults_of_output(times, end, t_final)
    if h is None and isinstance(asked.h, (Sequence, np.ndarray)):
        faults.append("the step sizes were given one by one: give those of the rest, h=[...]")
    else:
        faults += faults_of_times(end, t_final, asked.h)
    if (t_final - end) * (end - start) < 0.0:
        faults.append(
            f"t_final = {t_final!r}; the solution leads from {start:g} to {end:g}: expected a time "
            "beyond its end"
        )
    if faults:
        raise InvalidOptionError("continued", faults)
    return solve(origin.phases[-1][1], t_final, asked, times, origin.events.copy(), solution)
