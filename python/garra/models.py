"""Built-in robots and platforms."""

from __future__ import annotations

from garra.chain.robot import Chain, load
from garra.files import data


def puma560() -> Chain:
    """PUMA 560 (Corke and Armstrong-Helouvry, ICRA 1994), six joints, rotor inertias included."""
    return load(data("robots/puma560.toml"))


def iiwa14() -> Chain:
    """KUKA LBR iiwa 14, seven joints."""
    return load(data("robots/iiwa14.urdf"))


def ur5() -> Chain:
    """Universal Robots UR5, six joints, kinematics and masses."""
    return load(data("robots/ur5.toml"))


def stanford() -> Chain:
    """Stanford arm: six joints, the third one prismatic."""
    return load(data("robots/stanford.toml"))


def scara() -> Chain:
    """A SCARA arm of four joints."""
    return load(data("robots/scara.toml"))


def exoskeleton() -> Chain:
    """The six-joint finger exoskeleton of the GRyMA papers."""
    return load(data("robots/exoskeleton.toml"))
