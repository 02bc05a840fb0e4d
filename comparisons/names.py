"""The words that records, tables and plots are keyed on: enumerations, so that typos are errors."""

from __future__ import annotations

import hashlib
import re
from enum import Enum


class Word(str, Enum):
    """An enumeration whose members are written as their values."""

    def __str__(self) -> str:
        return str(self.value)


class Setting(Word):
    """What decides how accurate a run is."""

    STEP = "step"
    TOLERANCE = "tolerance"

    @property
    def symbol(self) -> str:
        """The short name, for tables and the command line."""
        return {Setting.STEP: "h", Setting.TOLERANCE: "tol"}[self]


class Form(Word):
    """The formulation a solver is given: the mechanism itself, or an Assimulo problem."""

    MECHANISM = "mechanism"
    IND3 = "ind3"
    IND2 = "ind2"
    IND1 = "ind1"
    GGL2 = "ggl2"
    OVSTAB2 = "ovstab2"
    OVSTAB1 = "ovstab1"
    ODE = "ode"


class Variable(Word):
    """A part of the motion whose error is measured."""

    Q = "q"
    V = "v"
    VDOT = "vdot"
    LAM = "lam"
    PSI = "psi"
    Z = "z"


class Drift(Word):
    """A constraint whose residual is measured: position, its rate, velocity."""

    G = "g"
    G_RATE = "g'"
    K = "k"


class Status(Word):
    """How a run ended."""

    OK = "ok"
    FAILED = "failed"
    TIME_LIMIT = "time limit"
    CRASHED = "crashed"


class Counter(Word):
    """Work that a solver reports of itself; what it does not report is None."""

    STEPS = "steps"
    REJECTED = "rejected"
    RESIDUALS = "residuals"
    JACOBIANS = "jacobians"
    FACTORIZATIONS = "factorizations"
    ITERATIONS = "iterations"


class Flag(Word):
    """What a table must not hide about a series of runs."""

    FAILS = "fails"
    LOW_ORDER = "low order"
    DRIFTS = "drifts"
    MISSES = "misses tolerance"


def file_name(text: str) -> str:
    """Return a name that is safe for a file: `text` itself if it is made of letters, digits, "_-.".

    Names of mechanisms come from records, which anybody may have written: "../x" is no file here.
    A name that had to be changed ends in a digest, so that two of them stay two.
    """
    safe = re.sub(r"[^\w.-]|^\.+", "_", text, flags=re.ASCII)
    return safe if safe == text else f"{safe}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
