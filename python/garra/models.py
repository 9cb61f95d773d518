"""Built-in robots."""

from __future__ import annotations

from garra.chain.robot import Chain, load
from garra.files import data


def puma560() -> Chain:
    """PUMA 560 (Corke and Armstrong-Helouvry, ICRA 1994), six joints, rotor inertias included.

    Returns
    -------
    Chain

    Examples
    --------
    >>> garra.models.puma560()
    <Chain 'PUMA 560': 6 joints RRRRRR>
    """
    return load(data("robots/puma560.toml"))


def iiwa14() -> Chain:
    """KUKA LBR iiwa 14, seven joints.

    Returns
    -------
    Chain

    Examples
    --------
    >>> garra.models.iiwa14()
    <Chain 'iiwa14': 7 joints RRRRRRR>
    """
    return load(data("robots/iiwa14.urdf"))


def ur5() -> Chain:
    """Universal Robots UR5, six joints, kinematics and masses.

    Returns
    -------
    Chain

    Examples
    --------
    >>> garra.models.ur5()
    <Chain 'UR5': 6 joints RRRRRR>
    """
    return load(data("robots/ur5.toml"))


def stanford() -> Chain:
    """Stanford arm: six joints, the third one prismatic.

    Returns
    -------
    Chain

    Examples
    --------
    >>> garra.models.stanford()
    <Chain 'Stanford arm': 6 joints RRPRRR>
    """
    return load(data("robots/stanford.toml"))


def scara() -> Chain:
    """A SCARA arm of four joints.

    Returns
    -------
    Chain

    Examples
    --------
    >>> garra.models.scara()
    <Chain 'SCARA (Adept Cobra 600)': 4 joints RRPR>
    """
    return load(data("robots/scara.toml"))


def exoskeleton() -> Chain:
    """The six-joint finger exoskeleton of the GRyMA papers.

    Returns
    -------
    Chain

    Examples
    --------
    >>> garra.models.exoskeleton()
    <Chain 'index-finger exoskeleton': 6 joints RRRRRR>
    """
    return load(data("robots/exoskeleton.toml"))
