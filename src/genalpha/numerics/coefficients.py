"""The four numbers of a generalized-alpha scheme, and what they imply.

Notation (of all the papers): alpha_m, alpha_f weigh the OLD value; alpha = alpha_m - alpha_f;
beta, gamma are Newmark's. Equation numbers without a name are those of Arnold and Brüls (2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from genalpha.errors import InvalidOptionError

#: Conditions are equalities between rounded numbers: they hold up to this.
ROUNDING = 1e-12


class Multistep(NamedTuple):
    """The scheme as a multistep method, with g_n = vdot_n and constant steps h.

    sum of a_k q_{n+k-1} + h sum of u_k v_{n+k-1} = h^2 sum of b_k g_{n+k-1}    (14)
    sum of a_k v_{n+k-1}                          = h   sum of c_k g_{n+k-1}    (15)
    """

    a: np.ndarray
    u: np.ndarray
    b: np.ndarray
    c: np.ndarray


def _weighed(f: float, old: float, new: float) -> np.ndarray:
    """Return what is left of weights `old`, `new` of two values of a when (3) eliminates them."""
    return np.array([f * old, (1.0 - f) * old + f * new, (1.0 - f) * new])


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of a generalized-alpha scheme.

    Use one of the constructors `chung_hulbert` (the usual choice), `hht`, `newmark`,
    `trapezoidal`, `stoermer`, or give the four numbers.

    Parameters
    ----------
    alpha_m, alpha_f, beta, gamma : float

    Raises
    ------
    InvalidOptionError
        A number is not finite, or alpha_m = 1 or alpha_f = 1, for which no scheme is defined.
    """

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float

    def __post_init__(self) -> None:
        faults = [
            f"{name} = {value!r} is not a finite number"
            for name, value in self.__dict__.items()
            if not np.isfinite(value)
        ]
        faults += [
            f"{name} = 1, which leaves the new value out of the scheme"
            for name in ("alpha_m", "alpha_f")
            if getattr(self, name) == 1.0
        ]
        if faults:
            raise InvalidOptionError("Coefficients", faults)

    @classmethod
    def chung_hulbert(cls, rho_inf: float) -> Coefficients:
        """Return the coefficients (24) of Chung and Hulbert: optimal for a damping `rho_inf`.

        Parameters
        ----------
        rho_inf : float
            Spectral radius at infinite frequency: 1 damps nothing, 0 annihilates high
            frequencies in one step. 0.8 is a good start; take less for stiff systems.
        """
        if not 0.0 <= rho_inf <= 1.0:
            raise InvalidOptionError("Coefficients", [f"rho_inf = {rho_inf!r} is not in [0, 1]"])
        alpha_m = (2.0 * rho_inf - 1.0) / (rho_inf + 1.0)
        alpha_f = rho_inf / (rho_inf + 1.0)
        gamma = 0.5 + alpha_f - alpha_m  # (20)
        return cls(alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma)

    @classmethod
    def hht(cls, alpha: float) -> Coefficients:
        """Return the coefficients of Hilber, Hughes and Taylor.

        Parameters
        ----------
        alpha : float
            In [-1/3, 0]; -1/3 damps most, 0 is the trapezoidal rule.
        """
        if not -1.0 / 3.0 - ROUNDING <= alpha <= 0.0:
            raise InvalidOptionError("Coefficients", [f"alpha = {alpha!r} is not in [-1/3, 0]"])
        return cls(0.0, -alpha, 0.25 * (1.0 - alpha) ** 2, 0.5 - alpha)

    @classmethod
    def newmark(cls, beta: float, gamma: float) -> Coefficients:
        """Return Newmark's family: alpha_m = alpha_f = 0."""
        return cls(0.0, 0.0, beta, gamma)

    @classmethod
    def trapezoidal(cls) -> Coefficients:
        """Return the trapezoidal rule: Newmark with beta = 1/4, gamma = 1/2."""
        return cls.newmark(0.25, 0.5)

    @classmethod
    def stoermer(cls) -> Coefficients:
        """Return Störmer's rule: Newmark with beta = 0, gamma = 1/2."""
        return cls.newmark(0.0, 0.5)

    @cached_property
    def alpha(self) -> float:
        """alpha_m - alpha_f: `a` belongs to the instant t + alpha h."""
        return self.alpha_m - self.alpha_f

    @property
    def is_second_order(self) -> bool:
        """Order-2 condition (20): gamma = 1/2 + alpha_f - alpha_m."""
        return abs(self.gamma - (0.5 - self.alpha)) <= ROUNDING

    @property
    def is_newmark(self) -> bool:
        """Whether they are of Newmark's family, which is in use with any gamma from 1/2 on."""
        return self.alpha_m == 0.0 and self.alpha_f == 0.0

    @property
    def is_zero_stable(self) -> bool:
        """Root condition on (21): alpha_m <= 1/2."""
        return self.alpha_m <= 0.5 + ROUNDING

    @cached_property
    def multistep(self) -> Multistep:
        """Coefficients of the two-step form (14), (15), in which `a` no longer occurs."""
        m, f, beta, gamma = self.alpha_m, self.alpha_f, self.beta, self.gamma
        return Multistep(
            a=np.array([-m, -1.0 + 2.0 * m, 1.0 - m]),
            u=np.array([-m, -1.0 + m]),
            b=_weighed(f, 0.5 - beta, beta),
            c=_weighed(f, 1.0 - gamma, gamma),
        )

    @cached_property
    def b_prime(self) -> np.ndarray:
        """Coefficients b'_0 ... b'_3 (19) of the multistep formula (18)."""
        f, beta, gamma = self.alpha_f, self.beta, self.gamma
        low, mid = 0.5 + beta - gamma, 0.5 - 2.0 * beta + gamma
        return np.array(
            [
                f * low,
                (1.0 - f) * low + f * mid,
                (1.0 - f) * mid + f * beta,
                (1.0 - f) * beta,
            ]
        )

    @cached_property
    def roots_at_infinity(self) -> np.ndarray:
        """Roots of the polynomial (22), in closed form (Lemma 1); infinite when beta = 0."""
        first = -self.alpha_f / (1.0 - self.alpha_f)
        if self.beta == 0.0:
            return np.array([first, np.inf, np.inf])
        half = -(0.5 + self.gamma - 2.0 * self.beta) / (2.0 * self.beta)
        root = np.emath.sqrt((0.5 + self.gamma) ** 2 - 4.0 * self.beta) / (2.0 * self.beta)
        return np.array([first, half + root, half - root])

    @cached_property
    def relation_at_infinity(self) -> tuple[float, ...]:
        """The polynomial (22), divided by its first coefficient; empty if a root is outside 1."""
        if not self.rho_inf <= 1.0 + ROUNDING:
            return ()
        return tuple((self.b_prime[2::-1] / self.b_prime[3]).tolist())

    @cached_property
    def rho_inf(self) -> float:
        """Spectral radius at infinite frequency: the largest root of (22)."""
        return float(np.max(np.abs(self.roots_at_infinity)))

    @property
    def is_strictly_stable_at_infinity(self) -> bool:
        """All roots of (22) inside the unit circle; conditions (23) and (20) guarantee it."""
        return self.rho_inf < 1.0 - ROUNDING

    @property
    def satisfies_23(self) -> bool:
        """Sufficient conditions (23): alpha_m < alpha_f < 1/2, beta > 1/4 + (alpha_f-alpha_m)/2."""
        return self.alpha_m < self.alpha_f < 0.5 and self.beta > 0.25 + 0.5 * (
            self.alpha_f - self.alpha_m
        )

    @property
    def r_gamma(self) -> float:
        """Contraction factor |(gamma - 1) / gamma| of Jay's Theorem 6.1."""
        return abs((self.gamma - 1.0) / self.gamma) if self.gamma else np.inf

    @property
    def r_alpha_m(self) -> float:
        """Contraction factor |alpha_m / (alpha_m - 1)| of Jay's Theorem 6.1."""
        return abs(self.alpha_m / (self.alpha_m - 1.0))

    @property
    def r_alpha_f(self) -> float:
        """Contraction factor |alpha_f / (alpha_f - 1)| of Jay's Theorem 6.1."""
        return abs(self.alpha_f / (self.alpha_f - 1.0))
