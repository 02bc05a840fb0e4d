"""The solvers of the comparisons; importing this package registers them, in the order of tables."""

import importlib

from comparisons.solvers.base import SOLVERS, Outcome, Solver, Steps, Task, Trajectory, register

for _module in (
    "ours",
    "stabilized",
    "assimulo_peers",
    "residuals",
    "scipy_ode",
    "optional_peers",
    "exudyn_peer",
):
    importlib.import_module(f"comparisons.solvers.{_module}")

__all__ = ["SOLVERS", "Outcome", "Solver", "Steps", "Task", "Trajectory", "register"]
