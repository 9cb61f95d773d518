"""How likely a grasp holds: what becomes of each sample, counted with intervals (docs/theory/monte-carlo.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.renamed import accept_old
from garra.study.run import import_pandas

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

OUTCOMES = tuple(_core.grasp_outcomes)
"""Names of the outcomes of a sample, as in Ranking.outcomes"""
ACCELERATION: float = _core.held_acceleration
"""[m/s^2] of a contact at rest, 0.01 g; it opens above (docs/theory/grasp-model.md, section 7)"""


@dataclass(frozen=True)
class Estimate:
    """Estimated probability: fraction of the decided samples, with its 95 % interval.

    Parameters
    ----------
    probability : float
        NaN without decided samples.
    interval : (float, float)
        Lower and upper end.

    Examples
    --------
    >>> from garra.grasp.robustness import Estimate
    >>> Estimate(0.9, (0.8, 0.95)).probability
    0.9
    """

    probability: float
    interval: tuple[float, float]


def estimate(success: np.ndarray, unsolved: np.ndarray) -> Estimate:
    """Estimates a probability from masks over samples.

    Parameters
    ----------
    success : array of bool [samples]
        Ignored for unsolved samples.
    unsolved : array of bool [samples]
        Undecided samples, which widen the interval.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from garra.grasp.robustness import estimate
    >>> found = estimate(np.arange(10) < 9, np.zeros(10, bool))
    >>> found.probability, np.round(found.interval, 3)
    (0.9, array([0.555, 0.997]))
    """
    hits, open_ = int((success & ~unsolved).sum()), int(unsolved.sum())
    decided = len(success) - open_
    return Estimate(hits / decided if decided else float("nan"), _core.confidence_interval(hits, decided, open_))


@accept_old
@dataclass(frozen=True, repr=False, eq=False)
class Robustness:
    """Samples of a Monte Carlo study of one grasp with k contacts; contact axes (n, t, o).

    Examples
    --------
    >>> from garra.files import data
    >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
    >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
    >>> found.p_held, found.p_no_slip, found.samples
    (0.89, 0.96, 100)
    """

    title: str
    seed: int
    friction: np.ndarray  #: [samples, k]
    mass: np.ndarray  #: of the object [kg], [samples]
    wrench: np.ndarray  #: disturbances (force [N]; moment [N m]) at the center of mass, world axes, [samples, 6]
    outcome: np.ndarray  #: one of OUTCOMES, [samples]
    sticks: np.ndarray  #: every contact sticks, [samples]
    solved: np.ndarray  #: the contact forces are certified, [samples]
    balance: np.ndarray  #: 1 forces within the cones balance the wrench, -1 none do, 0 undecided, [samples]
    imbalance: np.ndarray  #: unbalanced part under the command, relative to the whole wrench, [samples]
    force: np.ndarray  #: contact forces on the object [N], NaN where unsolved, [samples, k, 3]
    opens: np.ndarray  #: contacts that open and take no part in `held`, [samples, k]
    non_unique: np.ndarray  #: a second certified solution has a different motion, [samples]

    contacts: list[str]  #: their names, [k]
    moves: np.ndarray  #: the contact slips or opens, [samples, k]

    @property
    def limiting_contact(self) -> dict[str, int]:
        """Number of samples in which each contact slips or opens, the most frequent first.

        Returns
        -------
        dict

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(9.0), samples=100)
        >>> found.limiting_contact
        {'end_effector': 66}
        """
        counts = (self.moves & self.solved[:, None]).sum(axis=0)
        return {self.contacts[j]: int(counts[j]) for j in np.argsort(-counts, kind="stable") if counts[j]}

    @property
    def margin(self) -> np.ndarray:
        """Smallest 1 - |c_T| / (mu c_n) of the contacts that press, of the forces found.

        With redundant contacts other forces may have a larger one; `rank` takes the least friction of all forces.

        Returns
        -------
        array [samples]
            NaN if unsolved; 0 if no contact presses, and for a pure normal force without friction.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.margin.shape, bool((found.margin <= 1).all())
        ((100,), True)
        """
        n, tangential = self.force[:, :, 0], np.hypot(self.force[:, :, 1], self.force[:, :, 2])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(self.friction * n > 0, tangential / (self.friction * n), 1.0)
        share = np.where(n > 0, share, 0.0).max(axis=1, initial=0.0)
        return np.where(self.solved, np.where((n > 0).any(axis=1), 1 - share, 0.0), np.nan)

    @property
    def samples(self) -> int:
        return len(self.outcome)

    @property
    def outcomes(self) -> dict[str, int]:
        """Samples per outcome.

        Returns
        -------
        dict

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> {name: count for name, count in found.outcomes.items() if count}
        {'held': 89, 'not_resisted': 11}
        """
        return {name: int((self.outcome == name).sum()) for name in OUTCOMES}

    @property
    def held(self) -> Estimate:
        """Forces leave the contacts at rest, forces within the cones balance the wrench, and the command carries it.

        Returns
        -------
        Estimate

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.held.probability
        0.89
        """
        return estimate(self.outcome == "held", self.outcome == "unsolved")

    @property
    def no_slip(self) -> Estimate:
        """Every contact sticks, though hand and object may move together.

        Returns
        -------
        Estimate

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.no_slip.probability
        0.96
        """
        return estimate(self.sticks, ~self.solved)

    @property
    def resisted(self) -> Estimate:
        """Some forces within the friction cones balance the wrench, independent of the command.

        Returns
        -------
        Estimate

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.resisted.probability
        0.89
        """
        return estimate(self.balance > 0, self.balance == 0)

    @property
    def p_held(self) -> float:
        return self.held.probability

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of p_held."""
        return self.held.interval

    @property
    def p_no_slip(self) -> float:
        return self.no_slip.probability

    @property
    def p_resisted(self) -> float:
        return self.resisted.probability

    @property
    def plot(self) -> Plots:
        return Plots(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Data frame with one row per sample.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            Without pandas.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.to_pandas()["outcome"].value_counts()  # doctest: +SKIP
        """
        pandas = import_pandas()

        k = self.friction.shape[1]
        columns: dict[str, Any] = {"outcome": pandas.Categorical(self.outcome, OUTCOMES)}
        columns["mass"] = self.mass
        columns |= {f"friction_{j + 1}": self.friction[:, j] for j in range(k)}
        names = ("force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z")
        columns |= {name: self.wrench[:, i] for i, name in enumerate(names)}
        columns |= {f"c_{axis}_{j + 1}": self.force[:, j, i] for j in range(k) for i, axis in enumerate("nto")}
        return pandas.DataFrame(columns | {"imbalance": self.imbalance})

    def _lines(self) -> list[tuple[str, str, str]]:
        rows = (("P(held)", self.held), ("P(no slip)", self.no_slip), ("P(resisted)", self.resisted))
        return [(name, f"{e.probability:.4f}", "[{:.4f}, {:.4f}]".format(*e.interval)) for name, e in rows]

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self.samples} samples, seed {self.seed}"]
        lines += [f"  {name:<15}{p}  {interval}" for name, p, interval in self._lines()]
        counts = [f"{name} {count}" for name, count in self.outcomes.items() if count]
        if self.limiting_contact:
            some = ", ".join(f"{name} {n}" for name, n in list(self.limiting_contact.items())[:4])
            counts = [*counts, f"slips or opens: {some}"]
        return "\n".join([*lines, *(f"  {note}" for note in self._notes()), "  " + ", ".join(counts)])

    def _notes(self) -> list[str]:
        """Counts of samples that are held with fewer contacts or whose solution is not unique."""
        left = (~self.opens).sum(axis=1)
        held = (self.outcome == "held") & self.opens.any(axis=1)
        notes = {
            "held without the contacts that open": held,
            "held by fewer than three contacts, the others open": held & (left < 3),
            "not unique, another certified solution moves otherwise": self.non_unique,
        }
        return [f"{what}: {mask.sum()} of {self.samples}" for what, mask in notes.items() if mask.any()]

    def _repr_html_(self) -> str:
        from html import escape

        low, high = (100 * end for end in self.interval)
        rows = "".join(f"<tr><td>{n}</td><td>{p}</td><td>{i}</td></tr>" for n, p, i in self._lines())
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in self.outcomes.items() if count)
        bar = (
            '<div style="position:relative;height:8px;background:#8884;border-radius:4px;max-width:24em">'
            f'<div style="position:absolute;left:{low:.2f}%;width:{max(high - low, 0.5):.2f}%;height:8px;'
            'background:#21859b;border-radius:4px"></div></div>'
        )
        head = f"<b>{escape(self.title)}</b> {self.samples} samples, seed {self.seed}"
        return f"<div>{head}{bar}<table>{rows}</table><small>{counts}</small></div>"


@dataclass(frozen=True)
class Plots:
    """Figures of a Robustness on matplotlib axes.

    Parameters
    ----------
    of : Robustness
        Samples that are drawn.

    Examples
    --------
    >>> from garra.files import data
    >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
    >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
    >>> found.plot.of is found
    True
    """

    of: Robustness

    def friction(self, ax: Axes | None = None, bins: int = 12) -> Axes:
        """Plots P(held) over the smallest friction coefficient of a sample, in equal bins, with 95 % intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes; default: new ones.
        bins : int
            Number of bins, of equal numbers of samples.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.plot.friction().get_ylabel()  # doctest: +SKIP
        """
        from garra.study.run import axes

        ax = axes(ax)
        smallest = self.of.friction.min(axis=1)
        order = np.argsort(smallest, kind="stable")
        parts = [part for part in np.array_split(order, bins) if len(part)]
        found = [estimate(self.of.outcome[p] == "held", self.of.outcome[p] == "unsolved") for p in parts]
        at = [smallest[part].mean() for part in parts]
        middle = [e.probability for e in found]
        ends = np.array([e.interval for e in found])
        ax.vlines(at, ends[:, 0], ends[:, 1], color="#21859b", linewidth=1.5)
        ax.plot(at, middle, "o", color="#21859b", markersize=4)
        ax.set(xlabel="smallest friction coefficient of the contacts", ylabel="P(held)", ylim=(-0.03, 1.03))
        return ax
