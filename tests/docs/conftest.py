"""Fixtures of the solver classes' tests, for the examples."""

from __future__ import annotations

from tests.assimulo.solvers.conftest import solver_class

__all__ = ["solver_class"]
