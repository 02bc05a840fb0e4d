"""Everybody on a plain residual: the comparison that somebody makes who swaps a class name.

The problem is an `Implicit_Problem` or `Overdetermined_Problem` with a `res` (and `jac`) that is
counted, and nothing else: no mechanism is behind it, as far as a solver can see. Making the solver
belongs to the run, because ours ask `res` what it is.
"""

from __future__ import annotations

from collections import Counter as Tally
from typing import Any, ClassVar

from comparisons.names import Counter, Form
from comparisons.solvers.assimulo_peers import IDA, ODASSL, AssimuloSolver, DropIn, Radau5DAE
from comparisons.solvers.base import Array, Outcome, Task, register, solver_class
from comparisons.solvers.ours import COLORS


class Run:
    """A plain problem, what it was asked, and, once it runs, the solver."""

    def __init__(self, task: Task, with_jac: bool) -> None:
        from assimulo.problem import Implicit_Problem, Overdetermined_Problem

        own = task.mechanism.problem(str(task.form))
        self.calls: Tally[str] = Tally()
        overdetermined = task.form in (Form.OVSTAB2, Form.OVSTAB1)
        kind = Overdetermined_Problem if overdetermined else Implicit_Problem
        self.problem = kind(self._counted("res", own.res), own.y0, own.yd0, own.t0)
        self.problem.algvar = own.algvar
        self.problem.redundant = task.mechanism.redundant
        if with_jac:
            if not hasattr(own, "jac"):
                raise ValueError("the mechanism does not give the derivatives that jac needs")
            self.problem.jac = self._counted("jac", own.jac)
        self.solver: Any = None

    def _counted(self, name: str, function: Any) -> Any:
        if name == "res":

            def res(t: float, y: Array, yd: Array) -> Array:
                self.calls[name] += 1
                return function(t, y, yd)

            return res

        def jac(c: float, t: float, y: Array, yd: Array) -> Any:
            self.calls[name] += 1
            return function(c, t, y, yd)

        return jac


class OnResidual(AssimuloSolver):
    """A solver on a plain residual, without `jac` or with it; residuals are counted by wrapping."""

    with_jac: ClassVar[bool] = False

    def prepare(self, task: Task) -> Any:
        """Return the problem."""
        return Run(task, self.with_jac)

    def solve(self, task: Task, prepared: Run) -> tuple[Array, Array, Array]:
        """Make the solver, and integrate."""
        prepared.solver = self.made(task, prepared.problem)
        return super().solve(task, prepared.solver)

    def read(self, task: Task, prepared: Run, raw: tuple[Array, Array, Array]) -> Outcome:
        """Count what was called, whatever the solver says."""
        outcome = super().read(task, prepared.solver, raw)
        counters = {**outcome.counters, Counter.RESIDUALS: prepared.calls["res"]}
        if self.with_jac:
            counters[Counter.JACOBIANS] = prepared.calls["jac"]
        return outcome._replace(counters=counters)

    def again(self, task: Task) -> Any:
        """Return a solver of its own, see `AssimuloSolver.read`."""
        return self.made(task, Run(task, self.with_jac).problem)


#: Peers, in the forms that suit them best; all others are in the rows without a residual.
PEERS: dict[type[AssimuloSolver], tuple[Form, ...]] = {
    IDA: (Form.IND1,),
    Radau5DAE: (Form.IND1,),
    ODASSL: (Form.OVSTAB2,),
}


def _enter(base: type[AssimuloSolver], name: str, **attributes: Any) -> None:
    """Register both rows of a solver; the one without `jac` belongs to the main job."""
    for label, with_jac in ((f"{name} (residual)", False), (f"{name} (residual, jac)", True)):
        mixed = type(name, (OnResidual, base), {})
        chosen = {"with_jac": with_jac, "main": not with_jac, **attributes}
        register(solver_class(mixed, label, **chosen))


#: What users have whose solver is to be replaced.
OURS = (Form.IND3, Form.OVSTAB2)

for _scheme, (_, _color) in COLORS.items():
    _enter(DropIn, _scheme, class_name=_scheme, color=_color, forms=OURS)
for _peer, _forms in PEERS.items():
    _enter(_peer, _peer.name, class_name=_peer.class_name, color=_peer.color, forms=_forms)
