"""Candidate grasps sampled on the surface of an object (docs/howto/grasp-propose.md)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import check_seed, numbers, place, positive, real, vector, whole
from garra.grasp.candidates import GraspSet
from garra.grasp.poses import parse_object
from garra.renamed import accept_old


@accept_old
def propose(
    object: Any,
    *,
    fingers: int = 2,
    n: int = 1000,
    friction: float = 0.5,
    mass: float | None = None,
    density: float = 1000.0,
    force_limit: float = inf,
    torsion_radius: float = 0.0,
    max_opening: float = inf,
    pad_radius: float = 0.0,
    finger_radius: float = 0.0,
    clearance: float = 0.0,
    approach: Sequence[float] = (0.0, 0.0, 0.0),
    floor: float = -inf,
    scale: float | None = None,
    max_samples: int = 0,
    seed: int = 1,
    device: str = "auto",
    threads: int = 0,
) -> GraspSet:
    """Samples candidate grasps with force closure on the surface of an object, for rank().

    Grasp g depends on seed and GraspSet.sample[g] only, on any device and any number of threads.

    Parameters
    ----------
    object : str, path, (vertices, faces) or mesh
        A file (.stl, .obj); a shape in meters ("sphere:0.03", "box:x,y,z", "cylinder:radius,height",
        "capsule:radius,height", "ellipsoid:a,b,c", "superquadric:a,b,c,e1,e2"); arrays [v, 3] and [f, 3]; or an object
        with attributes vertices and faces, such as trimesh.Trimesh.
    fingers : int
        Contacts per grasp, 2 to 8.
    n : int
        Number of grasps wanted; fewer with a warning.
    friction : float
        Friction coefficient of the force closure check.
    mass, density : float, optional
        Mass [kg], or density [kg/m^3].
    force_limit : float
        Of each finger [N].
    torsion_radius : float
        Of soft fingertips, which resist turning [m].
    max_opening : float
        Largest distance of two contacts [m].
    pad_radius : float
        Radius of flat pads of three contacts, which resist turning [m]; 0: point contacts.
    finger_radius : float
        Radius of ball fingertips, which touch only at their contact and not each other [m].
    clearance : float
        Length along the outward normal that is free of the object [m].
    approach : array_like [3]
        Straight approach direction free of the object, such as (0, 0, -1) from above; 0: any.
    floor : float
        Height z of the floor under the object [m].
    scale : float, optional
        Factor on the lengths of the object, 0.001 for millimeters. Without it, objects above 2 m are an error.
    max_samples : int
        Largest number of samples; 0: automatic.
    seed : int
        Seed of the samples.
    device : str
        "auto", "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    GraspSet

    Raises
    ------
    garra.Error
        UsageError for options out of range or if no sample is accepted, with the reason; FileError for a bad mesh.
    TypeError, ValueError
        For arrays that are no mesh.

    Examples
    --------
    >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", n=100, mass=0.3)
    >>> len(grasps), grasps.arrays["point"].shape, grasps.about["rejections"]
    (100, (200, 3), {'accepted': 100, 'outside_cone': 57})
    """
    options = {
        "fingers": whole("fingers", fingers),
        "count": whole("n", n, 1, 2**63 - 1),
        "friction": real("friction", friction),
        "mass": 0.0 if mass is None else positive("mass", mass),
        "density": real("density", density),
        "force_limit": real("force_limit", force_limit),
        "torsion_radius": real("torsion_radius", torsion_radius),
        "max_opening": real("max_opening", max_opening),
        "pad_radius": real("pad_radius", pad_radius),
        "finger_radius": real("finger_radius", finger_radius),
        "clearance": real("clearance", clearance),
        "approach": vector("approach", approach, 3),
        "floor": real("floor", floor),
        "max_samples": whole("max_samples", max_samples, 0, 2**63 - 1),
        "seed": check_seed(seed),
    }
    words, vertices, faces = parse_object(object)
    factor = 0.0 if scale is None else positive("scale", scale)
    made = _core.grasp_propose(words, vertices, faces, factor, options, *place(device, threads))
    out = GraspSet(made["first"], made["arrays"])
    out.mesh = made["vertex"], made["face"]
    out.about = made["about"]
    out.sample = out.about.pop("sample")
    if "warning" in out.about:
        warnings.warn(out.about["warning"], stacklevel=2)
    if len(out) < n:
        warnings.warn(
            f"{len(out)} grasps of {n}: {out.about['samples']} samples are the most to be drawn", stacklevel=2
        )
    return out
