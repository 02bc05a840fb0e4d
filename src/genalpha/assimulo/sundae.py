"""A run of scikit-sundae's IDA on an Assimulo problem: steps, interpolation, work counters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from assimulo.exception import AssimuloRecoverableError
from scipy import sparse

from genalpha.assimulo.pattern import Pattern
from genalpha.assimulo.reports import Point
from genalpha.assimulo.residual import Residual
from genalpha.driver.advance import Advance
from genalpha.errors import GenAlphaError
from genalpha.model.differences import EPS, forward_jacobian, scale

Array = np.ndarray

RECOVERABLE = (np.linalg.LinAlgError, ZeroDivisionError, AssimuloRecoverableError)


class IDAError(GenAlphaError, ArithmeticError):
    """IDA gave up.

    Attributes
    ----------
    t : float
        The time reached.
    flag : int or None
        SUNDIALS' return value, None if it is not known.
    """

    def __init__(self, message: str, t: float, flag: int | None) -> None:
        self.t, self.flag = t, flag
        super().__init__(message)


class Run(Advance):
    """One run of IDA, from its start on.

    Parameters
    ----------
    F : Residual
    start : (t, y, yd)
    atol : (n,) array
        Absolute tolerances, from which also the increments of differences are made.
    untested : (n,) bool array
        Variables that must not influence the step size.
    usejac : bool
        Use the problem's Jacobian, otherwise differences.
    is_sparse : bool
        Use the sparse linear solver; needs `usejac`.
    count : callable(str, int)
        Told of every piece of work, by the names of Assimulo's statistics.
    options : dict
        Of scikit-sundae.

    Attributes
    ----------
    now : Point
        The end of the last step.
    """

    #: Absolute tolerance of untested variables: no error of theirs comes near it.
    UNTESTED = 1e20

    def __init__(
        self,
        F: Residual,
        start: Point,
        atol: Array,
        untested: Array,
        usejac: bool,
        is_sparse: bool,
        count: Callable[[str, int], None],
        options: dict[str, Any],
    ) -> None:
        self._F, self._atol, self._usejac, self._count = F, atol, usejac, count
        super().__init__(start.t)
        self.now = start
        self._recovered: Exception | None = None
        self._pattern: Pattern | None = None
        if is_sparse:
            near = (jacobian_near(F, start, 1e-3, seed) for seed in (1, 2))
            self._pattern = Pattern([jacobian_near(F, start), *near])
            options = {**options, "linsolver": "sparse", "sparsity": self._pattern.matrix}
        options = {**options, "atol": np.where(untested, self.UNTESTED, atol)}
        with warnings.catch_warnings():
            # it warns of every pattern with a Jacobian, though 'sparse' cannot do without
            warnings.filterwarnings("ignore", message="Custom sparse Jacobian")
            self._ida = _sundae()(self._residual, jacfn=self._jacobian, **options)
        self._initialize(start)

    def _initialize(self, start: Point) -> None:
        try:
            result = self._ida.init_step(*start)
        except RuntimeError as error:
            if not str(error).startswith("IDACalcIC"):  # then it is the user's own
                raise
            t = start[0]
            raise IDAError(f"IDA found no consistent values at t = {t:g}: {error}", t, None) from (
                self._recovered or error
            )
        self.now = Point(start.t, result.y, result.yp)

    def step(self, t_end: float) -> None:
        """See `Advance`."""
        t, self._recovered = self.t, None
        if abs(t_end - t) <= 4.0 * EPS * abs(t_end):  # less is no step for IDA
            self.t_left, self.t, self.now = t, t_end, self.now._replace(t=t_end)
            return
        result = self._ida.step(t_end, "onestep", t_end)
        if result.success and result.t == t:
            # after an interpolation, IDA first returns to the end of its last step
            result = self._ida.step(t_end, "onestep", t_end)
        if not result.success:
            text = f"IDA stopped at t = {t:g}: {result.message} (flag {result.status})"
            raise IDAError(text, t, result.status) from self._recovered
        self._count("nsteps", 1)
        self.now = Point(float(result.t), result.y, result.yp)
        self.t_left, self.t = t, self.now.t

    def at(self, t: float) -> Point:
        """See `Advance`."""
        if t == self.t:
            return Point(t, self.now.y.copy(), self.now.yd.copy())
        result = self._ida.step(t, "normal")
        return Point(t, result.y, result.yp)

    def _guarded(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Turn recoverable errors into NaN, on which Newton's iteration fails and h is cut.

        scikit-sundae has no other way to ask for a smaller step.
        """
        try:
            return function(*arguments)
        except RECOVERABLE as error:
            self._recovered = error
            return np.nan

    def _residual(self, t: float, y: Array, yd: Array, res: Array) -> None:
        self._count("nfcns", 1)
        res[:] = self._guarded(self._F, t, y, yd)

    def _jacobian(self, t: float, y: Array, yd: Array, res: Array, c: float, J: Array) -> None:
        self._count("njacs", 1)
        method = self._given if self._usejac else self._differenced
        J[:] = self._guarded(method, t, y, yd, res, c)

    def _given(self, t: float, y: Array, yd: Array, res: Array, c: float) -> Array:
        given = self._F.jacobian(c, t, y, yd)
        if self._pattern is not None:
            return self._pattern.values(given)
        return given.toarray() if sparse.issparse(given) else given

    def _differenced(self, t: float, y: Array, yd: Array, res: Array, c: float) -> Array:
        """Move each y_j, and yd_j by c times as much; 1 / c is of the size of the step."""
        sizes = np.maximum(np.maximum(np.abs(y), np.abs(yd / c)), np.sqrt(self._atol))
        self._count("nfcnjacs", y.size)
        return forward_jacobian(
            lambda x: self._F(t, x, yd + c * (x - y)), y.copy(), res.copy(), sizes=sizes
        )


def jacobian_near(F: Residual, point: Point, distance: float = 0.0, seed: int = 0) -> Any:
    """Return the given Jacobian at a random point near `point`."""
    random, (t, y, yd) = np.random.default_rng(seed), point
    y, yd = (x + distance * scale(x) * random.uniform(-1.0, 1.0, x.size) for x in (y, yd))
    return F.jacobian(random.uniform(1.0, 2.0), t, y, yd)


def _sundae() -> Any:
    try:
        from sksundae.ida import IDA
    except ImportError as error:
        raise ImportError(
            "genalpha.assimulo.IDA needs scikit-sundae: pip install scikit-sundae",
            name="sksundae",
        ) from error
    return IDA
