"""Torques as linear functions of the links' inertial parameters (docs/theory/chain.md, "Regressor")."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import numpy as np

_POINTS = np.array([[0, 0, 0], *np.eye(3), *-np.eye(3), [1, 1, 0], [1, 0, 1], [0, 1, 1]])
"""Places of a mass of 1 kg in a link: ten bodies whose parameters are linearly independent [m]"""
_UPPER = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])  # xx xy yy xz yz zz


def parameters(mass: float, com: Any, inertia: np.ndarray) -> np.ndarray:
    """[10] m, m c and the moments of inertia about the origin, from those [3, 3] about the center of mass."""
    c = np.asarray(com, dtype=float)
    about_origin = inertia + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, about_origin[_UPPER]])


def of_links(robot: Any) -> np.ndarray:
    """[10 links] parameters of all links about the origins of their frames."""
    found = []
    for joint in tomllib.loads(robot.to_toml())["joint"]:
        moment = joint["inertia"]
        rows = [[moment[f"i{min(a, b)}{max(a, b)}"] for b in "xyz"] for a in "xyz"]
        found.append(parameters(joint["mass"], joint["com"], np.array(rows)))
    return np.concatenate(found)


def point_masses(robot: Any) -> list[Any]:
    """[10 links] chains without other bodies, rotors and damping, with one point of 1 kg each."""
    head, *joints = robot.to_toml().partition("[[locked]]")[0].split("[[joint]]")
    bare = [re.sub(r"(?m)^(mass|com|inertia|armature|damping) = .*\n?", "", joint) for joint in joints]
    chains = []
    for i in range(len(bare)):
        for point in _POINTS.tolist():
            body = f"{bare[i]}\nmass = 1\ncom = {point}\n"
            chains.append(type(robot).from_toml("[[joint]]".join([head, *bare[:i], body, *bare[i + 1 :]])))
    return chains


def by_inertia(robot: Any, output: str, states: dict[str, Any], on: tuple[str, int]) -> np.ndarray:
    """[m, *output, 10 links] of states [m, n]: outputs of the point masses, by the parameters of these."""
    how = {"device": on[0], "threads": on[1]}
    if output == "qdd":
        accelerations = robot.evaluate(states["q"], states["qd"], tau=states["tau"], outputs="qdd", **how)["qdd"]
        Y = by_inertia(robot, "tau", {**states, "qdd": accelerations}, on)
        return -np.linalg.solve(robot.crba(states["q"], **how), Y)
    kept = robot.__dict__
    if "_point_masses" not in kept:
        kept["_point_masses"] = point_masses(robot)
    found = []
    for chain in kept["_point_masses"]:
        chain.gravity_vector = robot.gravity_vector
        found.append(chain.evaluate(states["q"], states["qd"], states["qdd"], outputs=output, **how)[output])
    basis = np.linalg.inv([parameters(1.0, point, np.zeros((3, 3))) for point in _POINTS])
    by_link = basis @ np.reshape(found, (len(found) // 10, 10, found[0].size))
    return np.ascontiguousarray(np.moveaxis(by_link.reshape(len(found), *found[0].shape), 0, -1))
