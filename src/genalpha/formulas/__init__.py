"""Mechanisms from formulas of SymPy: derived, written as code, compiled."""

from genalpha.formulas.kane import from_sympy
from genalpha.formulas.lagrange import from_lagrangian

__all__ = ["from_lagrangian", "from_sympy"]
