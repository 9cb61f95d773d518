"""Asks a simulator what became of grasps that garra says hold, and of those that it says do not: MuJoCo, soft contacts.

usage: .venv/bin/pip install mujoco clarabel scipy &&
       PYTHONPATH=python .venv/bin/python bench/peers/grasp_set_simulators.py [-n GRASPS] [--seed SEED] [-o FILE.json]

Five objects, GRASPS / 5 grasps of each (three to five contacts on its surface, weight, a center of mass that is off its
middle, a force limit), each at seven friction coefficients. garra's verdict is its wrench resistance: do forces inside
the cones and below the limit balance the weight? MuJoCo's is what it does in one second.

- Fingers are small spheres on three slides each, that touch the object where the grasp says. They are servos along and
  across the contact normal: the commanded force, a spring and a damper about the place where they began, and along the
  normal never more than the force limit. Without springs no grasp would stand: constant forces that press on an object
  are a pencil on its tip.
- The commanded forces balance the weight. Clarabel, a general solver for second-order cones, finds them at the least
  friction at which there are any (bisection), so that they lie as deep in their cones as possible. Where no friction up
  to 3 does, they are those that come closest at the largest friction of the table.
- Weight and commands grow from nothing over a tenth of a second. Held: one second later the object has moved less than
  2 mm and turned less than 5 degrees.

Every disagreement is looked at again: by asking garra about the contacts where the simulation has ended, and with
contacts that are much stiffer and steps of a quarter. The last column is of another hand, which does not know what
balances: all its fingers press along their normals with half of the limit, and the springs have to find the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field, replace

import clarabel
import garra
import mujoco
import numpy as np
from scipy import sparse
from scipy.spatial import ConvexHull

FRICTIONS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
GRAVITY = 9.81
FINGER = 0.004  # radius [m]
FINGER_MASS = 0.05
MOST_FRICTION = 3.0
MOVED, TURNED = 0.002, np.radians(5)
RAMP, TIME = 0.1, 1.0  # [s]
MARGIN = 0.003  # contacts are at least so far from an edge [m]
OBJECTS = ("sphere", "box", "cylinder", "ellipsoid", "hull")


@dataclass(frozen=True)
class Softness:
    """Of contacts: MuJoCo's solref[0], solimp, impratio, and the step [s]; of the fingers' springs [N/m]."""

    time_constant: float = 0.002
    impedance: float = 0.999
    impratio: float = 100.0
    step: float = 0.0005
    springs: float = 2000.0

    @property
    def damping(self) -> float:
        """Of the fingers' servos [N s/m]."""
        return 40 * np.sqrt(self.springs / 2000)


SOFT, STIFF = Softness(), Softness(0.0005, 0.9999, 1000.0, 0.000125)


@dataclass
class Grasp:
    kind: str
    points: np.ndarray  # [k, 3]
    normals: np.ndarray  # [k, 3] into the object
    mass: float
    com: np.ndarray
    limit: float  # [N]
    needed: float = np.inf  # friction, by Clarabel
    forces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # commanded, in the axes of frames()


# --- objects and their surfaces

ELLIPSOID = np.array([0.032, 0.024, 0.045])
BOX = np.array([0.03, 0.022, 0.04])
CYLINDER = (0.026, 0.042)  # radius, half height
SPHERE = 0.034


