"""The kinds of inputs: each draws one from random numbers, runs it and says how it ended."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import genalpha
from genalpha import consistent_initial_values, integrate
from genalpha.driver.options import options_of
from genalpha.errors import GenAlphaError, RedundantConstraintsError
from genalpha.schemes import SCHEMES as CLASSES_OF_SCHEMES
from tests.fuzz import event_cases, judge
from tests.fuzz.cases import (
    Case,
    Motion,
    Run,
    Source,
    draw_case,
    draw_run,
    genalpha_has_assimulo,
    run_case,
)
from tests.fuzz.faults import RECOVERABLE, Faulty, Meddling, draw_fault
from tests.fuzz.garbage import draw_value
from tests.fuzz.models import Random
from tests.fuzz.outcome import REFUSED, UNCLEAR, Outcome, counted, ended, of_ours

Ended = tuple[str, str]


def motion(random: Source) -> Outcome:
    """A healthy mechanism."""
    case = draw_case(random)
    return _ran("motion", case, draw_run(case, random))


def redundant(random: Source) -> Outcome:
    """Constraint rows that depend on others; by default an error has to name them."""
    case = draw_case(random, redundant=True)
    run = draw_run(case, random)
    if random.random() < 0.7:
        return _ran("redundant rows", case, run)
    case.arguments["redundant"] = "error"

    def is_clear(error: BaseException) -> str:
        if not isinstance(error, RedundantConstraintsError):
            raise LookupError
        return "" if "g[" in str(error) else "the row"

    result = ended(
        lambda: run_case(case, run), lambda found: "redundant rows were accepted", is_clear
    )
    return _outcome("redundant rows", case, run, "refused by default", result)


def contradiction(random: Source) -> Outcome:
    """Constraints that hold at the start and cannot all hold later."""
    case = draw_case(random, redundant=True)
    run = draw_run(case, random)
    holonomic, o = case.arguments["holonomic"], case.units
    leaves = float(random.uniform(0.0, 0.5)) * case.truth.t_end

    def contradicting(t: float, q: np.ndarray) -> np.ndarray:
        value = np.array(holonomic(t, q))
        late = max(0.0, abs((t - o.t0) / o.tau) - abs(leaves))
        value[-1] += o.R[-1] * late**3  # smooth, and zero with its rate where it begins
        return value

    case.arguments["holonomic"] = contradicting
    for key in ("holonomic_rate", "holonomic_acceleration"):
        case.arguments.pop(key, None)
    result = ended(
        lambda: run_case(case, run),
        lambda found: "no motion satisfies these constraints, and one came back",
        of_ours(r"g\[|constraint"),
    )
    return _outcome("contradiction", case, run, f"from {leaves:.2g} on", result)


def fault(random: Source) -> Outcome:
    """A callback that misbehaves from some time on, or once."""
    case = draw_case(random)
    run = draw_run(case, random)
    names = [key for key, x in case.arguments.items() if callable(x)]
    name = str(random.choice(names))
    family, what, defect = draw_fault(random)
    when: float = case.units.t0 + float(random.uniform(-0.2, 0.9)) * (case.t_end - case.units.t0)
    if random.random() < 0.3:
        when = int(random.integers(1, 60))
    if name.endswith("holonomic") and "value" in what:  # their number at the start is that of rows
        when = int(random.integers(3, 60))
    healthy, function = replace(case, arguments=dict(case.arguments)), case.arguments[name]
    backward = case.t_end < case.units.t0
    wrapped: Any = (
        Meddling(function) if family == "meddles" else Faulty(function, defect, when, backward)
    )
    case.arguments[name] = wrapped
    # a fault compares times: neither of the two can be differentiated by complex numbers
    healthy.arguments[name] = Faulty(function, lambda x: x, when, backward)
    # what is differenced is named by what it is differenced from
    words = rf"\b{name}\b"
    ours = of_ours(words)

    def is_clear(error: BaseException) -> str:
        if family == "raises":
            return _raised(error, defect, name)
        if family == "meddles" and isinstance(error, ValueError) and "read-only" in str(error):
            return ""
        return ours(error)

    def wrong(motion: Motion) -> str:
        found = judge.faults(case, run, motion)
        # right numbers, however they are dressed
        return "" if family == "clothes" and found and judge.too_coarse(healthy, run) else found

    result = ended(lambda: run_case(case, run), wrong, is_clear)
    found = _outcome("faulty callback", case, run, f"{name}: {what} at {when:.4g}", result)
    if family == "clothes" and found.ended == UNCLEAR:
        # right numbers: does the same come about without them? then it is not about the callback
        without = _ran("", healthy, run)
        if without.ended == REFUSED and _kind_of(without.detail) == _kind_of(found.detail):
            return replace(found, ended=REFUSED, detail=without.detail, healthy=True)
    return found


def _kind_of(detail: str) -> str:
    """Return the name of the error in what is told of it."""
    found = re.search(r"\w+Error", detail)
    return found[0] if found else ""


def _raised(error: BaseException, original: BaseException, name: str) -> str:
    """A user's exception passes unchanged; an arithmetical one may be the cause of ours."""
    if error is original:
        return ""
    if not isinstance(original, RECOVERABLE) or not isinstance(error, GenAlphaError):
        raise LookupError
    return "" if str(original) in str(error) else "the message of the callback's own error"


