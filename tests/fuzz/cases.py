"""A random mechanism as a user would state it, with its truth, and how it is run.

The truth costs more than all the rest, so inputs share it: every `TOGETHER` of them have one model,
which each puts into units of its own, states in its own way and runs with its own options.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

import genalpha
from genalpha import Mechanism, integrate
from tests.fuzz.models import Random, draw, with_redundant_rows
from tests.fuzz.outcome import counted
from tests.fuzz.truth import NoTruthError, Truth, truth_of
from tests.fuzz.units import Units, draw_units

Array = np.ndarray

SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
MATRICES = (
    "mass",
    "holonomic_jacobian",
    "nonholonomic_jacobian",
    "nonholonomic_gradient",
    "stiffness",
    "damping",
)
#: Everything that may be left out.
DERIVATIVES = (
    "holonomic_jacobian",
    "holonomic_rate",
    "holonomic_acceleration",
    "nonholonomic_jacobian",
    "nonholonomic_gradient",
    "nonholonomic_acceleration",
    "stiffness",
    "damping",
)
SPARSE = (sparse.csc_array, sparse.csr_array, sparse.coo_array, sparse.csc_matrix, sparse.lil_array)
#: Sparse inputs take five times as long as others: this many of all.
SPARSE_SHARE = 0.05
#: So many inputs share a model.
TOGETHER = 20
PROBLEMS = ("ind3", "ind2", "ind1", "ggl2", "ovstab2")


@dataclass
class Case:
    """A mechanism with its truth."""

    truth: Truth
    units: Units
    arguments: dict[str, Any]
    words: list[str]
    t_end: float = field(init=False)

    def __post_init__(self) -> None:
        self.t_end = self.units.t0 + self.units.tau * self.truth.t_end

    def mechanism(self, **changes: Any) -> Mechanism:
        """Build it; every callback has a budget of calls."""
        given = {**self.arguments, **changes}
        return Mechanism(**{k: counted(x) if callable(x) else x for k, x in given.items()})


@dataclass
class Motion:
    """A result, whoever made it."""

    t: Array
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array
    exact: bool  # at steps, where constraints hold; not in between


@dataclass
class Run:
    """How a case is integrated."""

    scheme: str
    problem: str  # empty: by `integrate`
    h: float | None
    rtol: float
    options: dict[str, Any]
    output: Array | None

    def __str__(self) -> str:
        by = f"problem {self.problem!r}" if self.problem else "integrate"
        size = f"h = {self.h:.3g}" if self.h else f"rtol = {self.rtol:.1e}"
        more = ", ".join(f"{k} = {x!r:.30}" for k, x in self.options.items() if k != "atol")
        return f"{self.scheme} by {by}, {size}" + (f", {more}" if more else "")


class Source(Random):
    """The random numbers of one input, with the group that it belongs to."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64([seed, 2026]))
        self.group = seed // TOGETHER


@lru_cache(maxsize=4)
def shared_truth(group: int, constrained: bool) -> Truth:
    """Return the model of a group of inputs; models without a truth are passed over."""
    random = np.random.default_rng([group, constrained, 2027])
    while True:
        o = draw(random)
        if constrained and not o.m:
            continue
        t_end = float(random.choice([-1.0, 1.0, 1.0, 1.0]) * random.uniform(0.3, 1.0))
        try:
            return truth_of(o, t_end)
        except NoTruthError:
            continue


def draw_case(random: Source, redundant: bool = False) -> Case:
    """Return a random case; redundant rows do not change the truth."""
    truth = shared_truth(random.group, redundant)
    if redundant:
        truth = replace(truth, model=with_redundant_rows(truth.model, random))
    return _stated(truth, draw_units(truth.model, random), random)


