"""The true motion at the sample times, computed once per mechanism and kept on disk.

A mechanism without a reference of its own gets one: a run of GenAlphaSOI2 to a small error, which
is extrapolated from runs with several step sizes and brings its estimate of the error along.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from comparisons.cases import CASES, Case
from comparisons.names import Variable, file_name
from genalpha.driver import integrate
from genalpha.model import Mechanism

Array = np.ndarray
Samples = dict[Variable, Array]

#: Wanted error of a computed reference, relative to the largest component of each variable.
WANTED = 1e-8
#: Tolerance of the run that finds how large the variables become.
ROUGH = 1e-4
#: The array of estimated errors in a stored reference.
ESTIMATE = "estimate"


def sampled_reference(case: Case, cache: Path) -> Samples:
    """Return the true q, v, vdot, lam, psi, z at the case's sample times.

    What a reference does not know is left out.
    """
    stored = _stored(case, cache)
    return {Variable(name): values for name, values in stored.items() if name != ESTIMATE}


def reference_note(mechanism: str, cache: Path) -> str:
    """Return what is to be known about a reference that was computed here; else nothing."""
    case = CASES.get(mechanism)
    if case is None or case.make().reference is not None:
        return ""
    error = float(_stored(case, cache)[ESTIMATE][0])
    return (
        f"{mechanism} has no reference of its own: errors are against an extrapolated run of "
        f"GenAlphaSOI2, whose own relative error of q is estimated as {error:.0e}"
    )


def _stored(case: Case, cache: Path) -> dict[str, Array]:
    """Return a reference from the cache, computed first if it is not there."""
    mechanism = case.make()
    times = case.times(mechanism)
    path = cache / f"{file_name(case.name)}-{_digest(mechanism, times)}.npz"
    if not path.exists():
        found = _sample(mechanism, times) if mechanism.reference else _compute(mechanism, times)
        cache.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez_compressed(file, **found)  # type: ignore[arg-type]
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def _sample(mechanism: Mechanism, times: Array) -> dict[str, Array]:
    assert mechanism.reference is not None
    motions = [mechanism.reference.motion(float(t)) for t in times]
    samples = {}
    for variable in Variable:
        parts = [getattr(motion, str(variable), None) for motion in motions]
        if all(part is not None and np.size(part) for part in parts):
            samples[str(variable)] = np.array(parts, dtype=float)
    return samples


def _compute(mechanism: Mechanism, times: Array) -> dict[str, Array]:
    """Integrate to a small error; what is reached is in the estimate."""
    end = float(times[-1])
    rough = integrate(mechanism, end, rtol=ROUGH, atol=ROUGH, t_eval=times)
    sizes = {str(x): float(np.abs(getattr(rough, x)).max(initial=0.0)) or 1.0 for x in "qv"}
    wanted = dict.fromkeys(sizes, WANTED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a larger error than wanted is in the estimate
        fine: Any = integrate(mechanism, end, error=wanted, t_eval=times)
    samples = {str(x): getattr(fine, str(x)) for x in Variable if getattr(fine, str(x)).size}
    return samples | {ESTIMATE: np.array([np.abs(fine.error.q).max() / sizes["q"]])}


def _digest(mechanism: Mechanism, times: Array) -> str:
    """Return what tells one reference from another: start, times, source, equations."""
    source = mechanism.reference.source if mechanism.reference else f"computed to {WANTED}"
    lam, psi = mechanism.multiplier_guess()
    # a probe of the equations stands for the parameters, which a mechanism does not list
    wide = mechanism.widened
    probe = wide.force(wide.t0, wide.q0 + 1e-3, wide.v0 + 1e-3)
    found = hashlib.sha256(source.encode())
    for array in (times, wide.q0, wide.v0, lam, psi, probe):
        found.update(np.ascontiguousarray(array, dtype=float).tobytes())
    return found.hexdigest()[:12]