def arguments(random: Source) -> Outcome:
    """Garbage in place of one argument of something public."""
    case = draw_case(random)
    run = draw_run(case, random)
    value = draw_value(random)
    target = str(random.choice(["Mechanism", "integrate", "consistent_initial_values", "solver"]))
    if target == "solver" and not genalpha_has_assimulo():
        target = "integrate"
    name, call = GARBAGE[target](case, run, value, random)
    if target == "Mechanism" and isinstance(value, (int, float)) and name == "t0":
        name += "|t_final"  # a start behind the end is a fault of both

    if name == "t_final":
        name += (
            "|maxsteps"  # the number of steps that is given here, and that it may ask for more of
        )

    # a start that the garbage has moved off a constraint is named by the constraint
    words = rf"\b({name})\b|violates .*constraint|free components|corrections"
    result = ended(call, _plausible, of_ours(words, time=False))
    return _outcome("garbage argument", case, run, f"{target}: {name} = {value!r:.60}", result)


def _plausible(found: Any) -> str:
    """Say what is wrong with the result of arguments that were accepted: nothing is known of it."""
    values = found if isinstance(found, tuple) else (found.q, found.v)
    return "" if all(np.isfinite(np.asarray(x, dtype=float)).all() for x in values) else "nonsense"


def _of_mechanism(case: Case, run: Run, value: Any, random: Random) -> tuple[str, Any]:
    names = ["mass", "force", "q0", "v0", "t0", "holonomic", "holonomic_jacobian", "holonomic_rate",
             "nonholonomic", "nonholonomic_jacobian", "nonholonomic_gradient", "reaction",
             "reaction_jacobian", "stiffness", "damping", "holonomic_acceleration", "redundant",
             "nonholonomic_acceleration", "energy", "lam0", "psi0", "name", "constraint_names",
             "sparsity", "reference"]  # fmt: skip
    name = str(random.choice(names))

    def call() -> Any:
        o = case.mechanism(**{name: value})
        return integrate(o, o.t0 + 0.1 * (case.t_end - case.units.t0), h=0.02 * case.units.tau)

    return name, call


def _of_integrate(case: Case, run: Run, value: Any, random: Random) -> tuple[str, Any]:
    options = [x.name for x in options_of(CLASSES_OF_SCHEMES[run.scheme])]
    name = str(random.choice(["mechanism", "t_final", "scheme", "h", "t_eval", "events", *options]))
    given = {
        "t_final": case.t_end,
        "scheme": run.scheme,
        "h": run.h,
        "maxsteps": 3000,
        **run.options,
    }

    def call() -> Any:
        if name == "t_final" and _is_far(value):
            given["h"] = None  # otherwise it asks for as many steps, and gets them
        o = value if name == "mechanism" else case.mechanism()
        return integrate(
            **{"mechanism": o, **given, **({} if name == "mechanism" else {name: value})}
        )

    return name, call


def _is_far(value: Any) -> bool:
    try:
        return not abs(float(value)) < 100.0
    except (TypeError, ValueError, OverflowError):
        return False


def _of_initial_values(case: Case, run: Run, value: Any, random: Random) -> tuple[str, Any]:
    names = ["mechanism", "t0", "q0", "v0", "lam0", "psi0", "fixed_q", "fixed_v"]
    name = str(random.choice(names))

    def call() -> Any:
        o = value if name == "mechanism" else case.mechanism()
        found = consistent_initial_values(o, **({} if name == "mechanism" else {name: value}))
        return found.q, found.v

    return name, call


def _of_solver(case: Case, run: Run, value: Any, random: Random) -> tuple[str, Any]:
    options = [x.name for x in options_of(CLASSES_OF_SCHEMES[run.scheme])]
    name = str(random.choice(["problem", *options, *options]))

    def call() -> Any:
        kind = getattr(genalpha, run.scheme)
        solver = kind(value if name == "problem" else case.mechanism().problem())
        solver.verbosity, solver.maxsteps = 50, 3000
        solver.backward = case.t_end < solver.t
        solver.h = run.h
        setattr(solver, name, value)
        _, y, yd = solver.simulate(solver.t + 0.1 * (case.t_end - solver.t))
        return y, yd

    return name, call


