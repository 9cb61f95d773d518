"""The trajectories of a chain study, made small enough to travel inside the page, where JavaScript draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from garra.chain.folder import Nominal
from garra.chain.words import short_settings
from garra.page import study_parts
from garra.page.measures import Scale, quantile_text, scale

MOST_NUMBERS = 330_000  # in the page: about 2.7 MB of JSON
DIGITS = 5  # significant; a screen shows fewer
FLAT = 1e-3  # a motion whose third extent is this part of its first is a plane one

Table = dict[str, Any]


def data(summary: Table, nominal: Nominal, chosen: Sequence[int]) -> Table:
    """Data of the page's scripts: numbers in displayed units, points in meters.

    `chosen`: up to three designs to show first. Designs without a trajectory of their own are left out.
    """
    rows = _rows_of_designs(nominal, [d for d in chosen if d in nominal.design])
    scales = _scales(summary, nominal, rows)
    time = scales["time"]
    settle = summary["settle"]
    return {
        "time": time.unit,
        "second": time.factor,
        "times": _list(nominal.times * time.factor),
        "joints": _joints(summary, scales),
        "energy": scales["energy"].unit,
        "balance": scales["balance"].unit,
        "within": None if settle is None else settle["within"] * time.factor,
        "designs": [_design(summary, nominal, row, scales) for row in rows],
        "chosen": [rows.index(nominal.design.index(d)) for d in chosen if d in nominal.design] or [0],
        "ghost": _set_point(settle, nominal),
        **camera(nominal.points[rows]),
    }


def _rows_of_designs(nominal: Nominal, chosen: Sequence[int]) -> list[int]:
    """Trajectories that fit into the page: all, or evenly spaced ones and those that are shown first."""
    count, times, joints = nominal.q.shape
    each = times * (3 * joints + 3 * nominal.points.shape[2] + 5)
    most = max(MOST_NUMBERS // each, len(chosen), 1)
    if count <= most:
        return list(range(count))
    wanted = {nominal.design.index(d) for d in chosen}
    for row in np.linspace(0, count - 1, most).round().astype(int).tolist():
        if len(wanted) < most:
            wanted.add(row)
    return sorted(wanted)


def _scales(summary: Table, nominal: Nominal, rows: Sequence[int]) -> dict[str, Any]:
    def largest(array: np.ndarray) -> float:
        return float(np.nanmax(np.abs(array[rows]), initial=0.0))

    torque = {
        unit: max(largest(nominal.torque[..., j]) for j, u in enumerate(summary["robot"]["torque_units"]) if u == unit)
        for unit in summary["robot"]["torque_units"]
    }
    energies = (nominal.kinetic_energy, nominal.potential_energy, nominal.dissipated, nominal.work)
    return {
        "time": scale("s", float(nominal.times[-1]) * 0.4),
        "torque": {unit: scale(unit, top) for unit, top in torque.items()},
        "energy": scale("J", max(map(largest, energies))),
        "balance": scale("J", largest(nominal.balance)),
    }


def _joints(summary: Table, scales: Table) -> list[Table]:
    robot, settle = summary["robot"], summary["settle"]
    joints = []
    for j, (name, unit, force) in enumerate(
        zip(robot["joint_names"], robot["units"], robot["torque_units"], strict=True)
    ):
        place, speed = scale(unit, 0.0), scale(f"{unit}/s", 0.0)
        at = None if settle is None or settle["at"] is None else _number(settle["at"][j] * place.factor)
        band = None if settle is None or settle["band"] is None else _number(settle["band"] * place.factor)
        joints.append(
            {
                "name": name,
                "prismatic": unit == "m",
                "q": place.unit,
                "qd": speed.unit,
                "torque": scales["torque"][force].unit,
                "at": at,
                "band": band,
                "speed": None if settle is None else _number(settle["speed"] * speed.factor),
            }
        )
    return joints


def _design(summary: Table, nominal: Nominal, row: int, scales: Table) -> Table:
    robot = summary["robot"]
    index = nominal.design[row]
    design = summary["designs"][index]
    places = [scale(unit, 0.0).factor for unit in robot["units"]]
    speeds = [scale(f"{unit}/s", 0.0).factor for unit in robot["units"]]
    forces = [scales["torque"][unit].factor for unit in robot["torque_units"]]
    energy: Scale = scales["energy"]
    return {
        "label": short_settings(design["values"], summary["sweep"]) or "the design",
        "probability": study_parts.interval(design)["probability"],
        "median": quantile_text(design["settling_time"], "0.5"),
        "status": nominal.status[row].replace("_", " "),
        "settled": _number(nominal.settling_time[row] * scales["time"].factor),
        "q": [_list(nominal.q[row, :, j] * f) for j, f in enumerate(places)],
        "qd": [_list(nominal.qd[row, :, j] * f) for j, f in enumerate(speeds)],
        "torque": [_list(nominal.torque[row, :, j] * f) for j, f in enumerate(forces)],
        "energies": [
            _list(getattr(nominal, key)[row] * energy.factor)
            for key in ("kinetic_energy", "potential_energy", "dissipated", "work")
        ],
        "balance": _list(nominal.balance[row] * scales["balance"].factor),
        "points": _list(nominal.points[row].ravel()),
    }


def _number(x: float) -> float | None:
    return float(f"{x:.{DIGITS}g}") if math.isfinite(x) else None


def _list(values: np.ndarray) -> list[float | int | None]:
    """Five significant digits; whole numbers without their `.0`."""
    rounded = (_number(x) for x in values.tolist())
    return [int(x) if x is not None and x == int(x) else x for x in rounded]


def _set_point(settle: Table, nominal: Nominal) -> list[list[float | None]] | None:
    """The chain at its set point: the pose nearest to it on any trajectory, where one lies within the band."""
    if settle is None or settle["at"] is None or settle["band"] is None:
        return None
    away = np.abs(nominal.q - np.array(settle["at"])).max(axis=2)
    away = np.where(np.isfinite(away), away, np.inf)
    row, time = np.unravel_index(int(away.argmin()), away.shape)
    if away[row, time] > settle["band"]:
        return None
    return [_list(point) for point in nominal.points[row, time]]


def camera(points: np.ndarray) -> Table:
    """Initial view direction, and the pairs of coordinates with visible extent for the views of the tip.

    Looks across the plane in which the points (.., 3) spread most, a little from above.
    """
    cloud = points.reshape(-1, 3)
    cloud = cloud[np.isfinite(cloud).all(axis=1)]
    if not len(cloud):
        cloud = np.zeros((1, 3))
    spread, axes = np.linalg.svd(cloud - cloud.mean(axis=0), full_matrices=False)[1:]
    normal = axes[2] if len(axes) == 3 else np.array([0.0, -1.0, 0.0])
    flat = len(spread) == 3 and spread[2] <= FLAT * spread[0]
    if abs(normal[2]) > 0.8 or not flat:  # spatial, or seen from above
        azimuth = -60.0
    else:
        azimuth = math.degrees(math.atan2(normal[1], normal[0]))
        azimuth = (azimuth if azimuth <= 0 else azimuth - 180) + 25
    tip = points[..., -1, :].reshape(-1, 3)
    tip = tip[np.isfinite(tip).all(axis=1)]
    extent = np.ptp(tip, axis=0) if len(tip) else np.ones(3)
    views = [(0, 2), (1, 2), (0, 1)]
    seen = [v for v in views if min(extent[list(v)]) > FLAT * extent.max()]
    seen.sort(key=lambda v: -extent[list(v)].prod())
    return {
        "azimuth": round(azimuth, 1),
        "elevation": 60.0 if flat and abs(normal[2]) > 0.8 else 18.0,
        "views": seen or [max(views, key=lambda v: extent[list(v)].sum())],
        "low": _list(cloud.min(axis=0)),
        "high": _list(cloud.max(axis=0)),
    }
