"""Make the figures and the measured tables of the pages: python docs/figures.py [name ...].

Figures go to docs/pages/images. Tables go into the pages themselves, between the markers
``<!-- measured: name -->`` and ``<!-- end -->``; nobody types numbers there. Without names
everything is made, in about five minutes, most of them for the table `proportionality`; ``--list``
lists the names.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import warnings
from functools import wraps
from pathlib import Path

# the times of small systems are wanted, not those of waking threads; before NumPy is loaded
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
import ablation as ablations
import bounds
import choices
import first_order
import forms
import linear_solvers
import local_errors
import orders
import oscillator
import sources as source_times
import transients
import variants

from comparisons import table
from comparisons.plots import envelope
from comparisons.tolerances import study as tolerance_study
from comparisons.tolerances import table as tolerances_table
from genalpha import Coefficients, Mechanism, imports, integrate, mechanisms
from genalpha.mechanisms.stiff_chain import stiff_chain as vibrating_chain
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import saddle, stack
from genalpha.schemes import SCHEMES

PAGES = Path(__file__).parent / "pages"
IMAGES = PAGES / "images"
TUTORIAL = PAGES / "tutorial.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "savefig.dpi": 120,
    "figure.constrained_layout.use": True,
}


def save(figure, name):
    """Write a figure, without anything in it that changes from run to run."""
    figure.savefig(IMAGES / f"{name}.png", metadata={"Software": None})
    plt.close(figure)


def markdown(header, rows):
    """Return a table in Markdown."""
    return table.markdown(table.grid(header, rows, left=len(header))).rstrip("\n")


# --- the tutorial's mechanism -------------------------------------------------------------------


def tutorial_blocks():
    """Return the Python blocks of the tutorial that need no Assimulo, in order."""
    blocks = BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))
    return [block for block in blocks if "needs Assimulo" not in block]


def tutorial():
    """Run the tutorial and keep its figure."""
    space = {}
    plt.close("all")
    with mpl.rc_context({"figure.constrained_layout.use": True}):
        for block in tutorial_blocks():
            exec(block.replace("plt.show()", ""), space)
    save(plt.gcf(), "tutorial")


def results():
    """The figure of the page on results."""
    blocks = BLOCK.findall((PAGES / "results.md").read_text(encoding="utf-8"))
    space = {}
    exec(blocks[0], space)
    save(space["solution"].plot(), "results")


def double_pendulum():
    space = {}
    exec(tutorial_blocks()[0], space)
    return space["pendulum"]


def moving():
    """The double pendulum of the first page, as a film."""

    def rods(t, q):
        return [np.array([[0.0, 0.0], q[:2], q[2:]])]

    solution = integrate(double_pendulum(), 10.0, rtol=1e-7, atol=1e-7)
    solution.animate(IMAGES / "double-pendulum.svg", sketch=rods, fps=20, trail=True)


def index():
    """How far four methods are from the constraints of a double pendulum."""
    o = double_pendulum()
    end, h = 10.0, 5e-3

    def accelerate(t, y):
        vdot, _, _ = accelerations(o, t, y[:4], y[4:], np.zeros(2), np.zeros(0))
        return np.concatenate([y[4:], vdot])

    explicit = solve_ivp(accelerate, (0.0, end), [*o.q0, *o.v0], rtol=1e-6, atol=1e-6)
    runs = {"Runge–Kutta (SciPy's RK45)": (explicit.t, explicit.y[:4].T, explicit.y[4:].T)}
    for scheme in SCHEMES:
        s = integrate(o, end, scheme, h)
        runs[scheme] = (s.t, s.q, s.v)
    figure, axes = plt.subplots(1, len(runs), figsize=(10.5, 3.0), sharex=True, sharey=True)
    for axis, (label, (t, q, v)) in zip(axes, runs.items(), strict=True):
        g = [np.abs(o.holonomic(*x)).max() for x in zip(t, q, strict=True)]
        rate = [np.abs(o.holonomic_rate(*x)).max() for x in zip(t, q, v, strict=True)]
        for values, color, name in ((rate, "C1", "velocities"), (g, "C0", "positions")):
            axis.semilogy(*envelope(t, np.maximum(values, 1e-17)), color=color, lw=1.6, label=name)
        axis.set(xlabel="t in s", title=label, ylim=(1e-17, 1.0))
    axes[0].set_ylabel("distance from the constraints")
    axes[0].legend(loc="lower right", fontsize=8)
    save(figure, "index")


# --- Arnold and Brüls 2007 ----------------------------------------------------------------------


def iteration_matrices(o, h, c):
    """Return S_t as printed and D_L S_t D_R of (9), (10) at the start of a mechanism."""
    t, q, v = o.t0, o.q0, o.v0
    vdot, lam, psi = accelerations(o, t, q, v, *o.multiplier_guess())
    bp = (1.0 - c.alpha_m) / (h**2 * c.beta * (1.0 - c.alpha_f))
    gp = c.gamma / (h * c.beta)
    K = o.tangent(t, q, v, vdot, lam, psi, 1.0, gp)
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    R = o.reaction_jacobian(t, q, v, lam, psi)
    S = saddle(bp * o.mass(t, q) + K, -R, J)
    left, right = np.ones(len(S)), np.ones(len(S))
    left[: o.n_q] = c.beta * h**2
    right[o.n_q :] = 1.0 / (c.beta * h**2)
    return S, left[:, None] * S * right


def condition():
    """Condition number of the iteration matrix with and without scaling."""
    c = Coefficients.chung_hulbert(0.8)
    sizes = np.geomspace(1e-1, 1e-7, 37)
    figure, axis = plt.subplots(figsize=(6.5, 3.6))
    for name, color in (("four_bar", "C0"), ("simple_pendulum", "C1")):
        o = getattr(mechanisms, name)()
        numbers = np.array(
            [[np.linalg.cond(S) for S in iteration_matrices(o, h, c)] for h in sizes]
        )
        axis.loglog(sizes, numbers[:, 0], "--", color=color, label=f"{name}, not scaled (8)")
        axis.loglog(sizes, numbers[:, 1], "-", color=color, label=f"{name}, scaled (9), (10)")
    axis.axhline(1.0 / np.finfo(float).eps, color="k", lw=0.8, ls=":")
    axis.text(1e-1, 0.25 / np.finfo(float).eps, "1 / rounding unit ", va="top", fontsize=8)
    axis.invert_xaxis()
    axis.set(xlabel="step size h", ylabel="condition number")
    axis.legend(fontsize=8, loc="upper left")
    save(figure, "condition")


def undamped():
    """Multipliers of Andrews' squeezer with and without numerical damping, as in Figs. 7 and 8."""
    o = mechanisms.andrews_squeezer()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharex=True, sharey=True)
    for axis, rho_inf in zip(axes, (0.7, 1.0), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = integrate(o, 0.03, "GenAlphaI3", 3e-4, rho_inf=rho_inf)
        axis.plot(1e3 * s.t, s.lam[:, 4], color="C3", lw=1.0, label="GenAlphaI3, h = 0.3 ms")
        times = np.linspace(0.0, 0.03, 600)
        true = [o.reference.motion(t).lam[4] for t in times]
        axis.plot(1e3 * times, true, "k", lw=0.8, label="reference")
        axis.set(title=f"rho_inf = {rho_inf:g}", xlabel="t in ms")
    low, high = min(true), max(true)
    axes[0].set(ylabel="lam[4]", ylim=(low - 0.6 * (high - low), high + 0.6 * (high - low)))
    axes[0].legend(fontsize=8)
    save(figure, "undamped")


def with_sources(table):
    """Run what replaces parts of a module on its source: compiled ones know no replacement."""

    @wraps(table)
    def run():
        if not imports.COMPILED:
            return table()
        script = f"import figures; print(figures.{table.__name__}())"
        told = subprocess.run(
            [sys.executable, "-c", script],
            cwd=Path(__file__).parent,
            capture_output=True,
            env={**os.environ, "GENALPHA_PLAIN": "1"},
            text=True,
            check=True,
        )
        return told.stdout.rstrip()

    return run


@with_sources
def order_i3():
    return markdown(*orders.order_i3())


def order_soi2():
    return markdown(*orders.order_soi2())


def order_start():
    return markdown(*orders.order_start())


def coefficients():
    return markdown(*orders.coefficients())


def decay():
    return markdown(*orders.decay())


# --- adaptive steps -----------------------------------------------------------------------------


def constants():
    """Error constants from runs with a force e^t, beside the formulas."""
    o = Mechanism(force=lambda t, q, v: np.array([np.exp(t)]), q0=[1.0], v0=[1.0])
    h, e, rows = 1e-3, np.e, []
    for label, c in {
        "Chung and Hulbert, rho_inf = 0.8": Coefficients.chung_hulbert(0.8),
        "Chung and Hulbert, rho_inf = 0.2": Coefficients.chung_hulbert(0.2),
        "Chung and Hulbert, rho_inf = 0": Coefficients.chung_hulbert(0.0),
        "HHT, alpha = -0.1": Coefficients.hht(-0.1),
        "HHT, alpha = -0.3": Coefficients.hht(-0.3),
        "trapezoidal rule": Coefficients.trapezoidal(),
    }.items():
        s = integrate(o, 1.0, "GenAlphaSOI2", h, coefficients=c)
        # global errors: v collects C_v h^3 v''' per step, q collects C_q h^3 v'' and v's error
        C_v = (s.v[-1, 0] - e) / (h**2 * (e - 1.0))
        C_q = ((s.q[-1, 0] - e) / h**2 - C_v * (e - 2.0)) / (e - 1.0)
        alpha = c.alpha
        true_q = c.beta + alpha / 2.0 - 1.0 / 6.0
        true_v = 1.0 / 12.0 - alpha**2 / 2.0 - alpha / 2.0 * (1.0 - c.alpha_m - c.alpha_f)
        rows.append([label, *(f"{x:.4f}" for x in (true_q, C_q, true_v, C_v))])
    header = ["coefficients", "$C_q$", "measured", "$C_v$", "measured"]
    return markdown(header, rows)


def tolerances():
    rows = []
    for name, end, schemes in (
        ("pendulum_jn", 4.0, SCHEMES),
        ("four_bar", 2.0, tuple(SCHEMES)[:2]),
    ):
        o = getattr(mechanisms, name)()
        truth = o.reference.motion(end)
        for scheme in schemes:
            for tolerance in (1e-3, 1e-4, 1e-5, 1e-6):
                s = integrate(o, end, scheme, rtol=tolerance, atol=tolerance)
                pairs = ((s.q, truth.q), (s.v, truth.v), (s.lam, truth.lam))
                errors = [f"{np.abs(x[-1] - y).max():.1e}" for x, y in pairs]
                count = s.statistics
                work = [count.nsteps, count.nerrfails, count.nniters]
                rows.append([f"`{name}`", f"`{scheme}`", f"{tolerance:.0e}", *errors, *work])
    return markdown(
        [
            "mechanism",
            "scheme",
            "rtol = atol",
            "error of q",
            "of v",
            "of lam",
            "steps",
            "rejected",
            "Newton iterations",
        ],
        rows,
    )


def step_sizes():
    """Step sizes of the pendulum with a strong damper."""
    o = mechanisms.pendulum_jn(damper=1e4)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True)
    times = np.geomspace(1e-4, 4.0, 300)
    left.loglog(times, [abs(o.reference.motion(t).v[2]) for t in times], "k", lw=1.0)
    left.set(xlabel="t in s", ylabel="|angular velocity| in rad/s", title="the motion")
    styles = (
        ("GenAlphaI3", 0.9, "C3", "-"),
        ("GenAlphaI3", 0.2, "C3", "--"),
        ("GenAlphaSOI2", 0.9, "C0", "-"),
        ("GenAlphaSOI2", 0.2, "C0", "--"),
    )
    for scheme, rho_inf, color, line in styles:
        s = integrate(o, 4.0, scheme, rtol=1e-4, atol=1e-4, rho_inf=rho_inf)
        label = f"{scheme}, rho_inf = {rho_inf:g}: {s.statistics.nsteps} steps"
        right.loglog(s.steps[1:], np.diff(s.steps), line, color=color, label=label)
    right.set(xlabel="t in s", ylabel="step size in s", title="step sizes, rtol = atol = 1e-4")
    right.legend(fontsize=8)
    save(figure, "step-sizes")


