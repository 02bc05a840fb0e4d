"""The mechanisms of the comparisons: all of the catalogue, and how long and finely they are run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from comparisons.names import Setting
from genalpha.mechanisms import catalogue
from genalpha.model import Mechanism

#: Intervals between sample times; steps are a multiple of it, so that samples are steps.
SAMPLES = 40
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


@dataclass(frozen=True)
class Case:
    """A mechanism, how long it moves, and how finely.

    Parameters
    ----------
    name : str
        In tables and on the command line.
    make : callable() -> Mechanism
    t_final : float
    steps : int
        Fewest steps of a fixed-step run, a multiple of `SAMPLES`; each level doubles it.
    levels : int
        How many step sizes.
    tolerances : tuple of float
    main : bool
        Whether it belongs to the main job, `make compare`.
    """

    name: str
    make: Callable[[], Mechanism]
    t_final: float
    steps: int
    levels: int = 5
    tolerances: tuple[float, ...] = TOLERANCES
    main: bool = False

    def times(self, mechanism: Mechanism) -> np.ndarray:
        """Return the sample times."""
        reference = mechanism.reference
        if reference is not None and reference.times is not None:
            known = reference.times[reference.times <= self.t_final]
            return np.concatenate([[mechanism.t0], known[known > mechanism.t0]])
        return np.linspace(mechanism.t0, self.t_final, SAMPLES + 1)

    def values(self, setting: Setting) -> tuple[float, ...]:
        """Return the setting's values, coarse to fine."""
        if setting is Setting.TOLERANCE:
            return self.tolerances
        t0 = self.make().t0
        return tuple((self.t_final - t0) / (self.steps * 2**i) for i in range(self.levels))


CASES: dict[str, Case] = {}


def add_case(
    name: str, t_final: float = 1.0, steps: int = 80, *, of: str = "", **options: Any
) -> Case:
    """Enter a mechanism of the catalogue; `of` is its name there if it is not `name`."""
    parameters = options.pop("parameters", {})
    make = partial(catalogue()[of or name], **parameters)
    CASES[name] = Case(name, make, t_final, steps, **options)
    return CASES[name]


def add_mechanism(
    make: Callable[[], Mechanism], t_final: float, steps: int = 80, **options: Any
) -> Case:
    """Enter a mechanism of one's own, for plugins.

    Parameters
    ----------
    make : callable() -> Mechanism
        A function of a module; its name is that of the case, unless there is ``name=...``.
    t_final : float
        The end.
    steps : int, optional
        Fewest steps of a fixed-step run; default 80. It is rounded up to a multiple of `SAMPLES`.
    **options
        Further fields of `Case`: levels, tolerances.
    """
    name = options.pop("name", None) or make.__name__
    steps = SAMPLES * -(-steps // SAMPLES)
    CASES[name] = Case(name, make, t_final, steps, **options)
    return CASES[name]


add_case("simple_pendulum", 2.0, 80, main=True)
add_case("slider_crank", 0.5, 40, main=True)
add_case("jay_negrut_test", 1.0, 40)
add_case("jay_test", 1.0, 40)
add_case("hht_test", 1.0, 40)
add_case("prescribed_mass", 2.0, 40)
add_case("assimulo_pendulum", 2.0, 80)
add_case("driven_pendulum", 2.0, 80)
add_case("andrews_squeezer", 0.03, 120)
add_case("andrews_absolute", 0.03, 120, levels=3)
add_case("chain_5", of="chain")
add_case("chain_20", of="chain", parameters={"links": 20}, levels=4)
add_case("spherical_pendulum", 2.0, 80)
add_case("heavy_top", 0.5, 160)
add_case("flexible_pendulum", 0.2, 80, levels=4)
add_case("rolling_disk", 2.0, 80)
add_case("knife_edge", 2.0, 80)
add_case("chaplygin_sleigh", 2.0, 80)
add_case("motor_slider_crank", 0.6, 40, levels=4, main=True)
add_case("controlled_pendulum", 1.5, 40, levels=4)
add_case("hydraulic_boom", 0.6, 80, levels=4)

#: Mechanisms of the catalogue that are not compared, and why.
LEFT_OUT = dict.fromkeys(
    ("bouncing_pendulum", "rocking_block", "clutch"),
    "needs events, which the plain runs of the harness do not have",
)

#: Mechanisms of the catalogue that are compared in the same way as most.
_ENTERED = {case.make.func.__name__ for case in CASES.values()}  # type: ignore[attr-defined]
for _name in catalogue():
    if _name not in _ENTERED and _name not in LEFT_OUT:
        add_case(_name)