def _stated(truth: Truth, units: Units, random: Random) -> Case:
    """Choose what the user gives, and how."""
    o, given = units.model, units.callbacks()
    chance = random.choice([1.0, 1.0, 0.6, 0.0])
    dropped = {key for key in DERIVATIVES if random.random() > chance}
    dropped |= {key for key in given if "nonholonomic" in key and not o.l}
    dropped |= {key for key in given if key.startswith("holonomic") and not o.m}
    given = {key: x for key, x in given.items() if key not in dropped}
    words = [f"n = {o.n}, m = {o.m}, l = {o.l}"]
    if not np.any(o.M1) and random.random() < 0.8:
        given["mass"] = given["mass"](0.0, np.zeros(o.n))  # constant, and given as such
        words.append("constant mass")
    if random.random() < SPARSE_SHARE:
        for key in MATRICES:
            if key in given:
                given[key] = _sparse(given[key], SPARSE[int(random.integers(len(SPARSE)))])
        words.append("sparse")
    missing = sorted(set(DERIVATIVES) - set(given) - {k for k in dropped if not _applies(k, o)})
    if missing:
        words.append("without " + ", ".join(missing))
    if o.redundant:
        given["redundant"] = "least"
        words.append(f"{o.redundant} redundant rows")
    s, tau = units.s, units.tau
    words.append(f"q ~ {s.min():.1e} to {s.max():.1e}, t ~ {tau:.1e}, mass ~ {units.mu:.1e}")
    start = {"q0": s * o.x0, "v0": s / tau * o.v0, "t0": units.t0}
    return Case(truth, units, {**given, **start}, words)


def _applies(key: str, o: Any) -> bool:
    if key.startswith("nonholonomic"):
        return bool(o.l)
    return bool(o.m) if key.startswith("holonomic") else True


def _sparse(value: Any, kind: Any) -> Any:
    return (lambda *arguments: kind(value(*arguments))) if callable(value) else kind(value)


def draw_run(case: Case, random: Random) -> Run:
    """Choose scheme, steps and output."""
    scheme = str(random.choice(SCHEMES))
    if scheme == "HHTI2" and case.truth.model.m and case.truth.model.l:
        scheme = "GenAlphaSOI2"  # it says that it does not take both kinds of constraints
    fixed = random.random() < 0.4
    # tight ones, which take most of the time, less often
    rtol = float(10.0 ** (-4.0 - 2.5 * random.uniform() ** 2))
    steps = int(random.integers(40, 120))
    h = abs(case.t_end - case.units.t0) / steps if fixed else None
    options: dict[str, Any] = {} if fixed else {"rtol": rtol, "atol": case.units.atol(rtol)}
    problem = ""
    # redundant rows and the problems of Assimulo are two different trials
    if random.random() < 0.2 and not case.truth.model.redundant and genalpha_has_assimulo():
        problem = str(random.choice(PROBLEMS))
        if problem in ("ggl2", "ovstab2") and case.truth.model.l:
            problem = "ind3"
    output = None
    if random.random() < 0.3:
        output = np.sort(random.uniform(0.0, 1.0, 7)) * (case.t_end - case.units.t0)
        output = case.units.t0 + output
    return Run(scheme, problem, h, rtol, options, output)


def genalpha_has_assimulo() -> bool:
    """Tell whether the solver classes can be had."""
    try:
        genalpha.GenAlphaI3  # noqa: B018
    except ImportError:
        return False
    return True


def run_case(case: Case, run: Run, mechanism: Mechanism | None = None) -> Motion:
    """Integrate."""
    o = case.mechanism() if mechanism is None else mechanism
    if run.problem:
        return _simulated(case, run, o)
    found = integrate(o, case.t_end, run.scheme, run.h, t_eval=run.output, **run.options)
    exact = run.output is None
    return Motion(found.t, found.q, found.v, found.vdot, found.lam, found.psi, exact)


def _simulated(case: Case, run: Run, o: Mechanism) -> Motion:
    """The same by a solver class, as a user of Assimulo has it."""
    solver = getattr(genalpha, run.scheme)(o.problem(run.problem))
    solver.verbosity = 50
    solver.h = run.h
    for key, value in run.options.items():
        if key == "atol":
            extra = len(solver.y) - value.size
            value = np.concatenate([value, np.full(extra, value.max())])
        setattr(solver, key, value)
    times = None if run.output is None else list(run.output)
    solver.backward = case.t_end < solver.t
    t, y, yd = solver.simulate(case.t_end, 0, times)
    n, m, l = o.n_q, o.n_lam, o.n_psi  # noqa: E741
    parts = np.split(np.asarray(y), np.cumsum([n, n, m, l]), axis=1)
    return Motion(
        np.asarray(t), parts[0], parts[1], np.asarray(yd)[:, n : 2 * n], parts[2], parts[3],
        run.output is None,
    )  # fmt: skip
