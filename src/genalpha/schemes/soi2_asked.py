"""What GenAlphaSOI2 asks of a residual, and what it knows from other calls.

See `soi2_residual`. Products with M1 and with derivatives of the reactions, and the rate of g, are
told by calls that are made anyway, or by the last ones, as long as what may be wrong with that is
less than the accuracy wanted. Otherwise the residual is asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.kernels import combined, norm, part, plus, product, stacked
from genalpha.model import Mechanism
from genalpha.model.learnt import Learnt
from genalpha.model.residual import Inertia
from genalpha.model.residual_rows import Balance
from genalpha.numerics.newton import Newton
from genalpha.schemes.scheme import Settings
from genalpha.schemes.soi2 import GenAlphaSOI2
from genalpha.schemes.soi2_inertia import Beside, Following

Array = np.ndarray

#: Products with M1 may be wrong by this share of the accuracy wanted; (13d) by so many times it,
#: because it moves q1 by h^2 only, and not v1. Judged on other mechanisms in
#: docs/pages/residual_calls.md.
NEAR, NEAR_REACTION = 0.5, 3.0
#: The reaction to lam1_t - lam1 is asked for after so many steps at the latest.
ASKED = 4
#: The rate of g is told by the first one of a step if that is wrong by no more than this share of
#: the accuracy wanted. Chosen on Andrews' mechanism and the heavy top, as those of `soi2_inertia`.
NEAR_RATE = 0.2
#: M1 a that is extrapolated from other steps may be wrong by this share of what other products may
#: be wrong by: it is wrong in the same direction for several steps. Chosen on both, and on the
#: slider-crank with a motor.
SHARE = 0.35
#: A constant mass is verified after so many steps at the latest.
VERIFIED = 8


@dataclass
class Both:
    """x = (a1_t, lam1_t, psi1_t) and z = (a1, lam1, psi1)."""

    x: Array
    z: Array


@dataclass
class Asked:
    """Where the residual was last asked, with which accelerations, lam and psi, and its answer."""

    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array
    at: Balance


class Asking(GenAlphaSOI2):
    """A step of (13) that asks a residual."""

    unknowns: Any
    inertia: Inertia
    asked: Asked
    a0: Array

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        # steps since a constant mass was verified, and matrices up to then
        self.unverified, self.verified_matrices = 0, -1
        # about how reactions follow multipliers, and when that was last asked for, in steps
        self.by_multipliers, self.steps_since = Learnt(), ASKED
        # what was asked for in this step: a difference of multipliers, and of reactions
        self.known: tuple[Array, Array] | None = None
        # where the rate of g was asked for in this step, and what it was; how far G has turned
        self.looked: tuple[Array, Array] | None = None
        self.turned, self.is_apart_known = 0.0, False
        # accelerations, and M times them as a call ahead has told it in this step
        self.told: tuple[Array, Array] | None = None
        # the end of the last step that was tried; how products have changed from step to step
        self.tried = math.nan
        self.beside, self.apart, self.reactions = Beside(), Following(), Following()

    def _forget(self) -> None:
        """Forget how products have changed from step to step."""
        for known in (self.beside, self.apart, self.reactions):
            known.forget()

    def _ask(self, q: Array, v: Array, z: Array) -> Balance:
        """Return -(f + reaction) and constraints, with the multipliers of z: one call."""
        n, m, whole = self.o.n_q, self.o.n_lam, self.o.whole
        assert whole is not None
        lam, psi = part(z, n, n + m), part(z, n + m, z.shape[0])
        M = whole.constant_mass
        vdot = self.still if M is None else part(z, 0, n)
        at = whole.balance(self.t, q, v, vdot, lam, psi)
        self.asked = Asked(q, v, vdot, lam, psi, at)
        if M is None:
            return at
        forces = plus(at.motion, -1.0, product(M, vdot))
        return Balance(forces, at.position, at.velocity, at.rates)

    def _rate(self, at: Balance) -> Array:
        """Return g_t + G v where the residual was last asked (13g)."""
        whole, asked, looked = self.o.whole, self.asked, self.looked
        assert whole is not None
        if at.rates is not None:
            return at.rates
        if looked is not None and whole.derivatives.is_turning_known:
            faster = plus(asked.v, -1.0, looked[0])
            age = max(self.by_multipliers.off, self.turned)
            allowed = NEAR_RATE * self.relative * norm(part(self.unknowns.z, 0, self.o.n_moving))
            if age * norm(faster) <= allowed * abs(self.hg):
                return plus(looked[1], 1.0, product(whole.derivatives.gradient(self.t), faster))
        # of t1, where a1 is of t1 + alpha h
        vdot = combined(1.0 - self.alpha, part(self.unknowns.z, 0, self.o.n_q), self.alpha, self.a0)
        q, v, lam, psi = asked.q, asked.v, asked.lam, asked.psi
        a = part(self.unknowns.z, 0, self.o.n_q)
        if looked is not None:
            rate = whole.rate_beside(self.t, q, v, vdot, lam, psi, at, self.hg)
        else:
            rate = whole.rate_beside(self.t, q, v, vdot, lam, psi, at, self.hg, a)
            there = whole.inertia_beside
            if there is not None and whole.constant_mass is not None:
                self.told = a, there
            elif there is not None:
                self._know_inertia(a, there)
        self.looked = v, rate
        return rate

    def _know_inertia(self, a: Array, there: Array) -> None:
        """Find M1 a, where M(t1, q1) a is `there`."""
        inertia, beside = self.inertia, self.beside
        allowed = SHARE * inertia.allowed * norm(part(there, 0, self.o.n_moving))
        found = beside.told(self.t, self.hg, there, allowed)
        if found is None:
            beside.learn(self.t, self.hg, there, inertia.times(a))
        else:
            inertia.know(a, found)

    def _inertia_of(self, a: Array, other: Array, known: Array) -> Array:
        """Return M1 a, where that of another one, which is apart by O(h), is known."""
        inertia, apart = self.inertia, self.apart
        if inertia.is_constant or self.is_apart_known:
            return inertia.times(a)
        self.is_apart_known = True
        change, asked = plus(a, -1.0, other), inertia.asked
        allowed = SHARE * inertia.allowed * norm(part(known, 0, self.o.n_moving))
        found = apart.times(self.t, self.hg, change, allowed)
        if found is not None:
            found = plus(known, 1.0, found)
            inertia.know(a, found)
            return found
        found = inertia.times(a)
        if inertia.asked > asked:
            apart.follow(self.t, self.hg, change, plus(found, -1.0, known))
        return found

    def _reaction(self, x: Array, z: Array, at: Balance, inertia: Array) -> Array:
        """Return the imbalance with the multipliers of x less that with those of z."""
        n, asked, about = self.o.n_q, self.asked, self.by_multipliers
        lam, allowed = part(x, n, x.shape[0]), NEAR_REACTION * self.relative * norm(inertia)
        other = plus(lam, -1.0, part(z, n, z.shape[0]))
        if self.known is not None:
            before, reaction = self.known
            change = about.times(plus(other, -1.0, before), self.t)
            if about.off * norm(change) <= allowed:
                return plus(reaction, 1.0, change)
        found = about.times(other, self.t)
        if self.steps_since < ASKED and about.off * norm(found) <= allowed:
            return found
        if self.known is None:
            told = self.reactions.times(self.t, self.hg, other, allowed)
            if told is not None:
                self.known = other, told
                return told
        there = self._ask(asked.q, asked.v, stacked(1.0, part(z, 0, n), 1.0, lam))
        self.asked, self.steps_since = asked, 0
        found = plus(there.motion, -1.0, at.motion)
        about.learn(other, found, self.t)
        self.reactions.follow(self.t, self.hg, other, found)
        self.known = other, found
        return found

    def _mass_is_right(self, a: Array) -> bool:
        """Verify a mass that is taken as constant.

        By what a call ahead has told of it, or else by a call of its own: where the residual was
        last asked, not in every step.
        """
        whole, asked = self.o.whole, self.asked
        assert whole is not None
        if whole.constant_mass is None:
            return True
        self.unverified += 1
        if self.told is not None:
            if whole.has_mass(self.told[0], self.told[1], asked.at.motion):
                self.unverified = 0
                return True
        elif self.unverified < VERIFIED and self.verified_matrices == self.counters.njacs:
            return True
        self.unverified, self.verified_matrices = 0, self.counters.njacs
        known = asked.vdot, asked.at.motion
        return whole.verify_mass(self.t, asked.q, asked.v, known, self.still, asked.lam, asked.psi)
