"""Merit functions of contact problems at given points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra import _core, contact
from garra.arguments import place
from garra.batch import Batch

@dataclass(frozen=True)
class MeritValues:
    """Result of merit(); [...] are the leading axes of the problems.

    Examples
    --------
    >>> f = garra.contact.merit(np.eye(3), [-9.81, 0, 6], 0.5, [9.81, 0, -4.905])
    >>> f.gradient.shape  # lambda = |a_T| and z = max(F, 0) among the eight variables of a contact
    (8,)
    """

    value: Any
    """[...] f = |r(x)|^2"""
    projected_gradient: Any
    """[...] |P(x - grad f) - x|, zero at the stationary points in the box"""
    x: Any
    """[..., v] variables"""
    gradient: Any
    """[..., v] grad f"""


def merit(
    A: Any, b: Any, mu: Any, c: Any, *, merit: str = "papers", device: str = "cpu", threads: int = 0
) -> MeritValues:
    """Evaluates a merit function whose zeros solve the contact problem.

    Parameters
    ----------
    A : array_like [..., 3k, 3k]
        Contact mobility [1/kg]. At most 32 contacts, 8 on a GPU. Leading axes broadcast.
    b : array_like [..., 3k]
        Accelerations without contact forces [m/s^2], axes (n, t, o) of one contact after another.
    mu : float or array_like [..., k]
        Friction coefficients; every contact may roll.
    c : array_like [..., 3k] or [..., v]
        Contact forces [N]; the other variables are lambda = |a_T|, a_T = A_T c + b_T, z = max(F, 0). Or all v
        variables x, in the order of docs/theory/friction-merit.md.
    merit : str
        One of garra.contact.MERITS: "papers", "products" (v = 8k), "fischer-burmeister" (v = 4k), "second-order-cone" (v = 3k).
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    MeritValues
        Value, gradient and projected gradient of the problem as given; solve() scales it first.

    Raises
    ------
    ValueError
        For inconsistent shapes and unknown names.
    garra.Error
        DeviceError if the device cannot run.

    Examples
    --------
    >>> A, b = np.eye(3), np.array([-9.81, 0, 6])
    >>> s = garra.contact.solve(A, b, 0.5)
    >>> float(garra.contact.merit(A, b, 0.5, s.c).value) < 1e-20  # a solution
    True
    >>> f = garra.contact.merit(A, b, 0.5, 0.9 * s.c, merit="fischer-burmeister")
    >>> bool(f.value > 0), f.gradient.shape
    (True, (4,))
    """
    if merit not in contact.MERITS:
        raise ValueError(f"merit = {merit!r} is none of {', '.join(contact.MERITS)}")
    mu, contacts = contact._coefficients(mu, b)
    size, width = 3 * contacts, np.shape(c)[-1] if np.shape(c) else 0
    variables = _core.contact_merit_variables(merit, contacts)
    if width not in (size, variables):
        raise ValueError(f"c [..., {width}]: expected {size} forces, or {variables} variables of {merit}")
    batch = Batch(("A", A, (size, size)), ("b", b, (size,)), ("mu", mu, (contacts,)), ("c", c, (width,)))
    arrays = _core.contact_merit(batch["A"], batch["b"], batch["mu"], batch["c"], merit, *place(device, threads))
    return batch.result(MeritValues, arrays)
