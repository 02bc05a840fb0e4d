"""What the user may choose about a stabilized integration, and whether the choices make sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.stabilization.equations import ORDERS, euler, runge_kutta
from genalpha.stabilization.gains import Gains

Array = np.ndarray


@dataclass(frozen=True)
class StabilizedOptions:
    """Options of a stabilized integration; all faults are reported in one error.

    Attributes
    ----------
    scheme : {"StabilizedEuler", "StabilizedRK2"}
        Default "StabilizedRK2": order 2 for twice the cost.
    gains : Gains or "auto"
        Default "auto": chosen from `eps` and h, with a guaranteed bound on the deviation.
    eps : float or (float, float), optional
        With gains="auto": the deviation wished, of positions and velocities alike or one for
        each. Default: as small as gains can guarantee.
    sigma : float, optional
        Of StabilizedRK2: weight of the second slope. 1 (default): slope at the middle; 1/2: at
        the end of the step (Heun). The one that is more accurate depends on the mechanism.
    alpha : float, optional
        Where the second slope is taken; 2 alpha sigma = 1, so that one of them is enough.
    """

    scheme: str = "StabilizedRK2"
    gains: Any = "auto"
    eps: Any = None
    sigma: float | None = None
    alpha: float | None = None

    @classmethod
    def checked(cls, scheme: str, options: Mapping[str, Any]) -> StabilizedOptions:
        """Return the options, or raise an `InvalidOptionError` with all their faults."""
        known = [name for name in cls.__dataclass_fields__ if name != "scheme"]
        faults = [
            f"unknown option {name!r}; known are {', '.join(known)}"
            for name in sorted(set(options) - set(known))
        ]
        made = cls(scheme, **{name: options[name] for name in known if name in options})
        faults += made._faults()
        if faults:
            raise InvalidOptionError(scheme, faults)
        return made

    def _faults(self) -> list[str]:
        faults = []
        if self.scheme not in ORDERS:
            faults.append(f"scheme = {self.scheme!r} is none of {tuple(ORDERS)}")
        if not isinstance(self.gains, Gains) and self.gains != "auto":
            faults.append(f"gains = {self.gains!r} is neither a Gains object nor 'auto'")
        if self.eps is not None and self.gains != "auto":
            faults.append("eps is given, and gains too; eps is for gains='auto'")
        if self.eps is not None and not _is_bound(self.eps):
            faults.append(f"eps = {self.eps!r}; expected one or two positive numbers")
        given = {"sigma": self.sigma, "alpha": self.alpha}
        for name, value in given.items():
            if value is not None and self.scheme == "StabilizedEuler":
                faults.append(f"{name} is given; StabilizedEuler has none")
            elif value is not None and not (np.ndim(value) == 0 and 0.0 < value < np.inf):
                faults.append(f"{name} = {value!r} is not a positive number")
        if not faults and None not in given.values():
            product = 2.0 * self.alpha * self.sigma  # type: ignore[operator]
            if abs(product - 1.0) > 1e-14:
                faults.append(f"2 alpha sigma = {product:.9g}; order 2 needs 1")
        return faults

    @property
    def order(self) -> int:
        """The order of the scheme."""
        return ORDERS[self.scheme]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The wished deviations of positions and of velocities."""
        if self.eps is None:
            return None
        position, velocity = np.broadcast_to(np.asarray(self.eps, dtype=float), 2)
        return float(position), float(velocity)

    def step(self) -> Callable[..., Array]:
        """Return the scheme's step: (rhs, t, x, xdot, h) -> x."""
        if self.scheme == "StabilizedEuler":
            return euler
        sigma = self.sigma if self.alpha is None else 0.5 / self.alpha
        return partial(runge_kutta, sigma=1.0 if sigma is None else float(sigma))


def _is_bound(eps: Any) -> bool:
    value = np.asarray(eps, dtype=float)
    return value.shape in ((), (2,)) and bool(np.all((value > 0.0) & (value < np.inf)))
