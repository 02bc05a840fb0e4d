"""Ready mechanisms with exact, published or carefully computed reference solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from genalpha.mechanisms.beam import flexible_pendulum
from genalpha.mechanisms.boom import hydraulic_boom
from genalpha.mechanisms.bouncing import Stop, bouncing_pendulum
from genalpha.mechanisms.caraxis import car_axis
from genalpha.mechanisms.cart import controlled_pendulum
from genalpha.mechanisms.chains import chain, closed_chain
from genalpha.mechanisms.clutch import Clutch, clutch
from genalpha.mechanisms.exponential import hht_test, jay_negrut_test, jay_test
from genalpha.mechanisms.fourbar import four_bar, n_four_bar
from genalpha.mechanisms.motor import motor_slider_crank
from genalpha.mechanisms.pendulums import assimulo_pendulum, driven_pendulum, simple_pendulum
from genalpha.mechanisms.rocking import Block, rocking_block
from genalpha.mechanisms.rolling import rolling_disk
from genalpha.mechanisms.skates import chaplygin_sleigh, knife_edge
from genalpha.mechanisms.slidercrank import slider_crank
from genalpha.mechanisms.spatial import heavy_top, spherical_pendulum
from genalpha.mechanisms.squeezer import andrews_squeezer
from genalpha.mechanisms.squeezer_absolute import andrews_absolute
from genalpha.mechanisms.stiff_pendulum import pendulum_jn, prescribed_mass
from genalpha.model import Mechanism

_MOVING: tuple[Callable[..., Mechanism], ...] = (
    jay_negrut_test,
    jay_test,
    hht_test,
    pendulum_jn,
    prescribed_mass,
    simple_pendulum,
    assimulo_pendulum,
    driven_pendulum,
    four_bar,
    n_four_bar,
    slider_crank,
    andrews_squeezer,
    andrews_absolute,
    car_axis,
    chain,
    closed_chain,
    spherical_pendulum,
    heavy_top,
    flexible_pendulum,
    bouncing_pendulum,
    rocking_block,
    clutch,
    rolling_disk,
    knife_edge,
    chaplygin_sleigh,
)
#: With first-order states.
_DRIVEN: tuple[Callable[..., Mechanism], ...] = (
    motor_slider_crank,
    controlled_pendulum,
    hydraulic_boom,
)


def catalogue(states: bool | None = None) -> Mapping[str, Callable[..., Mechanism]]:
    """Return all mechanisms in the order of the docs: name -> function of its parameters.

    Parameters
    ----------
    states : bool, optional
        True: only those with first-order states, whose callbacks take z. False: only the others.
        None (default): all.
    """
    of_states = {True: _DRIVEN, False: _MOVING, None: (*_MOVING, *_DRIVEN)}
    functions = of_states[states]
    return MappingProxyType({function.__name__: function for function in functions})


__all__ = [
    "Block",
    "Clutch",
    "Stop",
    "catalogue",
    *(function.__name__ for function in (*_MOVING, *_DRIVEN)),
]
