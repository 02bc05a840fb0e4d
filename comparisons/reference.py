"""The true motion at the sample times, computed once per mechanism and kept on disk."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from comparisons.cases import Case
from comparisons.names import Variable, file_name
from genalpha.model import Mechanism

Array = np.ndarray
Samples = dict[Variable, Array]


def sampled_reference(case: Case, cache: Path) -> Samples:
    """Return the reference's q, v, vdot, lam, psi at the case's sample times.

    What the reference does not know is left out; without a reference, all is.
    """
    mechanism = case.make()
    if mechanism.reference is None:
        return {}
    times = case.times(mechanism)
    path = cache / f"{file_name(case.name)}-{_digest(mechanism, times)}.npz"
    if path.exists():
        with np.load(path) as stored:
            return {Variable(name): stored[name] for name in stored.files}
    samples = _sample(mechanism, times)
    cache.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, **{str(name): values for name, values in samples.items()})  # type: ignore[arg-type]
    return samples


def _sample(mechanism: Mechanism, times: Array) -> Samples:
    assert mechanism.reference is not None
    motions = [mechanism.reference.motion(float(t)) for t in times]
    samples = {}
    for variable in Variable:
        parts = [getattr(motion, str(variable)) for motion in motions]
        if all(part is not None and np.size(part) for part in parts):
            samples[variable] = np.array(parts, dtype=float)
    return samples


def _digest(mechanism: Mechanism, times: Array) -> str:
    """Return what tells one reference from another: start, times, source, equations."""
    assert mechanism.reference is not None
    lam, psi = mechanism.multiplier_guess()
    # a probe of the equations stands for the parameters, which a mechanism does not list
    probe = mechanism.force(mechanism.t0, mechanism.q0 + 1e-3, mechanism.v0 + 1e-3)
    found = hashlib.sha256(mechanism.reference.source.encode())
    for array in (times, mechanism.q0, mechanism.v0, lam, psi, probe):
        found.update(np.ascontiguousarray(array, dtype=float).tobytes())
    return found.hexdigest()[:12]
