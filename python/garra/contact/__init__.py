"""Friction contact problems: contact forces c and accelerations a of touching bodies.

    a = A c + b,   0 <= c_n ⟂ a_n >= 0,   |(c_t, c_o)| <= mu c_n, equal to mu c_n and opposite to (a_t, a_o) if it slips

for k contacts with axes (n, t, o), A [1/kg], b [m/s^2], c [N] (docs/theory/contact-solver.md). c is the force on the
object; a is object minus finger, and a_n > 0 separates. A contact with mode 1 slides already: its friction is mu c_n
against its slip velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import numbers, of_arrays, one_of, place, positive, whole
from garra.batch import Batch, is_on_gpu
from garra.on_gpu import compute
from garra.lcp import solve as lcp  # noqa: F401  (its home; here for who looks for it beside the others)
from garra.renamed import accept_old, attribute
from garra.summary import Converged, Summary, describe_converged

STATUS: tuple[str, ...] = _core.statuses
"""Names of the numbers in `status`; 0 is "converged"."""
METHODS: tuple[str, ...] = _core.contact_methods
MERITS: tuple[str, ...] = _core.contact_merits
"""Merit functions of the method "merit" (docs/theory/friction-merit.md)."""
MINIMIZERS: tuple[str, ...] = _core.contact_minimizers
"""Minimizers of the method "merit" (docs/theory/minimizers.md)."""
STARTS: tuple[str, ...] = _core.contact_starts
"""First starts of methods that minimize a merit function."""


class ContactState(IntEnum):
    """Values of `state`.

    Examples
    --------
    >>> garra.contact.ContactState(1).name
    'SLIP'
    """

    STICK = 0
    SLIP = 1
    OPEN = 2
    UNKNOWN = 255
    """the problem was not solved"""


class Feasibility(IntEnum):
    """Values of `status` of is_resisted() and can_rest().

    Examples
    --------
    >>> garra.contact.Feasibility.POSSIBLE.value
    1
    """

    IMPOSSIBLE = 0
    POSSIBLE = 1
    UNDECIDED = 2
    """neither is proved"""


STICK, SLIP, OPEN, UNKNOWN = ContactState
_SLIDES = 3  # of gradients(): the direction of sliding is given
_MODES = {0: "may roll", 1: "slides"}
_STATES = {STICK: "sticks", SLIP: "slips", OPEN: "is open", UNKNOWN: "unknown"}
IMPOSSIBLE, POSSIBLE, UNDECIDED = Feasibility


@accept_old
@dataclass(frozen=True, repr=False)
class Solutions(Converged):
    """Solutions of a batch; [...] are the leading axes of the problems.

    Examples
    --------
    >>> garra.contact.solve(np.eye(3), [-9.81, 0, 6], 0.5)
    Solutions(1 of 1 converged; contacts: 0 stick, 1 slip, 0 open)
    """

    c: Any
    """[..., 3k] contact forces [N], NaN where not converged"""
    a: Any
    """[..., 3k] contact accelerations [m/s^2], NaN where not converged"""
    status: Any
    """[...] index in STATUS. converged: the independent residual of the problem as given is at most `tolerance`"""
    residual: Any
    """[...] relative change of the load for which the forces are an exact solution"""
    iterations: Any
    """[...] iterations of the method"""
    state: Any
    """[..., k] STICK, SLIP, OPEN, by the accelerations; UNKNOWN where not converged"""
    friction_margin: Any
    """[...] smallest 1 - |c_T| / (mu c_n) of the contacts; 0 with an open one, which resists no tangential load"""
    required_friction: Any
    """[...] largest |c_T| / c_n of the contacts; infinite with an open one"""

    def __repr__(self) -> str:
        if is_on_gpu(self.status):
            return f"Solutions({tuple(self.status.shape)} on a GPU)"
        states = np.asarray(self.state)
        counts = {name: int((states == s).sum()) for name, s in (("stick", STICK), ("slip", SLIP), ("open", OPEN))}
        contacts = ", ".join(f"{n} {name}" for name, n in counts.items())
        return f"Solutions({describe_converged(np.asarray(self.status), STATUS)}; contacts: {contacts})"


@dataclass(frozen=True, repr=False)
class Gradients(Summary):
    """Derivatives of a scalar L with the cotangent dL/dc.

    Examples
    --------
    >>> s = garra.contact.solve(np.eye(3), [-9.81, 0, 6], 0.5)
    >>> g = garra.contact.gradients(np.eye(3), 0.5, s, [0, 0, 1])
    >>> g.mu.round(2), bool(g.margin > 0)
    (array([-9.81]), True)
    """

    b: Any
    """[..., 3k] dL/db"""
    mu: Any
    """[..., k] dL/dmu"""
    margin: Any
    """[...] distance of the contacts from a change of state, relative to the problem's own sizes. The forces are
    differentiable where it is positive. It is 0 at a kink, for non-unique forces and for an unsolved problem"""
    c: Any
    """[..., 3k] the forces"""

    @property
    def A(self) -> Any:
        """[..., 3k, 3k] dL/dA = dL/db c^T, computed on access.

        Examples
        --------
        >>> s = garra.contact.solve(np.eye(3), [-9.81, 0, 6], 0.5)
        >>> g = garra.contact.gradients(np.eye(3), 0.5, s, [0, 0, 1])
        >>> g.A.shape
        (3, 3)
        """
        return self.b[..., :, None] * self.c[..., None, :]


@accept_old
@dataclass(frozen=True, repr=False)
class Balances(Summary):
    """Whether forces in the friction cones can balance each wrench.

    Examples
    --------
    >>> r = garra.contact.is_resisted(np.eye(6)[:, :3], [1, 0, 0, 0, 0, 0], 0.5)
    >>> bool(r.status == garra.contact.IMPOSSIBLE), round(float(r.gap), 3)
    (True, 1.0)
    """

    status: Any
    """[...] POSSIBLE or IMPOSSIBLE, each certified; UNDECIDED if neither is proved"""
    force: Any
    """[..., 3k] forces that balance the wrench, if POSSIBLE [N]"""
    wrench: Any
    """[..., 6] unit wrench that separates w from the contact wrenches, if IMPOSSIBLE"""
    gap: Any
    """[...] least unbalanced part, relative to |w|, if IMPOSSIBLE"""

    def __bool__(self) -> bool:
        return _is_possible(self.status)


@dataclass(frozen=True, repr=False)
class InternalForces(Summary):
    """Result of internal_forces().

    Examples
    --------
    >>> garra.contact.internal_forces(np.eye(3), [-9.81, 0, 0], 0.5)
    InternalForces
      found: False
      z: [nan, nan, nan]
    """

    found: Any
    """[...] bool"""
    z: Any
    """[..., 3k] scaled to a largest entry of 1; NaN if not found"""


class Hypothesis(IntEnum):
    """Values of `hypothesis` of equivalence().

    Examples
    --------
    >>> garra.contact.Hypothesis.PROVEN.value
    0
    """

    PROVEN = 0
    FAILS = 1
    UNDECIDED = 2
    """more than 4 contacts, or a hypothesis that is not tested"""


@dataclass(frozen=True, repr=False)
class Equivalences(Summary):
    """Where minimizations of a merit function end, and whether theorems say that such points are solutions.

    Examples
    --------
    >>> bool(garra.contact.equivalence(np.eye(3), [-9.81, 0, 6], 0.5).converged)
    True
    """

    hypothesis: Any
    """[...] Hypothesis: whether the hypothesis under which a stationary point is a solution holds at the point"""
    stationary: Any
    """[...] bool: the point is stationary"""
    minimum: Any
    """[...] value of the merit function there (scaled problem)"""
    status: Any
    """[...] index in STATUS, by the certificate"""

    @property
    def converged(self) -> Any:
        """[...] bool: the point is a solution.

        Examples
        --------
        >>> bool(garra.contact.equivalence(np.eye(3), [-9.81, 0, 6], 0.5).converged)
        True
        """
        return self.status == 0


def _coefficients(mu: Any, rows: Any) -> tuple[Any, int]:
    """mu [..., k] and k. A single number is repeated for all contacts, of which `rows` has three entries each."""
    if np.ndim(mu) == 0 and np.ndim(rows) > 0:
        mu = np.full(np.shape(rows)[-1] // 3, numbers("mu", mu))
    return mu, count_contacts(np.shape(mu))


def count_contacts(shape: tuple[int, ...]) -> int:
    """Number of contacts by the shape of mu.

    Parameters
    ----------
    shape : tuple of int
        Shape of mu.

    Returns
    -------
    int
        Length of the last axis.

    Raises
    ------
    ValueError
        Without an axis of contacts.

    Examples
    --------
    >>> garra.contact.count_contacts((100, 4))
    4
    """
    if not shape or shape[-1] == 0:
        raise ValueError("mu needs an axis: one coefficient for each contact, [..., k], or one number for all")
    return shape[-1]


def _problem(A: Any, b: Any, mu: Any, mode: Any, slip_velocity: Any) -> Batch:
    if mu is None:
        raise TypeError("mu is None: give one number, or [..., k]")
    mu, contacts = _coefficients(mu, b)
    size = 3 * contacts
    if mode is None and slip_velocity is not None:
        raise _core.UsageError("slip_velocity without mode\nGive mode [..., k], 1 where a contact slides.")
    return Batch(
        ("A", A, (size, size)),
        ("b", b, (size,)),
        ("mu", mu, (contacts,)),
        ("mode", mode, (contacts,)),
        ("slip_velocity", slip_velocity, (contacts, 2)),
    )


def _inputs(batch: Batch) -> tuple[Any, ...]:
    mode = batch["mode"]
    if mode is not None:
        mode = one_of("mode", mode, _MODES)
        if batch["slip_velocity"] is None and mode.any():
            raise _core.UsageError("mode says that contacts slide\nGive slip_velocity [..., k, 2] (t, o) [m/s].")
    return batch["A"], batch["b"], batch["mu"], mode, batch["slip_velocity"]


def _solutions(batch: Batch, arrays: dict[str, np.ndarray]) -> Solutions:
    return batch.result(Solutions, arrays)


def _solution(found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Solutions:
    """Solution of one problem, as views of three arrays: eight small arrays cost more than the solve."""
    numbers, wholes, state = found
    size = 3 * len(state)
    out = Solutions.__new__(Solutions)
    out.__dict__.update(  # as what is frozen can be filled at once
        c=numbers[:size],
        a=numbers[size : 2 * size],
        status=wholes[0],
        residual=numbers[-3],
        iterations=wholes[1],
        state=state,
        friction_margin=numbers[-2],
        required_friction=numbers[-1],
    )
    return out


def _pair(method: str, merit: str | None, minimizer: str | None) -> str:
    """Name of a method for _core: "papers/spg" for a merit function and its minimizer."""
    if method != "merit":
        if merit is not None or minimizer is not None:
            raise _core.UsageError(f'merit and minimizer are not for the method {method}\nGive method="merit".')
        return method
    return f"{merit or 'fischer-burmeister'}/{minimizer or 'projected-lm'}"


@accept_old
@of_arrays
def solve(
    A: Any,
    b: Any,
    mu: Any,
    mode: Any = None,
    slip_velocity: Any = None,
    *,
    method: str = "auto",
    merit: str | None = None,
    minimizer: str | None = None,
    start: str = "own",
    starts: int = 0,
    precision: str = "fp64",
    tolerance: float = 1e-8,
    max_iterations: int = 0,
    effort: str = "bounded",
    device: str = "cpu",
    threads: int = 0,
) -> Solutions:
    """Solves a batch of friction contact problems.

    Parameters
    ----------
    A : array_like [..., 3k, 3k]
        Contact mobility [1/kg]; need not be symmetric. At most 32 contacts. Leading axes broadcast.
    b : array_like [..., 3k]
        Accelerations without contact forces [m/s^2], axes (n, t, o) of one contact after another.
    mu : float or array_like [..., k]
        Friction coefficients.
    mode : array_like [..., k], optional
        1: the contact slides, 0: it may roll.
    slip_velocity : array_like [..., k, 2], optional
        Slip velocity (t, o) of sliding contacts [m/s]; only its direction matters.
    method : str
        One of METHODS.
    merit, minimizer : str, optional
        With method="merit": one of MERITS and of MINIMIZERS; default: "fischer-burmeister", "projected-lm".
    start : str
        Methods that minimize a merit function: the first start, one of STARTS; "own": that of the pair.
    starts : int
        The same methods: starts before a problem counts as unsolved; 0: the pair's own number.
    precision : str
        "fp64", or "mixed": single precision, then final steps in double (auto, semismooth-newton; up to 8 contacts).
    tolerance : float
        Converged: residual <= tolerance.
    max_iterations : int
        Outer iterations over all stages; 0: the method's own limit.
    effort : str
        "bounded": stop at the cost of a thousand ordinary problems; "full": every solver of `auto` runs to its limit.
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    TypeError
        For values that are no numbers, and for `mode` with arrays on a GPU.
    garra.Error
        UsageError for options, DeviceError if the device cannot run.

    Notes
    -----
    torch and CuPy arrays on a GPU stay there, independent of `device`: the work is queued on the library's current
    stream, and results are arrays of that library (float64; docs/howto/gpu-arrays.md).

    Examples
    --------
    >>> s = garra.contact.solve(np.eye(3), [-9.81, 0, 6], 0.5)  # 1 kg; 6 N exceed the friction 0.5 * 9.81 N
    >>> s.c, garra.contact.ContactState(s.state[0]).name
    (array([ 9.81 ,  0.   , -4.905]), 'SLIP')
    """
    tolerance, max_iterations = positive("tolerance", tolerance), whole("max_iterations", max_iterations)
    method = _pair(method, merit, minimizer)
    if is_on_gpu(A):
        if mode is not None:
            raise TypeError("mode is not taken with arrays on a GPU: bring them to the host")
        k, widths = count_contacts(mu.shape), {"c": 3, "a": 3, "state": 1}
        answers = {name: (widths[name] * k,) if name in widths else () for name in Solutions.__dataclass_fields__}
        tails = {"A": (3 * k, 3 * k), "b": (3 * k,), "mu": (k,)}
        how = (method, precision, tolerance, max_iterations, effort)


        def call(given: dict[str, Any], *rest: Any) -> None:
            _core.contact_solve_on_gpu(*given.values(), *rest)

        return Solutions(**compute(call, {"A": A, "b": b, "mu": mu}, tails, answers, *how))
    batch = _problem(A, b, mu, mode, slip_velocity)
    how = (method, precision, tolerance, max_iterations, effort, start, whole("starts", starts), *place(device, threads))
    if batch.single:
        return _solution(_core.contact_solve_one(*_inputs(batch), *how))
    return _solutions(batch, _core.contact_solve(*_inputs(batch), *how))


def equivalence(
    A: Any, b: Any, mu: Any, *, merit: str = "fischer-burmeister", start: str = "own", tolerance: float = 1e-8
) -> Equivalences:
    """Decides whether stationary points of a merit function are solutions, where its minimization ends.

    Parameters
    ----------
    A, b, mu : array_like
        The problems, as in solve(); all contacts may roll.
    merit : str
        "papers", "products" or "fischer-burmeister".
    start : str
        One of STARTS.
    tolerance : float
        Converged: residual <= tolerance.

    Returns
    -------
    Equivalences
        Hypotheses of the theorems in docs/theory/equivalence.md. A point with PROVEN that is stationary is a
        solution.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For another merit function or start.

    Examples
    --------
    >>> e = garra.contact.equivalence(np.eye(3), [-9.81, 0, 6], 0.5)
    >>> garra.contact.Hypothesis(e.hypothesis).name, bool(e.converged)
    ('PROVEN', True)
    """
    batch = _problem(A, b, mu, None, None)
    arrays = _core.contact_equivalence(
        batch["A"], batch["b"], batch["mu"], merit, start, positive("tolerance", tolerance)
    )
    arrays["stationary"] = arrays["stationary"].astype(bool)
    return batch.result(Equivalences, arrays)


@accept_old
@of_arrays
def check_solution(
    A: Any, b: Any, mu: Any, c: Any, mode: Any = None, slip_velocity: Any = None, *, tolerance: float = 1e-8
) -> Solutions:
    """Checks forces from any source by the certificate of solve().

    Parameters
    ----------
    A, b, mu, mode, slip_velocity : array_like
        The problems, as in solve().
    c : array_like [..., 3k]
        Contact forces [N].
    tolerance : float
        Converged: residual <= tolerance.

    Returns
    -------
    Solutions
        Forces that do not hold have the status "stalled". `c` and `a` are the certified values: the given forces after
        one projected step (docs/theory/contact-solver.md, "Certificate"). `residual` is that of the certificate, or what
        the step moves a force, |A_jj| |dc_j| / max |b|, if that is larger.

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    >>> A, b = np.eye(6) + 0.5, [-9.81, 0, 0, -9.81, 0, 0]  # two coupled contacts
    >>> c = garra.contact.solve(A, b, 0.5).c
    >>> garra.contact.STATUS[garra.contact.check_solution(A, b, 0.5, c).status]
    'converged'
    >>> garra.contact.STATUS[garra.contact.check_solution(A, b, 0.5, 0.9 * c).status]
    'stalled'
    """
    batch = _problem(A, b, mu, mode, slip_velocity)
    forces = np.broadcast_to(numbers("c", c), (*batch.lead, batch["b"].shape[1]))
    forces = np.ascontiguousarray(forces.reshape(batch["b"].shape))
    found = _core.contact_check_solution(*_inputs(batch), forces, positive("tolerance", tolerance))
    contacts = batch["mu"].shape[1]
    step = np.linalg.norm((found["c"].reshape(forces.shape) - forces).reshape(-1, contacts, 3), axis=2)
    blocks = batch["A"].reshape(-1, contacts, 3, contacts, 3)[:, range(contacts), :, range(contacts)]  # [k, n, 3, 3]
    load = np.abs(batch["b"]).max(axis=1)
    moved = (np.abs(blocks).max(axis=(2, 3)).T * step).max(axis=1) / np.where(load > 0, load, 1)
    found["residual"] = np.fmax(found["residual"], moved)
    wrong = (found["status"] == 0) & (moved > tolerance)
    found["status"] = np.where(wrong, STATUS.index("stalled"), found["status"]).astype(found["status"].dtype)
    return _solutions(batch, found)


@of_arrays
def internal_forces(A: Any, b: Any, mu: Any, *, threads: int = 0) -> InternalForces:
    """Internal forces with A z = 0 and b.z < 0; if there are any, a problem may have no solution.

    Parameters
    ----------
    A : array_like [..., 3k, 3k]
        Symmetric, positive semidefinite [1/kg].
    b : array_like [..., 3k]
        Load [m/s^2].
    mu : array_like [..., k]
        Friction coefficients; every contact may roll.
    threads : int
        0: all.

    Returns
    -------
    InternalForces
        z != 0 in the friction cones with A z = 0 and b.z < 0, if found. If there are none, even with b.z = 0, a
        solution exists (Acary, Cadoux, Lemarechal, Malick, ZAMM 91, 2011; docs/theory/contact-solver.md).

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    >>> r = garra.contact.internal_forces(np.zeros((6, 6)), [-1, 0, 0, -1, 0, 0], 0.5)  # rigid, pressed together
    >>> bool(r.found), r.z
    (True, array([1., 0., 0., 1., 0., 0.]))
    """
    batch = _problem(A, b, mu, None, None)
    arrays = _core.contact_internal_forces(batch["A"], batch["b"], batch["mu"], place("cpu", threads)[1])
    return InternalForces(found=batch.out(arrays["found"]).astype(bool), z=batch.out(arrays["z"]))


@of_arrays
def gradients(
    A: Any, mu: Any, solutions: Solutions, cotangent: Any, mode: Any = None, *, device: str = "cpu", threads: int = 0
) -> Gradients:
    """Computes dL/d(A, b, mu) by the implicit function theorem at the solutions of solve().

    forces() does this for torch and JAX (docs/theory/contact-solver.md, "Derivatives").

    Parameters
    ----------
    A : array_like [..., 3k, 3k]
        As given to solve() [1/kg]; at most 8 contacts.
    mu : float or array_like [..., k]
        As given to solve().
    solutions : Solutions
        Result of solve() for the same problems.
    cotangent : array_like [..., 3k]
        dL/dc [1/N].
    mode : array_like [..., k], optional
        As given to solve().
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Gradients
        dL/db, dL/dmu, dL/dA and the margin.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For more than 8 contacts.

    Examples
    --------
    >>> s = garra.contact.solve(np.eye(3), [-9.81, 0, 6], 0.5)
    >>> g = garra.contact.gradients(np.eye(3), 0.5, s, [0, 0, 1])
    >>> g.b + 0.0  # the contact slips: c_o = -mu c_n
    array([0.5, 0. , 0. ])
    """
    mu, contacts = _coefficients(mu, A)
    size = 3 * contacts
    batch = Batch(
        ("A", A, (size, size)),
        ("mu", mu, (contacts,)),
        ("c", solutions.c, (size,)),
        ("a", solutions.a, (size,)),
        ("cotangent", cotangent, (size,)),
        ("state", solutions.state, (contacts,)),
        ("mode", mode, (contacts,)),
    )
    regime = one_of("state", batch["state"], _STATES)
    if mode is not None:
        regime[(one_of("mode", batch["mode"], _MODES) != 0) & (regime != OPEN)] = _SLIDES
    arrays = _core.contact_gradients(
        batch["A"], batch["mu"], batch["c"], batch["a"], regime, batch["cotangent"], *place(device, threads)
    )
    return batch.result(Gradients, arrays, c=batch.out(batch["c"]))


@accept_old
@dataclass(frozen=True)
class Rests:
    """Result of can_rest(); [...] are the leading axes of the problems.

    Examples
    --------
    >>> r = garra.contact.can_rest(np.eye(3), [-9.81, 0, 6], 0.5, acceleration=0.01)  # 6 > 0.5 * 9.81
    >>> bool(r.status == garra.contact.IMPOSSIBLE)
    True
    """

    status: Any
    """[...] POSSIBLE, IMPOSSIBLE or UNDECIDED"""
    force: Any
    """[..., 3k] c if POSSIBLE [N], else NaN"""

    def __bool__(self) -> bool:
        return _is_possible(self.status)


def _is_possible(status: Any) -> bool:
    """Truth of a single answer: POSSIBLE."""
    if np.ndim(status) > 0:
        raise ValueError("several answers are neither true nor false: compare .status with garra.contact.POSSIBLE")
    return bool(status == POSSIBLE)


def is_resisted(
    W: Any, w: Any, mu: Any, force_limit: Any = None, *, length: Any = None, device: str = "cpu", threads: int = 0
) -> Balances:
    """Decides if forces c with W c + w = 0, |(c_t, c_o)| <= mu c_n, c_n <= force_limit exist (wrench resistance).

    Parameters
    ----------
    W : array_like [..., 6, 3k]
        Wrenches (force; moment) of unit contact forces (n, t, o). At most 32 contacts.
    w : array_like [..., 6]
        Wrench to balance [N; N m].
    mu : float or array_like [..., k]
        Friction coefficients.
    force_limit : float or array_like [..., k], optional
        Largest normal forces [N]. Default, and what larger ones count as: 10,000 times the size of w, so that friction
        below 5e-5 may be called too little.
    length : float or array_like [...], optional
        Length by which moments are divided [m], also in `wrench` and `gap`; default: the ratio of the moments in W to
        the forces, root mean squares. A length far from that of the contacts leaves more problems undecided.
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Balances
        Certified decisions with their proofs (docs/theory/grasp-model.md, section 7).

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    >>> r = garra.contact.is_resisted(np.eye(6)[:, :3], [-1, 0, 0.4, 0, 0, 0], 0.5)  # one contact at the origin
    >>> bool(r.status == garra.contact.POSSIBLE), r.force
    (True, array([ 1. ,  0. , -0.4]))
    """
    mu, contacts = _coefficients(mu, W)
    W = numbers("W", W)
    scale = _lever(W) if length is None else numbers("length", length)
    rows = np.stack([np.ones_like(scale)] * 3 + [1 / scale] * 3, axis=-1)
    batch = Batch(
        ("W", W * rows[..., None], (6, 3 * contacts)),
        ("w", numbers("w", w) * rows, (6,)),
        ("mu", mu, (contacts,)),
        ("force_limit", np.full(contacts, force_limit) if _is_number(force_limit) else force_limit, (contacts,)),
    )
    arrays = _core.contact_balance(batch["W"], batch["w"], batch["mu"], batch["force_limit"], *place(device, threads))
    return batch.result(Balances, arrays)


def _lever(W: np.ndarray) -> np.ndarray:
    """Length of the levers in W [..., 6, 3k]; 1 where there is none."""
    if W.ndim < 2 or W.shape[-2] != 6:
        return np.ones(())  # Batch refuses the shape
    with np.errstate(all="ignore"):
        lever = np.linalg.norm(W[..., 3:, :], axis=(-2, -1)) / np.linalg.norm(W[..., :3, :], axis=(-2, -1))
    return np.where((lever > 0) & np.isfinite(lever), lever, 1.0)


def can_rest(
    A: Any,
    b: Any,
    mu: Any,
    acceleration: float,
    *,
    c: Any = None,
    force_limit: Any = None,
    least_force: Any = None,
    left_out: Any = None,
    threads: int = 0,
) -> Rests:
    """Decides if forces in the friction cones exist that leave every contact at rest.

    The conditions are |A_j c + b_j| <= acceleration, |(c_t, c_o)| <= mu c_n and least_force <= c_n <= force_limit at
    every contact j.

    Parameters
    ----------
    A : array_like [..., 3k, 3k]
        As in solve() [1/kg].
    b : array_like [..., 3k]
        As in solve() [m/s^2].
    mu : float or array_like [..., k]
        Friction coefficients.
    acceleration : float
        Largest acceleration of a contact at rest, above 0 [m/s^2].
    c : array_like [..., 3k], optional
        Initial guess in the cones [N]; default: 0.
    force_limit, least_force : float or array_like [..., k], optional
        Bounds of the normal forces [N]. Without one, and where it is larger, a force is at most 10,000 times those that
        the search begins with.
    left_out : array_like [..., k], optional
        Mask of contacts without force, which may move.
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Rests
        Certified decisions (docs/theory/grasp-model.md, section 7).

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For an acceleration that is not above 0.

    Examples
    --------
    >>> r = garra.contact.can_rest(np.eye(3), [-9.81, 0, 0], 0.5, acceleration=1e-6)
    >>> bool(r.status == garra.contact.POSSIBLE), r.force.round(3)
    (True, array([9.81, 0.  , 0.  ]))
    """
    mu, contacts = _coefficients(mu, A)
    size = 3 * contacts
    batch = Batch(
        ("A", A, (size, size)),
        ("b", b, (size,)),
        ("mu", mu, (contacts,)),
        ("c", np.zeros(size) if c is None else c, (size,)),
        ("force_limit", np.full(contacts, force_limit) if _is_number(force_limit) else force_limit, (contacts,)),
        ("least_force", np.full(contacts, least_force) if _is_number(least_force) else least_force, (contacts,)),
        ("left_out", None if left_out is None else np.asarray(left_out, float), (contacts,)),
    )
    out = batch["left_out"]
    arrays = _core.contact_rest(
        batch["A"],
        batch["b"],
        batch["mu"],
        batch["c"],
        batch["force_limit"],
        batch["least_force"],
        None if out is None else np.ascontiguousarray(out != 0, np.uint8),
        positive("acceleration", acceleration),
        threads,
    )
    return batch.result(Rests, arrays)


def _is_number(value: Any) -> bool:
    return value is not None and np.ndim(value) == 0


_ELSEWHERE = {"forces": ".differentiable", "merit": ".merit_values", "MeritValues": ".merit_values"}


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[name], __name__), name)
    return attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ELSEWHERE})
