"""What the user may choose about a stabilized integration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.options import Choices, Kind, Number, Option
from genalpha.stabilization.equations import ORDERS, euler, runge_kutta
from genalpha.stabilization.gains import Gains

Array = np.ndarray


class GainsKind(Kind):
    """Gains, or "auto"."""

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        return "a genalpha.Gains object or 'auto'"

    def clean(self, value: Any, owner: Any) -> Any:
        """See `Kind`."""
        if not isinstance(value, Gains) and value != "auto":
            raise ValueError
        return value

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        return ["auto", Gains.baumgarte(10.0)], [3.0, "none"]


class Bounds(Kind):
    """One or two positive numbers, or None."""

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        return "one or two positive numbers or None"

    def clean(self, value: Any, owner: Any) -> Any:
        """See `Kind`."""
        if value is None:
            return None
        numbers = np.asarray(value, dtype=float)
        if numbers.shape not in ((), (2,)) or not np.all((numbers > 0.0) & np.isfinite(numbers)):
            raise ValueError
        return tuple(np.broadcast_to(numbers, 2).tolist())

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        return [1e-3, (1e-3, 1e-2)], [0.0, (1.0, 2.0, 3.0), "x", np.nan]


GAINS = (
    Option(
        "gains",
        "auto",
        GainsKind(),
        "How the motion is pulled to the constraints. Default 'auto': chosen from `eps` and h, "
        "with a guaranteed bound on the deviation.",
    ),
    Option(
        "eps",
        None,
        Bounds(),
        "With gains='auto': the deviation wished, of positions and velocities alike or one for "
        "each. Default None: as small as gains can guarantee.",
    ),
)
H = Option(
    "h",
    lambda solver: getattr(solver.problem, "h", None),
    Number(0.0, open=True, optional=True),
    "Step size, fixed; no default, unless the problem was made for one (gains='auto').",
)
SIGMA = Option(
    "sigma",
    1.0,
    Number(0.0, open=True),
    "Weight of the second slope. 1 (default): slope at the middle of the step; 1/2: at its end "
    "(Heun). The one that is more accurate depends on the mechanism.",
    excludes=("alpha",),
)
ALPHA = Option(
    "alpha",
    None,
    Number(0.0, open=True, optional=True),
    "Where the second slope is taken, instead of `sigma`: 2 alpha sigma = 1. Default 1/2.",
    excludes=("sigma",),
)
OPTIONS_RK2 = (*GAINS, SIGMA, ALPHA)
#: Options of each scheme.
OPTIONS = {"StabilizedEuler": GAINS, "StabilizedRK2": OPTIONS_RK2}


class StabilizedOptions(Choices):
    """Options of a stabilized integration, as attributes.

    Parameters
    ----------
    scheme : {"StabilizedEuler", "StabilizedRK2"}
        Default "StabilizedRK2": order 2 for twice the cost.
    **given
        What was given of `OPTIONS`.

    Raises
    ------
    InvalidOptionError
        With all faults.
    """

    def __init__(self, scheme: str = "StabilizedRK2", **given: Any) -> None:
        if scheme not in OPTIONS:
            fault = f"scheme = {scheme!r}; expected one of {', '.join(map(repr, OPTIONS))}"
            raise InvalidOptionError("stabilization", [fault])
        super().__init__(OPTIONS[scheme], given, None, scheme)
        self.scheme = scheme
        if not self.faults and self.eps is not None and self.gains != "auto":
            self.faults.append("eps is given, and gains too; eps is for gains='auto'")
        if self.faults:
            raise InvalidOptionError(scheme, self.faults)

    @property
    def order(self) -> int:
        """The order of the scheme."""
        return ORDERS[self.scheme]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The wished deviations of positions and of velocities."""
        bounds: tuple[float, float] | None = self.eps
        return bounds

    def step(self) -> Callable[..., Array]:
        """Return the scheme's step: (rhs, t, x, xdot, h) -> x."""
        if self.scheme == "StabilizedEuler":
            return euler
        return partial(runge_kutta, sigma=self.sigma if self.alpha is None else 0.5 / self.alpha)