def stiff_chain():
    """Step sizes of a chain with a stiff bushing, beside those of a chain that is held rigidly."""
    o, end = vibrating_chain(), 0.6
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True)
    fine = integrate(o, end, "GenAlphaSOI2", rtol=1e-6, atol=1e-6, rho_inf=0.9, maxsteps=10**6)
    left.plot(fine.t, fine.v[:, -3], "k", lw=0.7)
    left.set(xlabel="t in s", ylabel="horizontal velocity of the last link in m/s")
    left.set_title("the motion")
    for rho_inf, color in ((0.9, "C3"), (0.5, "C0"), (0.0, "C2")):
        s = integrate(o, end, "GenAlphaSOI2", rtol=1e-3, atol=1e-3, rho_inf=rho_inf)
        label = f"rho_inf = {rho_inf:g}: {s.statistics.nsteps} steps"
        s.plot_steps(right, color=color, label=label, lw=0.9)
    rigid = mechanisms.closed_chain(links=5)
    s = integrate(rigid, end, "GenAlphaSOI2", rtol=1e-3, atol=1e-3, rho_inf=0.5)
    label = f"no bushing, rho_inf = 0.5: {s.statistics.nsteps} steps"
    right.semilogy(s.steps[1:], np.diff(s.steps), "k:", lw=1.0, label=label)
    right.set(xlabel="t in s", ylabel="step size in s", title="step sizes, rtol = atol = 1e-3")
    right.legend(fontsize=8)
    save(figure, "stiff-chain")