GARBAGE: dict[str, Callable[..., tuple[str, Any]]] = {
    "Mechanism": _of_mechanism,
    "integrate": _of_integrate,
    "consistent_initial_values": _of_initial_values,
    "solver": _of_solver,
}


def options(random: Source) -> Outcome:
    """Random values of all options: allowed ones must not spoil the motion, others are refused."""
    case = draw_case(random)
    run = draw_run(case, random)
    declared = {x.name: x for x in options_of(CLASSES_OF_SCHEMES[run.scheme])}
    size = 2 * case.units.model.n + case.units.model.m + case.units.model.l
    owner = type("Owner", (), {"size": size})
    chosen: dict[str, Any] = {}
    bad = []
    leave = {"h", "rtol", "atol", "coefficients"}
    for name in random.choice(sorted(set(declared) - leave), int(random.integers(1, 5)), False):
        good, wrong = declared[name].kind.examples(owner)
        if wrong and random.random() < 0.2:
            chosen[name] = wrong[int(random.integers(len(wrong)))]
            bad.append(str(name))
        elif good:
            chosen[name] = good[int(random.integers(len(good)))]
    # these are in units of the motion, and examples do not know them
    for name in ("inith", "maxh", "newton_accuracy"):
        if name in chosen and name not in bad:
            factor = 1e-7 if name == "newton_accuracy" else case.units.tau * 0.1
            chosen[name] = factor * float(random.uniform(0.2, 1.0))
    for name in ("maxsteps", "max_iterations"):
        if name in chosen and name not in bad:
            chosen[name] = {"maxsteps": 30_000, "max_iterations": 15}[name]
    run.options.update(chosen)
    bad += [x for x in _excluded(case, run) if x not in bad]
    words = [rf"\b{x}\b" for x in (bad or chosen)]

    def wrong_motion(found: Motion) -> str:
        return f"{bad} were accepted" if bad else _wrong(case, run, found)

    result = ended(lambda: run_case(case, run), wrong_motion, of_ours(*(words if bad else [])))
    return _outcome("options", case, run, "", result, healthy=not bad)


def _excluded(case: Case, run: Run) -> list[str]:
    """Return good values that must be refused because of what else is chosen."""
    if run.scheme != "GenAlphaI3" or run.h is not None or not case.truth.model.m:
        return []
    chosen = run.options
    # the drift of velocities must follow steps that adapt
    off = {"adjust_steps": chosen.get("adjust_steps") is False,
           "adjustment": chosen.get("adjustment") in ("a", "gamma")}  # fmt: skip
    return [name for name, excluded in off.items() if excluded]


def events(random: Source) -> Outcome:
    """Event functions whose zeros are known."""
    if random.random() < 0.35:
        return _bounces(random)
    case = draw_case(random)
    chosen = event_cases.draw_crossings(case, random)
    if not chosen:  # nothing of this motion crosses anything clearly
        return _bounces(random)
    run = draw_run(case, random)
    run.problem, run.output = "", None
    functions = [counted(event) for event, _ in chosen]
    for function, (event, _) in zip(functions, chosen, strict=True):
        vars(function).update(
            {k: vars(event)[k] for k in ("direction", "terminal") if k in vars(event)}
        )
    end = event_cases.first_end(chosen, case.truth.t_end)
    bound = judge.allowed(case, run) * case.truth.size * 3.0

    def wrong_times(found: Any) -> str:
        for i, ((event, zeros), times) in enumerate(zip(chosen, found.t_events, strict=True)):
            true = [t for t in zeros if abs(t) <= abs(end)]
            seen = (times - case.units.t0) / case.units.tau
            if len(true) != len(seen):
                return f"events[{i}] has {len(seen)} events, not {len(true)}: {seen} {true}"
            for a, b in zip(seen, true, strict=True):
                if (
                    not abs(a - b) * event.slope(b)
                    <= bound * np.abs(event._of_x).sum() * 3.0 + 1e-6
                ):
                    return f"events[{i}] happened at {a:.6g}, not at {b:.6g}"
        return ""

    def call() -> Any:
        return integrate(
            case.mechanism(), case.t_end, run.scheme, run.h, events=functions, **run.options
        )

    result = ended(call, wrong_times, of_ours())
    what = f"{[len(zeros) for _, zeros in chosen]} crossings"
    return _outcome("events", case, run, what, result, healthy=True)


