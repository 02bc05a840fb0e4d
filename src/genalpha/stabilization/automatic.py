"""Gains from a wished bound on the deviation and a step size.

Theorems 6 and 7 of Mukharlyamov (2000) say that gains exist; here they are looked for, among
Baumgarte's with alpha = kappa / h and beta = alpha or sqrt(2) alpha, which for

- Euler: beta = alpha gives Phi the double root 1 - kappa, so that kappa = 1 removes a deviation
  in two steps;
- Runge-Kutta: beta = sqrt(2) alpha gives the roots (1 - kappa) (1 -+ i kappa), with kappa = 1
  removing a deviation in one step (Phi = 0); beta = alpha gives 1 - kappa + kappa^2 / 2.

Whether a pair is good enough depends on the remainders that the mechanism's curvature leaves.
They are measured: the caller takes one step from each of several states of a pilot motion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.stabilization.deviation import Guarantee, contracting_norm, step_matrix
from genalpha.stabilization.gains import Gains

Array = np.ndarray

#: kappa = alpha h, from gentle to harsh.
KAPPAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: beta / alpha.
RATIOS = (1.0, float(np.sqrt(2.0)))
#: Remainders of the run may be so many times those of the pilot motion.
SAFETY = 2.0


def automatic_gains(
    h: float,
    order: int,
    sizes: tuple[int, int],
    start: Array,
    remainders: Callable[[Gains], Array],
    eps: tuple[float, float] | None = None,
) -> tuple[Gains, Guarantee]:
    """Return the gentlest gains that guarantee `eps`, and the guarantee.

    Parameters
    ----------
    h : float
        Step size, positive.
    order : {1, 2}
        Euler or Runge-Kutta.
    sizes : (m, l)
        Numbers of holonomic and nonholonomic constraints.
    start : (2 m + l,) array
        Deviation at the start.
    remainders : callable(gains) -> (k, 2 m + l) array
        Remainders of steps of size h from states of a pilot motion.
    eps : (position, velocity), optional
        Wished bounds on f, and on f_dot and f'. Default: none, and those gains are returned that
        guarantee the smallest deviations (see `_size`).

    Raises
    ------
    InvalidOptionError
        No gains can do it at that step size; the message says how far they get.
    """
    m, l = sizes  # noqa: E741
    wish = None if eps is None else np.repeat([eps[0], eps[1]], [m, m + l])
    best: tuple[float, Gains, Guarantee] | None = None
    for kappa in KAPPAS:
        for ratio in RATIOS if m else RATIOS[:1]:
            gains = Gains.baumgarte(kappa / h, ratio * kappa / h)
            guarantee = _guarantee(gains, h, order, sizes, start, SAFETY * remainders(gains))
            bounds = guarantee.components
            if wish is not None and np.all(bounds <= wish):
                return gains, _widened(guarantee, wish)
            score = _size(bounds, m) if wish is None else float(np.max(bounds / wish))
            if best is None or score < best[0]:
                best = score, gains, guarantee
    assert best is not None
    if wish is None and np.isfinite(best[0]):
        return best[1:]
    raise _impossible(h, eps, m, best[2].components, float(np.abs(start).max(initial=0.0)))


def _size(bounds: Array, m: int) -> float:
    """Return (position velocity^2)^(1/3): one number, whatever the units of length and time.

    Velocities count more, because the harshest gains make a position excellent and a velocity
    poor: f = O(h^3), f_dot = O(h) for Runge-Kutta with kappa = 1, where gentle gains have O(h^2)
    for both. For Euler, where f_dot = O(h) in any case, harsh gains still win.
    """
    velocity = float(bounds[m:].max())
    return velocity if not m else float(np.cbrt(bounds[:m].max() * velocity**2))


def _guarantee(
    gains: Gains, h: float, order: int, sizes: tuple[int, int], start: Array, remainders: Array
) -> Guarantee:
    """Return the smallest eps that the theorem allows for these gains."""
    perturbation = gains.sized(*sizes)
    assert perturbation.constant is not None  # they are Baumgarte's
    Phi = step_matrix(perturbation.constant, h, order)
    norm = contracting_norm(Phi, perturbation.pattern(), remainders)
    q = norm.contraction(Phi)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = norm.of(remainders).max(axis=0, initial=0.0) / (1.0 - q)
    needed[~(q < 1.0)] = np.inf
    return Guarantee(norm, np.maximum(needed, norm.of(start)), h)


def _widened(guarantee: Guarantee, wish: Array) -> Guarantee:
    """Return the guarantee with the largest eps that still grants the wish.

    It allows starts that are as far off the constraints as the wish does, and larger remainders.
    """
    eps = np.full(guarantee.norm.count, np.inf)
    np.minimum.at(eps, guarantee.norm.blocks, wish / guarantee.norm.reach)
    return Guarantee(guarantee.norm, eps, guarantee.h)


def _impossible(
    h: float, eps: tuple[float, float] | None, m: int, bounds: Array, start: float
) -> InvalidOptionError:
    position = float(bounds[:m].max(initial=0.0))
    velocity = float(bounds[m:].max(initial=0.0))
    wished = "any bound" if eps is None else f"eps = ({eps[0]:.3g}, {eps[1]:.3g})"
    return InvalidOptionError(
        "gains='auto'",
        [
            f"no gains guarantee {wished} (position, velocity) with h = {h:.3g}: the best found "
            f"guarantee ({position:.3g}, {velocity:.3g}), from a start that is off by {start:.3g}. "
            "Take a smaller h or a larger eps, or a consistent start"
        ],
    )
