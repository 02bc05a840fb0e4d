"""What becomes of each step of a run under Assimulo: a result, or nothing yet.

Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from assimulo.ode import ID_PY_COMPLETE, ID_PY_EVENT, ID_PY_OK

from genalpha.driver.advance import Advance
from genalpha.driver.integration import Keeper
from genalpha.driver.watch import Happening

if TYPE_CHECKING:
    from genalpha.assimulo.running import Running

Array = np.ndarray

#: So many steps are handed over at once, so that memory does not grow with their number.
CHUNK = 1000


class Point(NamedTuple):
    """A result: a time, and independent arrays y and yd."""

    t: float
    y: Array
    yd: Array


class Reports(Keeper):
    """Hands the results of one call of `integrate` over to Assimulo."""

    def __init__(
        self, solver: Running, run: Advance, tf: float, opts: dict[str, Any], found: list[Point]
    ) -> None:
        self._solver, self._run, self._tf, self._opts, self._found = solver, run, tf, opts, found
        self._every = opts["output_list"] is None
        # nobody can look at results before the end
        self._gathers = self._every and not opts["report_continuously"]
        self._counts = not (self._every and solver._counts_from_results)
        if not self._counts:
            solver._steps = 0
        #: What `integrate` returns.
        self.flag = int(ID_PY_COMPLETE)

    def keep(self) -> bool:
        """See `Keeper`."""
        run = self._run
        t = run.t
        last = t == self._tf
        if self._gathers:
            self._found.append(run.at(t))
        elif self._reported(t, last):
            self.flag = int(ID_PY_EVENT)
            return True
        if self._counts:
            self._check(t, last)
        if not last and self._every and len(self._found) >= CHUNK:
            self.flag = int(ID_PY_OK)
            return True
        return False

    def _check(self, t: float, last: bool) -> None:
        """Look whether there were too many steps since the last output point, or the start."""
        solver = self._solver
        if self._every:
            solver._steps += 1
        if solver._steps and not last:
            solver._check_steps(solver._steps, t)

    def _reported(self, t: float, last: bool) -> bool:
        """Hand over a step; tell whether a step event stops the integration."""
        solver = self._solver
        if self._opts["report_continuously"]:
            solver._count()
        passed, stop = solver._report(self._run.at(t), last, self._opts, self._found)
        if not stop and not self._every:
            solver._steps = 0 if passed else solver._steps + 1
        return bool(stop)

    def happened(self, happening: Happening) -> bool:
        """See `Keeper`."""
        solver = self._solver
        solver._count()
        solver.statistics["nstateevents"] += 1
        solver.set_event_info(happening.info)
        solver._switches_before = list(solver._F.switches)
        solver._report(happening.point, True, self._opts, self._found)
        assert solver._pace is not None
        solver._pace.note(happening)
        self.flag = int(ID_PY_EVENT)
        return True