def proportionality():
    return tolerances_table(tolerance_study(jobs=2)).rstrip("\n")


# --- Newton's iteration ------------------------------------------------------------------------


def linear_solver_times():
    return markdown(*linear_solvers.linear_solvers())


def ablation():
    return markdown(*ablations.ablation())


def newton_shares():
    return markdown(*ablations.newton_shares())


def sources():
    return markdown(*source_times.sources())


@with_sources
def matrices():
    return markdown(*choices.matrices())


def rounding_noise():
    return markdown(*linear_solvers.rounding_noise())


# --- many runs ---------------------------------------------------------------------------------


def sweep():
    script = runpy.run_path(str(Path(__file__).parent / "examples" / "sweep.py"))
    save(script["plot"](*script["main"]()), "sweep")


# --- all of them --------------------------------------------------------------------------------

FIGURES = {
    f.__name__: f
    for f in (
        tutorial,
        results,
        moving,
        index,
        condition,
        undamped,
        step_sizes,
        stiff_chain,
        sweep,
    )
}
TABLES = {
    f.__name__: f
    for f in (
        order_i3,
        order_soi2,
        order_start,
        coefficients,
        decay,
        constants,
        tolerances,
        proportionality,
        ablation,
        newton_shares,
        matrices,
        sources,
        linear_solver_times,
        rounding_noise,
    )
}


