"""What an integration cost, counted."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Counters:
    """What an integration cost, and what went wrong on the way.

    Attributes
    ----------
    nsteps : int
        Accepted steps.
    nfcns : int
        Residual evaluations: corrections computed.
    njacs : int
        Iteration matrices evaluated.
    nfcnjacs : int
        Evaluations of the equations of motion for differenced derivatives; 0 if all are given.
    nlus : int
        Matrix factorizations.
    nniters : int
        Newton iterations.
    nnfails : int
        Steps whose iteration did not converge, not even with a new matrix for every correction.
    nerrfails : int
        Steps rejected because the error was too large.
    h_min, h_max : float
        Smallest and largest accepted step, without sign; 0 before the first.
    rejections : list of (float, float)
        Time and size of every rejected step, for plots.
    calls : dict
        How often each callback of the mechanism was called, by name; differences included.
    """

    nsteps: int = 0
    nfcns: int = 0
    njacs: int = 0
    nfcnjacs: int = 0
    nlus: int = 0
    nniters: int = 0
    nnfails: int = 0
    nerrfails: int = 0
    h_min: float = 0.0
    h_max: float = 0.0
    rejections: list[tuple[float, float]] = field(default_factory=list, repr=False)
    calls: dict[str, int] = field(default_factory=dict)

    def note_size(self, h: float) -> None:
        """Note the size of an accepted step."""
        size = abs(h)
        if size > self.h_max:
            self.h_max = size
        if size < self.h_min or not self.h_min:
            self.h_min = size
