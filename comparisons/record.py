"""One run of one solver on one mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from comparisons.names import Counter, Drift, Form, Setting, Status, Variable
from comparisons.store import Stored

SCHEMA = 1


class Key(NamedTuple):
    """What makes a run: the same key, the same run."""

    mechanism: str
    solver: str
    form: Form
    setting: Setting
    value: float

    def __str__(self) -> str:
        at = f"{self.setting.symbol} = {self.value:.3g}"
        return f"{self.mechanism} · {self.solver} · {self.form} · {at}"


class Series(NamedTuple):
    """Runs that differ in the setting's value only."""

    mechanism: str
    solver: str
    form: Form
    setting: Setting


@dataclass(frozen=True)
class Extent:
    """A quantity over a run: its largest value and the last one."""

    max: float
    final: float


@dataclass(frozen=True)
class Record(Stored):
    """Everything measured in one run.

    Attributes
    ----------
    mechanism, solver, form, setting, value
        See `Key`; `value` is a step size or a tolerance (rtol = atol).
    status, reason
        How it ended, and why if not well.
    t_final : float
    error : Variable -> Extent
        Largest component of the difference from the reference at the sample times.
    scale : Variable -> float
        Largest component of the reference; `error / scale` is the relative error.
    drift : Drift -> Extent
        Largest residual of the constraints at the solver's own steps.
    energy : Extent or None
        Deviation of the energy from the reference's, at the sample times.
    counters : Counter -> int or None
        As the solver reports them; None: it does not.
    calls : str -> int
        Calls of the mechanism's callbacks, counted by the mechanism.
    wall_time, cpu_time : float or None
        Median seconds of `repeats` serial runs; None: not timed.
    history : str -> list
        Thinned out over the run: "t", each `Drift`, and "h", the step sizes.
    """

    mechanism: str
    solver: str
    form: Form
    setting: Setting
    value: float
    t_final: float
    status: Status
    reason: str = ""
    error: dict[Variable, Extent] = field(default_factory=dict)
    scale: dict[Variable, float] = field(default_factory=dict)
    drift: dict[Drift, Extent] = field(default_factory=dict)
    energy: Extent | None = None
    counters: dict[Counter, int | None] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    wall_time: float | None = None
    cpu_time: float | None = None
    repeats: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def key(self) -> Key:
        """What makes this run."""
        return Key(self.mechanism, self.solver, self.form, self.setting, self.value)

    @property
    def series(self) -> Series:
        """The series that this run belongs to."""
        return Series(self.mechanism, self.solver, self.form, self.setting)

    @property
    def ok(self) -> bool:
        """Whether the run reached its end with a usable result."""
        return self.status is Status.OK

    def relative_error(self, variable: Variable) -> float | None:
        """Largest error over the trajectory, relative to the reference's largest component."""
        if variable not in self.error:
            return None
        return self.error[variable].max / (self.scale[variable] or 1.0)

    def per_step(self, counter: Counter) -> float | None:
        """Work per accepted step."""
        work, steps = self.counters.get(counter), self.counters.get(Counter.STEPS)
        return None if work is None or not steps else work / steps

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Record:
        """Return the record of what was one line of JSON; unknown words are errors."""
        if data.get("schema") != SCHEMA:
            raise ValueError(f"a record of schema {data.get('schema')!r}; this is {SCHEMA}")
        # older records have another word for it
        data["setting"] = Setting(data["setting"] if "setting" in data else data["knob"])
        data["form"] = Form(data["form"])
        data["status"] = Status(data["status"])
        data["error"] = {Variable(k): Extent(**v) for k, v in data["error"].items()}
        data["scale"] = {Variable(k): v for k, v in data["scale"].items()}
        data["drift"] = {Drift(k): Extent(**v) for k, v in data["drift"].items()}
        data["energy"] = Extent(**data["energy"]) if data["energy"] else None
        data["counters"] = {Counter(k): v for k, v in data["counters"].items()}
        return cls(**{f.name: data[f.name] for f in fields(cls)})


def by_series(records: Iterable[Record]) -> dict[Series, list[Record]]:
    """Group records, each series from the coarsest to the finest run."""
    groups: dict[Series, list[Record]] = {}
    for record in records:
        groups.setdefault(record.series, []).append(record)
    return {key: sorted(group, key=lambda r: -r.value) for key, group in groups.items()}