def hull_points() -> np.ndarray:
    rng = np.random.default_rng(7)
    v = rng.normal(size=(14, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True) * [0.04, 0.032, 0.036]


HULL = ConvexHull(hull_points())


def surface_point(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A point and the normal into the object."""
    u = rng.normal(size=3)
    u /= np.linalg.norm(u)
    if kind == "sphere":
        return SPHERE * u, -u
    if kind == "ellipsoid":
        outward = u / ELLIPSOID
        return ELLIPSOID * u, -outward / np.linalg.norm(outward)
    if kind == "box":
        c, side = rng.integers(3), rng.choice([-1, 1])
        p = rng.uniform(-1, 1, 3) * (BOX - MARGIN)
        n = np.zeros(3)
        p[c], n[c] = side * BOX[c], -side
        return p, n
    if kind == "cylinder":
        radius, half = CYLINDER
        angle = rng.uniform(0, 2 * np.pi)
        if rng.uniform() < 0.7:
            radial = np.array([np.cos(angle), np.sin(angle), 0])
            return radius * radial + [0, 0, rng.uniform(-1, 1) * (half - MARGIN)], -radial
        side = rng.choice([-1, 1])
        r = np.sqrt(rng.uniform()) * (radius - MARGIN)
        return np.array([r * np.cos(angle), r * np.sin(angle), side * half]), np.array([0, 0, -side])
    while True:
        simplex = rng.integers(len(HULL.simplices))
        a, b, c = HULL.points[HULL.simplices[simplex]]
        s, t = rng.uniform(size=2)
        if s + t > 1:
            s, t = 1 - s, 1 - t
        p, n = a + s * (b - a) + t * (c - a), HULL.equations[simplex, :3]
        # As far from every edge as from the planes of the other faces, at least.
        others = np.delete(HULL.equations, simplex, axis=0)
        others = others[others[:, :3] @ n < 1 - 1e-9]
        if (others[:, :3] @ p + others[:, 3] < -0.5 * MARGIN).all():
            return p, -n


def candidates(kind: str, count: int, rng: np.random.Generator) -> list[Grasp]:
    found = []
    while len(found) < count:
        k = int(rng.integers(3, 6))
        points, normals = (np.array(x) for x in zip(*(surface_point(kind, rng) for _ in range(k)), strict=True))
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(k)
        if apart.min() < 3 * FINGER:
            continue
        found.append(Grasp(kind, points, normals, 0.3, rng.uniform(-0.004, 0.004, 3), rng.uniform(3.0, 9.0)))
    return found


# --- which forces balance: an independent solver


def frames(normals: np.ndarray) -> np.ndarray:
    """[k, 3 directions (n, t, o), 3]."""
    t = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0]))
    t /= np.linalg.norm(t, axis=-1, keepdims=True)
    return np.stack([normals, t, np.cross(normals, t)], axis=1)


def solve(g: Grasp, mu: float, *, balance: bool) -> np.ndarray | None:
    """Forces [k, 3] in the cones, below the limit, that balance the weight, as small as can be; None: there are none.
    Without `balance`, those that come closest to it."""
    k = len(g.points)
    axes = frames(g.normals)
    arms = (g.points - g.com)[:, None, :] / 0.03
    W = np.concatenate([axes, np.cross(arms, axes)], axis=-1).reshape(3 * k, 6).T
    w = np.array([0, 0, -g.mass * GRAVITY, 0, 0, 0])
    cones, normal = np.zeros((3 * k, 3 * k)), np.zeros((k, 3 * k))
    for j in range(k):
        cones[3 * j, 3 * j] = -mu
        cones[3 * j + 1, 3 * j + 1] = cones[3 * j + 2, 3 * j + 2] = -1
        normal[j, 3 * j] = 1
    rows, right = [cones, normal], [np.zeros(3 * k), np.full(k, g.limit)]
    kinds = [*[clarabel.SecondOrderConeT(3)] * k, clarabel.NonnegativeConeT(k)]
    if balance:
        rows, right, kinds = [W, *rows], [-w, *right], [clarabel.ZeroConeT(6), *kinds]
        P, q = sparse.csc_matrix((3 * k, 3 * k)), normal.sum(axis=0)
    else:
        P, q = sparse.csc_matrix(np.triu(W.T @ W + 1e-6 * np.eye(3 * k))), W.T @ w
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    A, b = sparse.csc_matrix(np.vstack(rows)), np.concatenate(right)
    done = clarabel.DefaultSolver(P, q, A, b, kinds, settings).solve()
    return np.array(done.x).reshape(k, 3) if str(done.status) == "Solved" else None


def prepare(g: Grasp) -> None:
    """The friction that it needs, and the forces to command."""
    forces = solve(g, MOST_FRICTION, balance=True)
    if forces is None:
        closest = solve(g, FRICTIONS[-1], balance=False)
        g.forces = np.zeros((len(g.points), 3)) if closest is None else closest
        return
    low, high = 0.0, MOST_FRICTION
    while high - low > 5e-4 * high:
        mu = (low + high) / 2
        tried = solve(g, mu, balance=True)
        if tried is None:
            low = mu
        else:
            high, forces = mu, tried
    g.needed, g.forces = high, forces


def chosen(kind: str, count: int, rng: np.random.Generator) -> list[Grasp]:
    """Three of five need a friction within the table's range, the others less or more: most are near a border."""
    wanted = {"less": count // 5, "within": count - 2 * (count // 5), "more": count // 5}
    found: list[Grasp] = []
    while any(wanted.values()):
        for g in candidates(kind, 20, rng):
            prepare(g)
            place = "less" if g.needed < FRICTIONS[0] else "within" if g.needed < FRICTIONS[-1] else "more"
            if wanted[place]:
                wanted[place] -= 1
                found.append(g)
    return found


# --- the simulator


def shape_of(kind: str) -> str:
    def text(v) -> str:
        return " ".join(f"{x:.9g}" for x in np.ravel(v))

    sizes = {"sphere": [SPHERE], "box": BOX, "cylinder": CYLINDER, "ellipsoid": ELLIPSOID}
    return 'type="mesh" mesh="hull"' if kind == "hull" else f'type="{kind}" size="{text(sizes[kind])}"'


def model_of(g: Grasp, soft: Softness) -> mujoco.MjModel:
    def text(v) -> str:
        return " ".join(f"{x:.12g}" for x in np.ravel(v))

    fingers, actuators = "", ""
    for j, (p, axes) in enumerate(zip(g.points, frames(g.normals), strict=True)):
        joints = "".join(f'<joint name="f{j}{c}" type="slide" axis="{text(axes[c])}"/>' for c in range(3))
        fingers += (
            f'<body pos="{text(p - FINGER * axes[0])}" gravcomp="1">{joints}'
            f'<geom name="f{j}" type="sphere" size="{FINGER}" mass="{FINGER_MASS}" contype="1" conaffinity="0"/></body>'
        )
        for c in range(3):
            limit = f'forcelimited="true" forcerange="0 {g.limit}"' if c == 0 else 'forcelimited="false"'
            actuators += f'<position joint="f{j}{c}" kp="{soft.springs}" kv="{soft.damping}" {limit}/>'
    spin = 0.4 * g.mass * 0.033**2
    mesh = (
        f'<asset><mesh name="hull" vertex="{text(HULL.points)}" inertia="convex"/></asset>' if g.kind == "hull" else ""
    )
    # The compiler moves a mesh to its own center of mass and axes, and its geom back: nothing has to be undone.
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{soft.step}" cone="elliptic" impratio="{soft.impratio}"
          integrator="implicitfast" solver="Newton" tolerance="1e-12" iterations="200" gravity="0 0 0"/>
        <default><geom condim="3" solref="{soft.time_constant} 1"
          solimp="{soft.impedance} {soft.impedance} 0.001"/></default>{mesh}
        <worldbody><body name="object"><freejoint/>
          <inertial pos="{text(g.com)}" mass="{g.mass}" diaginertia="{spin} {spin} {spin}"/>
          <geom name="object" {shape_of(g.kind)} contype="0" conaffinity="1"/></body>{fingers}</worldbody>
        <actuator>{actuators}</actuator></mujoco>"""
    )


@dataclass
class Outcome:
    held: bool
    moved: float  # of the center of mass [m]
    turned: float  # [rad]
    points: np.ndarray  # contacts at the end, in the object's axes
    normals: np.ndarray
    down: np.ndarray  # where gravity points, in the object's axes


def simulate(g: Grasp, mu: float, soft: Softness, grip_force: bool = False) -> Outcome:
    """`squeeze`: the hand that does not know what balances."""
    model = model_of(g, soft)
    data = mujoco.MjData(model)
    model.geom_friction[:, 0] = mu
    forces = np.tile([g.limit / 2, 0, 0], (len(g.points), 1)) if grip_force else g.forces
    command = forces.ravel() / soft.springs
    body = model.body("object").id
    mujoco.mj_forward(model, data)
    began = data.xipos[body].copy()
    steps = round(RAMP / soft.step)
    for i in range(steps):
        share = (i + 1) / steps
        model.opt.gravity[2] = -share * GRAVITY
        data.ctrl[:] = share * command
        mujoco.mj_step(model, data)
    mujoco.mj_step(model, data, nstep=round(TIME / soft.step))
    mujoco.mj_forward(model, data)
    moved = float(np.linalg.norm(data.xipos[body] - began))
    turned = 2 * float(np.arctan2(np.linalg.norm(data.qpos[4:7]), abs(data.qpos[3])))
    R = data.xmat[body].reshape(3, 3)
    points, normals = [], []
    for c in data.contact:
        sign = 1 if model.geom(c.geom[1]).name == "object" else -1  # the frame's first axis goes from geom 1 to geom 2
        points.append(R.T @ (c.pos - data.xpos[body]))
        normals.append(R.T @ (sign * c.frame[:3]))
    held = bool(np.isfinite(data.qpos).all() and moved < MOVED and turned < TURNED)
    return Outcome(held, moved, turned, np.array(points), np.array(normals), R.T @ [0, 0, -GRAVITY])


# --- garra, and the comparison


def garra_says(grasps: list[Grasp], mu: float) -> np.ndarray:
    first = np.cumsum([0, *(len(g.points) for g in grasps)])
    r = garra.grasp.rank(
        garra.grasp.GraspSet.from_arrays(
            np.concatenate([g.points for g in grasps]),
            np.concatenate([g.normals for g in grasps]),
            mu,
            first=first,
            force_limit=np.repeat([g.limit for g in grasps], np.diff(first)),
            mass=[g.mass for g in grasps],
            com=[g.com for g in grasps],
        ),
        samples=1,
        friction_samples=0,
    )
    assert (r.unsolved == 0).all()
    return r.held == 1


def held_where_it_ended(g: Grasp, mu: float, end: Outcome) -> bool:
    if not len(end.points):
        return False
    r = garra.grasp.rank(
        points=end.points[None],
        normals=end.normals[None],
        friction=mu,
        force_limit=g.limit,
        mass=g.mass,
        com=g.com,
        gravity=end.down,
        samples=1,
        friction_samples=0,
    )
    return bool(r.held[0] == 1)


def why(g: Grasp, mu: float, garra_held: bool, outcome: Outcome, springs: float) -> tuple[str, Outcome]:
    """What makes garra and the simulator disagree, by what resolves it."""
    stiff = simulate(g, mu, replace(STIFF, springs=springs))
    if not garra_held and held_where_it_ended(g, mu, outcome):
        return "gave way by less than the thresholds, into contacts that garra finds to hold", stiff
    if stiff.held == garra_held:
        return "soft contacts: agrees with stiffer ones", stiff
    if garra_held and stiff.moved < 10 * MOVED and held_where_it_ended(g, mu, stiff):
        return "moved by more than the thresholds, and holds there", stiff
    if garra_held and simulate(g, mu, replace(STIFF, springs=SOFT.springs)).held:
        return "these springs: stands with those of 2 kN/m", stiff
    near = abs(mu / g.needed - 1)
    return ("within 5 % of the friction needed" if near < 0.05 else "not explained"), stiff


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=200, help="grasps of all objects together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--springs", type=float, default=SOFT.springs, help="of the fingers [N/m]")
    parser.add_argument("-o", "--output", help="every verdict, as JSON")
    a = parser.parse_args()
    rng, soft = np.random.default_rng(a.seed), replace(SOFT, springs=a.springs)
    grasps = [g for kind in OBJECTS for g in chosen(kind, a.n // len(OBJECTS), rng)]
    print(f"garra {garra.__version__}, MuJoCo {mujoco.__version__}, Clarabel {clarabel.__version__}, seed {a.seed}")
    print(f"{len(grasps)} grasps, {sum(np.isfinite(g.needed) for g in grasps)} held at some friction up to 3")
    heads = ("friction", "both held", "neither", "garra only", "MuJoCo only", "only squeezed")
    print(" ".join(f"{head:>{len(head) + 1}}" for head in heads), flush=True)
    rows, reasons, unlike, stands = [], Counter(), Counter(), Counter()
    for mu in FRICTIONS:
        says = garra_says(grasps, mu)
        independent = np.array([g.needed <= mu for g in grasps])
        if (says != independent).any():
            print(f"  garra and Clarabel differ on {np.flatnonzero(says != independent)}")
        counts = Counter()
        for k, (g, held) in enumerate(zip(grasps, says.tolist(), strict=True)):
            outcome = simulate(g, mu, soft)
            counts[held, outcome.held] += 1
            row = {"grasp": k, "object": g.kind, "contacts": len(g.points), "friction": mu, "needed": g.needed}
            row |= {"garra": held, "mujoco": outcome.held, "moved": outcome.moved, "turned": outcome.turned}
            if outcome.held:
                stands[held_where_it_ended(g, mu, outcome)] += 1
            squeezed = simulate(g, mu, soft, grip_force=True)
            row["squeezed"] = squeezed.held
            if squeezed.held and not held:
                unlike["and garra finds that it does, where it ended" * held_where_it_ended(g, mu, squeezed)] += 1
            if held != outcome.held:
                row["why"], stiff = why(g, mu, held, outcome, a.springs)
                row |= {"stiff": {"held": stiff.held, "moved": stiff.moved, "turned": stiff.turned}}
                reasons["garra only" if held else "MuJoCo only", row["why"]] += 1
            rows.append(row)
        table = [counts[key] for key in ((True, True), (False, False), (True, False), (False, True))]
        table.append(sum(row["squeezed"] for row in rows if row["friction"] == mu))
        print(f"{mu:9.1f} " + " ".join(f"{n:{len(h) + 1}d}" for n, h in zip(table, heads[1:], strict=True)), flush=True)
    agree = sum(row["garra"] == row["mujoco"] for row in rows)
    print(f"{agree} of {len(rows)} verdicts agree")
    print(f"where MuJoCo's grasps stand at the end, garra finds forces in {stands[True]} of {stands.total()}")
    for where, count in unlike.items():
        print(f"only squeezed, {count} held where garra says that nothing can hold {where}")
    for (who, reason), count in reasons.most_common():
        print(f"  {who}: {count} {reason}")
    for row in rows:
        if "why" in row:
            print(
                f"  grasp {row['grasp']:3d} ({row['object']}, {row['contacts']} contacts) at {row['friction']}, needs "
                f"{row['needed']:.3f}: garra {'held' if row['garra'] else 'not'}, moved {1e3 * row['moved']:.2f} mm, "
                f"turned {np.degrees(row['turned']):.1f} deg; stiff {1e3 * row['stiff']['moved']:.2f} mm, "
                f"{np.degrees(row['stiff']['turned']):.1f} deg; {row['why']}"
            )
    if a.output:
        versions = {"garra": garra.__version__, "mujoco": mujoco.__version__, "clarabel": clarabel.__version__}
        with open(a.output, "w") as file:
            json.dump({"versions": versions, "seed": a.seed, "settings": asdict(soft), "verdicts": rows}, file)


if __name__ == "__main__":
    sys.exit(main())