def drawn(name, draw):
    """Return what draws and saves a figure of another module."""
    return lambda: save(draw(), name)


def written(make):
    """Return what makes a table of another module, which gives header and rows, or text."""
    return lambda: made if isinstance(made := make(), str) else markdown(*made)


for module in (bounds, first_order, forms, local_errors, oscillator, transients, variants):
    FIGURES |= {name: drawn(name, draw) for name, draw in module.FIGURES.items()}
    TABLES |= {name: written(make) for name, make in module.TABLES.items()}


def insert(name, table):
    """Put a table between its markers, on every page that has them."""
    place = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    found = False
    for page in PAGES.rglob("*.md"):
        old = page.read_text(encoding="utf-8")
        new = place.sub(lambda m: f"{m[1]}\n{table}\n\n{m[2]}", old)
        found |= bool(place.search(old))
        if new != old:
            page.write_text(new, encoding="utf-8")
    if not found:
        raise SystemExit(f"no page has the marker of {name}")


def main(names):
    if names == ["--list"]:
        print(*FIGURES, *TABLES)
        return
    IMAGES.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in names or [*FIGURES, *TABLES]:
            print(name, flush=True)
            if name in FIGURES:
                FIGURES[name]()
            else:
                insert(name, TABLES[name]())


if __name__ == "__main__":
    main(sys.argv[1:])