def _bounces(random: Source) -> Outcome:
    """A ball that bounces, against the formula."""
    ball = event_cases.Bounces(random)
    times, limit = ball.times()
    t_end = ball.share * limit
    if min(abs(t - t_end) for t in times) < 1e-3 * ball.unit:
        t_end += 3e-3 * ball.unit
    count = sum(t < t_end for t in times)
    scheme = str(random.choice(list(CLASSES_OF_SCHEMES)))
    fixed = random.random() < 0.4
    given: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6 * ball.height}
    if fixed:
        given = {"h": t_end / float(random.integers(200, 600))}

    def wrong(found: Any) -> str:
        if len(found.t_events[0]) != count:
            return f"{len(found.t_events[0])} bounces, not {count}"
        if found.q[:, 0].min() < -1e-6 * ball.height:
            return f"through the floor: {found.q[:, 0].min():.2e} of {ball.height:.2e}"
        error = abs(found.q[-1, 0] - ball.height_at(t_end)) / ball.height
        return "" if error < 1e-2 else f"wrong by {error:.1e} at the end"

    result = ended(
        lambda: integrate(ball.mechanism(), t_end, scheme, events=ball.event(), **given),
        wrong,
        of_ours(),
    )
    what = (
        f"{scheme}, {count} bounces of {ball.restitution:.2f}, {given}, impact returns {ball.style}"
    )
    return Outcome("bounces", what, *result, healthy=True)


def faulty_events(random: Source) -> Outcome:
    """Event functions and impacts that misbehave."""
    case = draw_case(random)
    run = draw_run(case, random)
    run.problem, run.output = "", None
    event = event_cases.Crossing(case, random)
    zeros = event.settle(random) or []
    family, what, defect = draw_fault(random)
    in_impact = bool(random.random() < 0.5)
    backward = case.t_end < case.units.t0

    def function(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return event(t, q, v)

    def impact(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return v.copy()  # its own, that nobody changes afterwards

    when = case.units.t0 + float(random.uniform(-0.1, 0.5)) * (case.t_end - case.units.t0)
    faulty: Any = impact if in_impact else function
    faulty = Meddling(faulty) if family == "meddles" else Faulty(faulty, defect, when, backward)
    watched: Any = function if in_impact else counted(faulty)
    watched.impact = counted(faulty) if in_impact else impact

    def is_clear(error: BaseException) -> str:
        if family == "raises":
            return _raised(error, defect, "events[0]")
        if family == "meddles" and isinstance(error, ValueError) and "read-only" in str(error):
            return ""
        return of_ours(r"events\[0\]")(error)

    def wrong(found: Any) -> str:
        allowed = in_impact and what == "None"  # which changes nothing
        if family == "nonsense" and faulty.shown and not allowed:
            return f"{what} was accepted {faulty.shown} times"
        exact = Motion(found.t, found.q, found.v, found.vdot, found.lam, found.psi, True)
        return judge.faults(case, run, exact)

    def call() -> Any:
        return integrate(
            case.mechanism(), case.t_end, run.scheme, run.h, events=[watched], **run.options
        )

    result = ended(call, wrong, is_clear)
    part = "impact" if in_impact else "function"
    return _outcome("faulty events", case, run, f"{part}: {what}, {len(zeros)} crossings", result)


def _ran(kind: str, case: Case, run: Run) -> Outcome:
    result = ended(lambda: run_case(case, run), lambda x: _wrong(case, run, x), of_ours())
    return _outcome(kind, case, run, "", result, healthy=True)


def _wrong(case: Case, run: Run, found: Motion) -> str:
    """Return what is wrong with the motion of a healthy mechanism, but for steps too coarse."""
    fault = judge.faults(case, run, found)
    return "" if fault and judge.too_coarse(case, run) else fault


def _outcome(
    kind: str, case: Case, run: Run, extra: str, result: Ended, healthy: bool = False
) -> Outcome:
    what = "; ".join(x for x in (*case.words, str(run), extra) if x)
    return Outcome(kind, what, *result, healthy=healthy)


#: Every kind with its share of the inputs.
KINDS: dict[Callable[[Source], Outcome], float] = {
    motion: 0.3,
    redundant: 0.07,
    contradiction: 0.03,
    fault: 0.2,
    arguments: 0.15,
    options: 0.1,
    events: 0.1,
    faulty_events: 0.05,
}


def tried(seed: int) -> Outcome:
    """Run the input of a seed."""
    random = Source(seed)
    shares = list(itertools.accumulate(KINDS.values()))
    where = int(np.searchsorted(shares, random.random() * shares[-1]))
    return list(KINDS)[where](random)
