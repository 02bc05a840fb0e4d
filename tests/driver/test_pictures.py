"""Pictures and films of a solution."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from genalpha import integrate, mechanisms
from genalpha.errors import InvalidOptionError

from .support import mechanism, oscillator, pendulum


@pytest.fixture
def plt():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


def curves(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_ydata() for line in ax.get_lines()}


def test_four_panels(plt) -> None:
    solution = integrate(mechanism("simple_pendulum"), 1.0)
    motion, lam, drift, steps = solution.plot().axes
    assert set(curves(motion)) == {"x", "y"}
    assert np.array_equal(curves(lam)["rod"], solution.lam[:, 0])
    residuals = np.maximum(solution.residuals().largest("velocity"), 1e-17)
    assert np.array_equal(curves(drift)["velocity constraints"], residuals)
    assert set(curves(drift)) == {
        "position constraints",
        "velocity constraints",
        "change of energy",
    }
    assert steps.get_yscale() == "log" and steps.get_lines()


def test_names_many_curves_and_events(plt) -> None:
    chain = integrate(mechanism("chain"), 0.02, h=0.005)
    motion, lam, *_ = chain.plot().axes
    assert len(motion.get_lines()) == 8 and "8 of" in motion.get_title()
    shapes = {line.get_label() for line in lam.get_lines()}
    assert shapes <= set(chain.mechanism.constraint_names)

    def bottom(t, q, v):
        return q[0]

    swing = integrate(pendulum(coordinate_names=["x", "y"]), 1.0, events=bottom)
    motion, *_ = swing.plot(plt.figure()).axes
    assert {"x", "y"} <= set(curves(motion))
    (t,) = swing.t_events[0]
    assert any(list(line.get_xdata()) == [t, t] for line in motion.get_lines())


def test_without_constraints_velocities_are_drawn(plt) -> None:
    *_, drift, _ = integrate(oscillator(), 1.0, t_eval=[0.0, 0.5, 1.0]).plot().axes
    assert not drift.get_lines() and "no constraints" in drift.texts[0].get_text()


@pytest.mark.parametrize("ending", ["gif", "html"])
def test_a_film(plt, tmp_path: Path, ending: str) -> None:
    solution = integrate(mechanism("slider_crank"), 0.02, h=0.002)
    file = tmp_path / f"film.{ending}"
    solution.animate(file, seconds=0.5, fps=10)
    assert not plt.get_fignums()
    if ending == "html":
        text = file.read_text(encoding="utf-8")
        assert text.count("data:image/png;base64") == 5 and "<script" in text
        return
    with pytest.importorskip("PIL.Image").open(file) as image:
        frames = []
        for i in range(image.n_frames):
            image.seek(i)
            frames.append(np.asarray(image.convert("RGB")))
    assert len(frames) == 5
    assert np.any(frames[0] != frames[-1])


def test_a_film_as_svg_needs_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    solution = integrate(mechanism("simple_pendulum"), 0.5, h=0.01)
    file = tmp_path / "film.svg"
    assert solution.animate(file, seconds=2.0, fps=10, trail=True) is None
    trail, rod = ElementTree.parse(file).getroot().findall("{*}polyline")
    frames = rod.find("{*}animate").get("values").split(";")
    assert len(frames) == 20 and rod.find("{*}animate").get("dur") == "2s"
    hinge, bob = (np.array(point.split(","), dtype=float) for point in frames[-1].split())
    down = solution.q[-1] * [1.0, -1.0] / np.hypot(*solution.q[-1])
    assert np.allclose((bob - hinge) / np.hypot(*(bob - hinge)), down, atol=1e-2)
    covered = [float(x) for x in trail.find("{*}animate").get("values").split(";")]
    assert covered[0] == 1.0 and covered[-1] == 0.0 and np.all(np.diff(covered) < 0.0)


def test_a_trail_is_in_every_film(plt, tmp_path: Path) -> None:
    solution = integrate(mechanism("simple_pendulum"), 0.5, h=0.01)
    sizes = []
    for trail in (False, True):
        solution.animate(tmp_path / "film.gif", seconds=1.0, fps=5, trail=trail)
        sizes.append((tmp_path / "film.gif").stat().st_size)
    assert sizes[0] != sizes[1]


@pytest.mark.parametrize("name", ["simple_pendulum", "rolling_disk", "andrews_squeezer"])
def test_the_catalogue_has_sketches(plt, tmp_path: Path, name: str) -> None:
    solution = integrate(mechanisms.catalogue()[name](), 1e-3, h=1e-4)
    solution.animate(tmp_path / "film.gif", seconds=0.2, fps=10)
    assert (tmp_path / "film.gif").stat().st_size > 1000


def test_a_sketch_of_ones_own(plt, tmp_path: Path) -> None:
    solution = integrate(pendulum(), 0.2, h=0.01)
    with pytest.raises(InvalidOptionError, match=r"no sketch of 'pendulum'; give one: sketch="):
        solution.animate(tmp_path / "film.gif")
    seen = []

    def sketch(t, q):
        seen.append((t, *q))
        return [[[0.0, 0.0], q]]

    solution.animate(tmp_path / "film.gif", sketch=sketch, seconds=0.3, fps=10)
    assert len(seen) == 3
    assert seen[-1][0] == 0.2 and np.allclose(seen[-1][1:], solution.q[-1], atol=1e-12)
    with pytest.raises(InvalidOptionError, match=r"sketch returned shapes \[\(2,\)\]"):
        solution.animate(tmp_path / "film.gif", sketch=lambda t, q: [q])


def test_what_is_refused(tmp_path: Path) -> None:
    solution = integrate(mechanism("simple_pendulum"), 0.1, h=0.05)
    with pytest.raises(InvalidOptionError) as caught:
        solution.animate(tmp_path / "film.avi", seconds=-1.0, fps=0)
    assert len(caught.value.faults) == 3


def test_without_matplotlib_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = integrate(mechanism("simple_pendulum"), 0.1, h=0.05)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (solution.plot, solution.animate):
        with pytest.raises(ImportError, match="pip install matplotlib"):
            draw()
