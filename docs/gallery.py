"""Pictures of the mechanisms for their page: films of their sketches, and a few telling curves.

Both are drawn along the reference solution while the documentation is built.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from genalpha.driver.moving_svg import moving_svg
from genalpha.mechanisms import catalogue
from genalpha.mechanisms.sketches import sketch
from genalpha.model import Mechanism, Motion

#: Shortest and longest film, in seconds, and its frames per second.
SHORTEST, LONGEST, FPS = 4.0, 8.0, 16
POINTS = 129


@dataclass(frozen=True)
class Curves:
    """What is drawn over time: coordinates (or their rates), by name, and in which unit.

    Parameters
    ----------
    what : str
        The axis.
    names : tuple of str
        Coordinates.
    t_end : float
        The end.
    of : str, optional
        Their "q" or "v"; "z": first-order states instead of coordinates.
    trail : bool, optional
        Whether the last point of the sketch leaves its path in the film.
    unit : str, optional
        Of the time.
    """

    what: str
    names: tuple[str, ...]
    t_end: float = 1.5
    of: str = "q"
    trail: bool = False
    unit: str = "s"


#: What tells most about each mechanism.
CURVES = {
    "jay_negrut_test": Curves("coordinates (no units)", ("q[0]", "q[1]"), unit=""),
    "jay_test": Curves("coordinates (no units)", ("q[0]", "q[1]"), unit=""),
    "hht_test": Curves("coordinates (no units)", ("q[0]", "q[1]"), unit=""),
    "pendulum_jn": Curves("angle (rad)", ("theta",), 1.0),
    "prescribed_mass": Curves("position (m)", ("x",)),
    "simple_pendulum": Curves("position (m)", ("x", "y"), 4.0, trail=True),
    "assimulo_pendulum": Curves("position (m)", ("x", "y"), 4.0, trail=True),
    "driven_pendulum": Curves("position (m)", ("x", "y"), 6.0, trail=True),
    "four_bar": Curves("angles (rad)", ("crank angle", "coupler angle", "rocker angle"), 3.0),
    "n_four_bar": Curves("position of the coupler (m)", ("coupler x", "coupler y"), 3.0),
    "slider_crank": Curves("position along the slide (m)", ("slider x", "mass x"), 1.5),
    "andrews_squeezer": Curves("angles (rad)", ("beta", "Theta"), 0.03),
    "andrews_absolute": Curves("angles of bodies 1, 2, 3 (rad)", ("angle 1", "angle 2", "angle 3"),
                               0.03),
    "car_axis": Curves("heights (no units)", ("left y", "right y"), 3.0, unit=""),
    "chain": Curves("angles of the links (rad)", ("link 0 angle", "link 2 angle", "link 4 angle"),
                    trail=True),
    "closed_chain": Curves("heights of the links (m)", ("link 1 y", "link 2 y", "link 3 y"), 2.0),
    "spherical_pendulum": Curves("position (m)", ("x", "y", "z"), 5.0, trail=True),
    "heavy_top": Curves("centre of mass (m)", ("x", "y", "z"), 0.8, trail=True),
    "flexible_pendulum": Curves("free end (m)", ("node 4 x", "node 4 y"), 0.25, trail=True),
    "bouncing_pendulum": Curves("position (m)", ("x", "y"), 4.0),
    "rocking_block": Curves("angle (rad)", ("angle",), 3.0),
    "clutch": Curves("speeds (rad/s)", ("drive angle", "load angle"), 3.5, of="v"),
    "rolling_disk": Curves("angles (rad)", ("tilt", "heading"), 1.0),
    "knife_edge": Curves("position on the slope (m)", ("x", "y"), 6.0, trail=True),
    "chaplygin_sleigh": Curves("position (m)", ("x", "y"), 4.0, trail=True),
    "motor_slider_crank": Curves("current (A)", ("current",), 1.2, of="z"),
    "controlled_pendulum": Curves("position (m)", ("cart", "mass x"), 5.0),
    "hydraulic_boom": Curves("pressure (bar)", ("pressure below", "pressure above"), 1.0, of="z"),
}  # fmt: skip


@cache
def mechanism_of(name: str) -> Mechanism:
    """Build each mechanism once."""
    return catalogue()[name]()


@cache
def motions_of(name: str) -> list[tuple[float, Motion]]:
    """The reference at equal intervals, computed once."""
    times = np.linspace(0.0, curves_of(name).t_end, POINTS)
    return [(t, mechanism_of(name).reference.motion(t)) for t in times]


def curves_of(name: str) -> Curves:
    """A mechanism that nobody has described shows its first three coordinates."""
    return CURVES.get(name) or Curves("coordinates", mechanism_of(name).coordinate_names[:3])


def seconds_of(name: str) -> float:
    """Length of the film."""
    return float(np.clip(curves_of(name).t_end, SHORTEST, LONGEST))


@cache
def film(name: str) -> str | None:
    """The moving sketch as SVG; None for test problems that are no mechanisms."""
    o, seconds = mechanism_of(name), seconds_of(name)
    if not sketch(o, 0.0, o.q0):
        return None
    chosen = np.linspace(0, POINTS - 1, round(seconds * FPS)).round().astype(int)
    frames = [sketch(o, t, m.q) for t, m in (motions_of(name)[i] for i in chosen)]
    return moving_svg(frames, seconds, f"{name} in motion", curves_of(name).trail)


def pace(name: str) -> str:
    """How fast the film is, in words."""
    curves, seconds = curves_of(name), seconds_of(name)
    if not curves.unit:
        return f"t = 0 to {curves.t_end:g}"
    ratio = seconds / curves.t_end
    if ratio > 1.05:
        return f"{curves.t_end:g} s, {ratio:.3g} times slower"
    return f"{curves.t_end:g} s"


def picture(name: str) -> str:
    """The curves as SVG."""
    o, curves = mechanism_of(name), curves_of(name)
    t = [time for time, _ in motions_of(name)]
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    axes = figure.subplots()
    for label in curves.names:
        j = list(o.state_names if curves.of == "z" else o.coordinate_names).index(label)
        values = [getattr(motion, curves.of)[j] for _, motion in motions_of(name)]
        axes.plot(t, values, label=label.removesuffix(" angle"), linewidth=1.6)
    unit = f" ({curves.unit})" if curves.unit else ""
    axes.set(xlabel=f"time{unit}", ylabel=curves.what)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves.names) > 1:
        axes.legend(frameon=False)
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "font.size": 11}):
        figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
    return text.getvalue()
