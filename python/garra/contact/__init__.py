"""Friction contact problems: contact forces c and accelerations a of bodies that touch.

    a = A c + b,   0 <= c_n ⟂ a_n >= 0,   |(c_t, c_o)| <= mu c_n, against (a_t, a_o) with all of it where these are not 0

for k contacts of components (n, t, o) each, A [1/kg], b [m/s^2], c [N] (docs/theory/contact-solver.md). A contact whose
mode is 1 slides already: its friction is mu c_n against its slip velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import numbers, one_of, place, positive, whole
from garra.batch import Batch, is_on_gpu
from garra.lcp import solve as lcp  # noqa: F401  (its home; here for who looks for it beside the others)
from garra.renamed import accept_old, attribute
from garra.summary import Summary, converged_of

STATUS: tuple[str, ...] = _core.statuses
"""Names of the numbers in `status`; 0 is "converged"."""
METHODS: tuple[str, ...] = _core.contact_methods
STICK, SLIP, OPEN, UNKNOWN = 0, 1, 2, 255
"""What a contact does, in `state`; UNKNOWN where the problem was not solved."""
_SLIDES = 3  # of gradients(): the direction of sliding is given
_MODES = {0: "may roll", 1: "slides"}
_STATES = {STICK: "sticks", SLIP: "slips", OPEN: "is open", UNKNOWN: "unknown"}
IMPOSSIBLE, POSSIBLE, UNDECIDED = 0, 1, 2
"""Verdicts of can_balance() and can_rest()."""


@accept_old
@dataclass(frozen=True, repr=False)
class Solutions:
    """One of everything for each problem; [...] are the leading axes of the problems."""

    c: Any
    """[..., 3k] contact forces [N], NaN where not converged"""
    a: Any
    """[..., 3k] contact accelerations [m/s^2], NaN where not converged"""
    status: Any
    """[...] index in STATUS. converged: the independent residual of the problem as given is at most `tol`"""
    residual: Any
    """[...] relative change of the load for which the forces are an exact solution"""
    iterations: Any
    """[...] of the method"""
    state: Any
    """[..., k] STICK, SLIP, OPEN, by the accelerations; UNKNOWN where not converged"""
    friction_margin: Any
    """[...] smallest 1 - |c_T| / (mu c_n) of the contacts"""
    critical_friction: Any
    """[...] largest |c_T| / c_n of the contacts"""

    @property
    def converged(self) -> Any:
        """[...] bool"""
        return self.status == 0

    def __repr__(self) -> str:
        if is_on_gpu(self.status):
            return f"Solutions({tuple(self.status.shape)} on a GPU)"
        states = np.asarray(self.state)
        counts = {name: int((states == s).sum()) for name, s in (("stick", STICK), ("slip", SLIP), ("open", OPEN))}
        contacts = ", ".join(f"{n} {name}" for name, n in counts.items())
        return f"Solutions({converged_of(np.asarray(self.status), STATUS)}; contacts: {contacts})"


@dataclass(frozen=True, repr=False)
class Gradients(Summary):
    """Derivatives of a number L whose derivative by the forces is the cotangent."""

    b: Any
    """[..., 3k] dL/db"""
    mu: Any
    """[..., k] dL/dmu"""
    margin: Any
    """[...] how clear every contact is of changing what it does, of the problem's own sizes: where it is positive the
    forces have derivatives; 0 at a kink, where the forces are not unique, and where the problem was not solved"""
    c: Any
    """[..., 3k] the forces"""

    @property
    def A(self) -> Any:
        """[..., 3k, 3k] dL/dA = dL/db c^T, made when it is asked for."""
        return self.b[..., :, None] * self.c[..., None, :]


@accept_old
@dataclass(frozen=True, repr=False)
class Balances(Summary):
    """Whether forces in the friction cones can balance each wrench."""

    verdict: Any
    """[...] POSSIBLE or IMPOSSIBLE, each certified; UNDECIDED where neither was shown"""
    force: Any
    """[..., 3k] forces that balance the wrench, where possible [N]"""
    wrench: Any
    """[..., 6] unit wrench that separates w from all that the contacts can give, where impossible"""
    gap: Any
    """[...] how much of |w| every choice of forces leaves over, where impossible"""


@dataclass(frozen=True, repr=False)
class InternalForces(Summary):
    """What internal_forces() finds."""

    found: Any
    """[...] bool"""
    z: Any
    """[..., 3k] of largest entry 1; NaN where there are none"""


def _coefficients(mu: Any, rows: Any) -> tuple[Any, int]:
    """mu with an axis of contacts, and how many they are: one number stands for all, of which `rows` has three each."""
    if np.ndim(mu) == 0 and np.ndim(rows) > 0:
        mu = np.full(np.shape(rows)[-1] // 3, numbers("mu", mu))
    return mu, contacts_of(np.shape(mu))


def contacts_of(shape: tuple[int, ...]) -> int:
    """How many they are, by the shape of mu."""
    if not shape or shape[-1] == 0:
        raise ValueError("mu needs an axis: one coefficient for each contact, [..., k], or one number for all")
    return shape[-1]


def _problem(A: Any, b: Any, mu: Any, mode: Any, slip_velocity: Any) -> Batch:
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
    return Solutions(**{name: batch.out(arrays[name]) for name in Solutions.__dataclass_fields__})


def _solution(found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Solutions:
    """Of one problem: eight small arrays cost more than the solve, so they are parts of three."""
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
        critical_friction=numbers[-1],
    )
    return out


@accept_old
def solve(
    A: Any,
    b: Any,
    mu: Any,
    mode: Any = None,
    slip_velocity: Any = None,
    *,
    method: str = "auto",
    precision: str = "fp64",
    tol: float = 1e-8,
    max_iterations: int = 0,
    effort: str = "bounded",
    device: str = "cpu",
    threads: int = 0,
) -> Solutions:
    """Solves friction contact problems, each by itself.

    A: [..., 3k, 3k] [1/kg], b: [..., 3k] [m/s^2], mu: [..., k] or one number for all, components (n, t, o) of one
    contact after another, at most 32 contacts. mode: [..., k] 1 where a contact slides, with slip_velocity [..., k, 2] (t, o) [m/s]. Leading axes
    broadcast. `method`: one of METHODS; max_iterations: outer iterations over all stages, 0: the method's own limit.
    effort="full" lets every solver of `auto` go to its own limit; "bounded" ends where a problem has cost as much as a
    thousand ordinary ones. precision="mixed": steps in single
    precision first, the last ones in double (auto, semismooth-newton; up to 8 contacts). `device`: "cpu", "scalar", "cuda",
    "cuda:1"; threads 0: all. Raises ValueError for shapes that do not fit.

    Arrays of torch or CuPy that are on a GPU stay there, whatever `device` says: the work is queued on their library's
    current stream, and answers are its arrays (float64, without mode; a build with kernels: docs/howto/gpu-arrays.md).
    """
    tol, max_iterations = positive("tol", tol), whole("max_iterations", max_iterations)
    if is_on_gpu(A):
        if mode is not None:
            raise TypeError("mode is not taken with arrays on a GPU: bring them to the host")
        return import_module(".on_gpu", __name__).solve(A, b, mu, method, precision, tol, max_iterations, effort)
    batch = _problem(A, b, mu, mode, slip_velocity)
    how = (method, precision, tol, max_iterations, effort, *place(device, threads))
    if batch.single:
        return _solution(_core.contact_solve_one(*_inputs(batch), *how))
    return _solutions(batch, _core.contact_solve(*_inputs(batch), *how))


@accept_old
def judge(
    A: Any, b: Any, mu: Any, c: Any, mode: Any = None, slip_velocity: Any = None, *, tol: float = 1e-8
) -> Solutions:
    """The certificate of solve() for forces c [..., 3k] from elsewhere: converged where they solve the problem."""
    batch = _problem(A, b, mu, mode, slip_velocity)
    forces = np.broadcast_to(numbers("c", c), (*batch.lead, batch["b"].shape[1]))
    forces = np.ascontiguousarray(forces.reshape(batch["b"].shape))
    return _solutions(batch, _core.contact_judge(*_inputs(batch), forces, positive("tol", tol)))


def internal_forces(A: Any, b: Any, mu: Any, *, threads: int = 0) -> InternalForces:
    """Forces that press against one another and that the load presses together: why a problem may have no solution.

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
        z != 0 in the friction cones with A z = 0 and b.z < 0, where there are some. Where there are none, even with
        b.z = 0, a solution exists (Acary, Cadoux, Lemarechal, Malick, ZAMM 91, 2011; docs/theory/contact-solver.md).
    """
    batch = _problem(A, b, mu, None, None)
    arrays = _core.contact_internal_forces(batch["A"], batch["b"], batch["mu"], place("cpu", threads)[1])
    return InternalForces(found=batch.out(arrays["found"]).astype(bool), z=batch.out(arrays["z"]))


def gradients(
    A: Any, mu: Any, solutions: Solutions, cotangent: Any, mode: Any = None, *, device: str = "cpu", threads: int = 0
) -> Gradients:
    """dL/d(A, b, mu) for the cotangent dL/dc [..., 3k], by the implicit function theorem at the solutions that solve()
    found for A, b, mu and mode (docs/theory/contact-solver.md, "Derivatives"). forces() does it for torch and JAX."""
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
    return Gradients(c=batch.out(batch["c"]), **{name: batch.out(array) for name, array in arrays.items()})


@accept_old
@dataclass(frozen=True)
class Rests:
    """Of can_rest(): [...] are the leading axes of the problems."""

    verdict: Any
    """[...] POSSIBLE, IMPOSSIBLE or UNDECIDED"""
    force: Any
    """[..., 3k] c where possible [N], else NaN"""


def can_balance(
    W: Any, w: Any, mu: Any, force_limit: Any = None, *, length: Any = 1.0, device: str = "cpu", threads: int = 0
) -> Balances:
    """Whether any forces c with W c + w = 0, |(c_t, c_o)| <= mu c_n, c_n <= force_limit exist (wrench resistance).

    W: [..., 6, 3k] wrench of the contact forces (force; moment), w: [..., 6] the wrench that is to be balanced [N; N m],
    mu: [..., k], force_limit: [..., k] [N], one for all, or None. length: [...] by which moments are divided so that
    all rows are forces [m], best the object's radius of gyration. Both answers are certified:
    docs/theory/grasp-model.md, section 7.
    """
    mu, contacts = _coefficients(mu, W)
    scale = numbers("length", length)
    rows = np.stack([np.ones_like(scale)] * 3 + [1 / scale] * 3, axis=-1)
    batch = Batch(
        ("W", numbers("W", W) * rows[..., None], (6, 3 * contacts)),
        ("w", numbers("w", w) * rows, (6,)),
        ("mu", mu, (contacts,)),
        ("force_limit", np.full(contacts, force_limit) if _is_number(force_limit) else force_limit, (contacts,)),
    )
    arrays = _core.contact_balance(batch["W"], batch["w"], batch["mu"], batch["force_limit"], *place(device, threads))
    return Balances(**{name: batch.out(arrays[name]) for name in Balances.__dataclass_fields__})


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
    """Whether forces c with |A_j c + b_j| <= acceleration [m/s^2], |(c_t, c_o)| <= mu c_n,
    least_force <= c_n <= force_limit exist at every contact j.

    A: [..., 3k, 3k], b: [..., 3k], mu: [..., k] of contact problems; c: forces in the cones to begin with, [..., 3k];
    force_limit, least_force: [..., k] [N], one for all, or None; left_out: mask [..., k] of contacts that press with nothing and
    may move. Both answers are certified: docs/theory/grasp-model.md, section 7.
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
    return Rests(**{name: batch.out(array) for name, array in arrays.items()})


def _is_number(value: Any) -> bool:
    return value is not None and np.ndim(value) == 0


def __getattr__(name: str) -> Any:
    if name == "forces":
        return import_module(".differentiable", __name__).forces
    return attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), "forces"})
