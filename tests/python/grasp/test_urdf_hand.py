"""garra.grasp.from_urdf against MuJoCo's mass matrix, Jacobians and gravity of the same tree: an arm, a palm, three
fingers that touch, one of them with a joint that follows another, and one that does not touch."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import require_module

require_module()
mujoco = pytest.importorskip("mujoco")

import garra  # noqa: E402
from garra.files import data  # noqa: E402

RNG = np.random.default_rng(4)
Q = {"shoulder": 0.4, "lift": 0.1, "wrist": -0.7, "a1": 0.3, "a2": 0.5, "b1": -0.2, "b2": 0.6, "c1": 0.4, "d1": 0.8}
TIPS = ("a_tip", "b_tip", "c_tip")


def inertial(mass: float) -> str:
    com = RNG.uniform(-0.03, 0.03, 3)
    moments = mass * RNG.uniform(0.5e-3, 0.9e-3, 3)
    numbers = " ".join(f'{k}="{v:.17g}"' for k, v in zip(("ixx", "iyy", "izz"), moments, strict=True))
    xyz = " ".join(f"{x:.17g}" for x in com)
    return (
        f'<inertial><origin xyz="{xyz}"/><mass value="{mass}"/><inertia {numbers} ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def link(name: str, mass: float | None = None) -> str:
    return f'<link name="{name}">{inertial(mass) if mass else ""}</link>'


def joint(
    name: str, parent: str, child: str, xyz: str, axis: str, kind: str = "revolute", rpy: str = "0 0 0", more: str = ""
) -> str:
    limit = '<limit lower="-3" upper="3" effort="100" velocity="10"/>' if kind != "fixed" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


MIMIC = '<mimic joint="c1" multiplier="0.7" offset="0.1"/>'
PARTS = [
    *(link(name, mass) for name, mass in {"base": 5, "upper": 3, "fore": 2, "palm": 0.8}.items()),
    *(link(f"{finger}{i}", 0.1 + 0.05 * i) for finger in "abcd" for i in (1, 2)),
    *(link(f"{finger}_tip") for finger in "abc"),
    joint("shoulder", "base", "upper", "0 0 0.3", "0 0 1"),
    joint("lift", "upper", "fore", "0.05 0 0.3", "0 0.6 0.8", "prismatic"),
    joint("wrist", "fore", "palm", "0.3 0 0", "1 0 0", rpy="0.2 0.4 0"),
    *(
        text
        for finger, y in (("a", 0.04), ("b", -0.04), ("c", 0.0), ("d", 0.07))
        for text in (
            joint(
                f"{finger}1",
                "palm",
                f"{finger}1",
                f"0.05 {y} {0.03 if finger == 'c' else 0}",
                "0 1 0",
                rpy=f"{10 * y} 0 0",
            ),
            joint(f"{finger}2", f"{finger}1", f"{finger}2", "0.05 0 0", "0 1 0.2", more=MIMIC if finger == "c" else ""),
            joint(f"{finger}_end", f"{finger}2", f"{finger}_tip", "0.04 0 0.01", "1 0 0", "fixed")
            if finger != "d"
            else "",
        )
    ),
]
URDF = f'<robot name="arm_and_hand">{"".join(PARTS)}</robot>'


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "arm_and_hand.urdf"
    path.write_text(URDF)
    return path


@pytest.fixture(scope="module")
def tree():
    """MuJoCo's numbers at Q: joints, mass matrix, torques against gravity, and (v; omega) of the tips."""
    text = URDF.replace(MIMIC, "").replace(">", '><mujoco><compiler fusestatic="false"/></mujoco>', 1)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    names = [model.joint(i).name for i in range(model.njnt)]
    for name in names:
        data.qpos[model.joint(name).qposadr[0]] = Q.get(name, 0.7 * Q["c1"] + 0.1 if name == "c2" else 0.0)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
    tips, twists = [], []
    for tip in TIPS:
        v, omega = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, v, omega, data.body(tip).xpos, model.body(tip).id)
        tips.append(data.body(tip).xpos.copy())
        twists.append(np.concatenate([v, omega]))
    return names, M, data.qfrc_bias.copy(), np.array(tips), np.array(twists)


def reduced(tree, still=()):
    """The same for the joints that move: d1 stands still, c2 follows c1."""
    names, M, bias, tips, twists = tree
    own = [n for n in names if n not in ("c2", "d1", "d2", *still)]
    S = np.zeros((len(names), len(own)))
    for column, name in enumerate(own):
        S[names.index(name), column] = 1
    if "c1" in own:
        S[names.index("c2"), own.index("c1")] = 0.7
    return own, S.T @ M @ S, S.T @ bias, tips, twists @ S


def grasp_of(urdf, tips, **more):
    normals = np.array([[0.2, 1, 0], [0, -1, 0.1], [0.3, 0, -1.0]])
    how = {
        "force": [3.0, 4.0, 5.0],
        "mass": 0.4,
        "friction": 0.6,
        "points": tips + [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]],
    }
    return garra.grasp.from_urdf(urdf, TIPS, Q, normals, **(how | more))


@pytest.mark.parametrize("still", [(), ("shoulder", "lift", "wrist")])
def test_the_tree_is_mujocos(urdf, tree, still):
    own, M, bias, tips, twists = reduced(tree, still)
    grasp = grasp_of(urdf, tips, fixed=still)
    v = twists[:, :3] + np.cross(twists[:, 3:], (grasp.points - tips)[:, :, None], axis=1)
    J = np.concatenate([E.T @ x for E, x in zip(grasp.frames, v, strict=True)])
    expected = J @ np.linalg.solve(M, J.T)
    np.testing.assert_allclose(grasp.hand_A, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    command = np.zeros((3, 3))
    command[:, 0] = [3, 4, 5]
    np.testing.assert_allclose(
        grasp.hand_b, -expected @ command.reshape(-1), rtol=0, atol=1e-9 * np.abs(grasp.hand_b).max()
    )
    # Without torques everything falls: the hand's own weight is in the bias.
    fallen = grasp_of(urdf, tips, fixed=still, force=None, torque={})
    free = J @ np.linalg.solve(M, bias)
    np.testing.assert_allclose(fallen.hand_b, free, rtol=0, atol=1e-9 * np.abs(free).max())
    pushed = grasp_of(urdf, tips, fixed=still, force=None, torque={"b2": 0.3})
    one = np.array([0.3 * (name == "b2") for name in own])
    np.testing.assert_allclose(
        pushed.hand_b - fallen.hand_b, -J @ np.linalg.solve(M, one), rtol=0, atol=1e-9 * np.abs(free).max()
    )


def test_an_arm_that_gives_way_couples_the_fingers(urdf, tree):
    tips = tree[3]
    stands, gives = grasp_of(urdf, tips, fixed=("shoulder", "lift", "wrist")), grasp_of(urdf, tips)
    assert np.abs(stands.hand_A[:3, 3:]).max() < 1e-12 * np.abs(stands.hand_A).max()
    assert np.abs(gives.hand_A[:3, 3:]).max() > 1e-3 * np.abs(gives.hand_A).max()
    assert any("c2 follows c1" in note for note in gives.notes)
    assert any("d1" in note for note in gives.notes)


def test_points_far_from_their_links_are_noted(urdf, tree):
    tips = tree[3]
    near = grasp_of(urdf, tips)
    assert not any("from the frame of" in note for note in near.notes)
    moved = tips + np.array([0.5, 0, 0])
    assert any("contact 0 is 0.5 m from the frame of a_tip" in note for note in grasp_of(urdf, tips, points=moved).notes)
    with pytest.raises(ValueError, match="lengths are in meters"):
        grasp_of(urdf, tips, points=1000 * near.points)


def test_b_is_the_free_acceleration_between_object_and_hand(urdf, tree):
    grasp = grasp_of(
        urdf, tree[3], wrench=[0.1, 0.2, 0.3, 0.01, 0.0, 0.02], com=[0.5, 0.0, 0.6], inertia=np.diag([1, 2, 2.5]) * 1e-4
    )
    force = np.array([0.1, 0.2, 0.3]) + 0.4 * np.array([0, 0, -9.81])
    linear, angular = force / 0.4, np.array([0.01, 0, 0.02]) / (np.array([1, 2, 2.5]) * 1e-4)
    for j, (point, E) in enumerate(zip(grasp.points, grasp.frames, strict=True)):
        at = E.T @ (linear + np.cross(angular, point - grasp.com))
        assert grasp.b[3 * j : 3 * j + 3] - grasp.hand_b[3 * j : 3 * j + 3] == pytest.approx(at, abs=1e-9)


def test_it_is_solved_and_ranked_like_any_other_grasp(urdf, tree):
    tips = tree[3]
    center = tips.mean(axis=0)
    how = {"points": tips, "com": center, "force": [5.0, 5.0, 5.0]}
    grasp = garra.grasp.from_urdf(urdf, TIPS, Q, center - tips, mass=0.05, friction=0.9, **how)
    solution = grasp.solve()
    assert solution.converged
    ranking = garra.grasp.rank(
        garra.grasp.GraspSet.from_grasps([grasp, grasp]), friction=garra.uniform(0.2, 1.2), samples=512
    )
    assert ranking.p_held[0] == ranking.p_held[1]
    one = grasp.robustness(friction=garra.uniform(0.2, 1.2, common=True), samples=4000)
    assert ranking.p_held[0] == pytest.approx(one.p_held, abs=0.08)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"force": None}, "one of force and torque"),
        ({"force": None, "torque": {"elbow": 1.0}}, "'elbow' is none of the joints that move"),
        ({"fixed": ["c2"]}, "'c2' is none of the joints"),
        ({"fixed": ["shoulder", "lift", "wrist", "a1", "a2", "b1", "b2", "c1"]}, "no joint is left"),
        ({"points": np.zeros((2, 3))}, r"expected finite numbers \[3, 3\]"),
        ({"force": [1.0, 2.0]}, r"expected a number, \[3\]"),
        ({"tangents": [[0.2, 1, 0]] * 3}, "parallel"),
        ({"mass": -1.0}, "mass = -1.0\nGive a finite number above 0"),
        ({"mass": float("nan")}, "mass = nan\nGive a finite number above 0"),
        ({"friction": [0.5, 0.5]}, r"friction: expected a number, \[3\]"),
        ({"friction": -0.5}, "not negative"),
    ],
)
def test_what_does_not_fit_is_said(urdf, tree, more, said):
    with pytest.raises(ValueError, match=said):
        grasp_of(urdf, tree[3], **more)


def test_joints_without_inertia_are_said(tmp_path):
    text = (
        '<robot name="r"><link name="base"/><link name="a"/>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint></robot>'
    )
    (tmp_path / "r.urdf").write_text(text)
    with pytest.raises(ValueError, match="mass matrix of j is not positive definite"):
        garra.grasp.from_urdf(
            tmp_path / "r.urdf",
            ["a"],
            {},
            [[1, 0, 0]],
            points=[[1, 0, 0]],
            com=[2, 0, 0],
            mass=1,
            friction=0.5,
            force=1.0,
        )


def test_a_link_that_is_not_there_is_said_by_the_file(urdf):
    with pytest.raises(garra.UsageError, match="nose"):
        garra.grasp.from_urdf(urdf, ["nose"], Q, [[1, 0, 0]], mass=1, friction=0.5, force=1.0)


def test_inputs_of_a_problem_share_leading_axes():
    load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
    A, b, mu = grasp.problem(friction=[[0.1], [0.2], [0.3]], wrench=np.zeros(6))
    assert (A.shape, b.shape, mu.shape) == ((3, 3), (3, 3), (3, 1))
    assert np.array_equal(A, grasp.problem()[0]) and np.array_equal(grasp.problem(mass=[1, 2])[2], [[0.5], [0.5]])
    with pytest.raises(garra.UsageError, match="mass"):
        grasp.problem(mass=0)


def test_robustness_tells_how_far_it_is(capsys):
    load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
    inputs = {"friction": garra.uniform(0.1, 0.5), "force": garra.ball(2.0), "samples": 1500}
    told: list[dict] = []
    found = grasp.robustness(**inputs, progress=told.append)
    assert [record["samples"] for record in told] == [512, 1024, 1500]
    assert all(record["of"] == 1500 and record["seconds_left"] >= 0 for record in told) and told[-1]["seconds_left"] == 0
    # Pieces have the draws of the whole.
    quiet = grasp.robustness(**inputs)
    assert capsys.readouterr().err == ""
    np.testing.assert_array_equal(found.force, quiet.force)
    np.testing.assert_array_equal(found.outcome, quiet.outcome)
    ranked = garra.grasp.rank([grasp], friction=inputs["friction"], force=inputs["force"], samples=1500, friction_samples=0)
    assert ranked.p_held[0] == found.p_held
    grasp.robustness(**inputs, progress=True)
    assert "1,500 of 1,500 samples, 0 s left" in capsys.readouterr().err

    def stop(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grasp.robustness(**inputs, progress=stop)


def test_margins_of_contacts_that_open_or_have_no_friction_are_zero():
    load = {"mass": 1.0, "inertia": np.eye(3), "force": 9.81}
    flange = (data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]])
    lifted = garra.grasp.from_urdf(*flange, friction=0.5, wrench=[0, 0, 30, 0, 0, 0], **load).robustness(samples=5)
    assert (lifted.force == 0).all() and (lifted.margin == 0).all()
    smooth = garra.grasp.from_urdf(*flange, friction=0.0, **load).robustness(samples=5)
    assert smooth.p_held == 1 and (smooth.margin == 0).all()
    rough = garra.grasp.from_urdf(*flange, friction=0.5, wrench=[1, 0, 0, 0, 0, 0], **load).robustness(samples=1)
    np.testing.assert_allclose(rough.margin, 1 - np.hypot(*rough.force[0, 0, 1:]) / (0.5 * rough.force[0, 0, 0]))


def test_distributions_of_which_bounds_leave_nothing_are_refused():
    load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
    for friction in (garra.normal(0.1, 0.005, min=0.143), garra.normal(0.5, 0.01, max=0.4)):
        with pytest.raises(ValueError, match="less than a millionth"):
            grasp.robustness(friction, samples=10)
        with pytest.raises(ValueError, match="less than a millionth"):
            garra.grasp.rank([grasp], friction=friction, samples=10)
    found = grasp.robustness(garra.normal(0.3, 0.02, min=0.38), samples=200)  # beyond 4 sd
    assert (found.friction >= 0.38).all() and (found.friction < 0.45).all()


@pytest.mark.parametrize("leader", ["bend", "knuckle"])
def test_links_beside_the_tips_that_coupled_joints_move_count(leader, tmp_path):
    # Finger (50 g) and knuckle (1 kg) turn about parallel axes as one joint; only the finger has a tip.
    mass = {"finger": 0.05, "side": 1.0}
    link = (
        '<link name="{0}"><inertial><origin xyz="0.05 0 0"/><mass value="{1}"/>'
        '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    follower = "knuckle" if leader == "bend" else "bend"

    def turning(name, child, y):
        mimic = f'<mimic joint="{leader}"/>' if name == follower else ""
        return joint(name, "palm", child, f"0 {y} 0", "0 1 0", more=mimic)

    file = tmp_path / "linkage.urdf"
    file.write_text(
        '<robot name="linkage"><link name="palm"/><link name="tip"/>'
        + "".join(link.format(*row) for row in mass.items())
        + turning("bend", "finger", 0)
        + turning("knuckle", "side", 0.2)
        + joint("end", "finger", "tip", "0.1 0 0", "0 0 1", "fixed")
        + "</robot>"
    )
    grasp = garra.grasp.from_urdf(
        file, ["tip"], {}, [[0, 0, 1]], mass=0.3, friction=0.5, inertia=1e-3 * np.eye(3), torque={leader: -0.8}
    )
    inertia = sum(m * 0.05**2 + 1e-4 for m in mass.values())
    weight = -sum(mass.values()) * 0.05 * 9.81  # of both, along the joint
    np.testing.assert_allclose(grasp.hand_A[0, 0], 0.1**2 / inertia, rtol=1e-12)
    np.testing.assert_allclose(grasp.hand_b[0], -0.1 * (weight + 0.8) / inertia, rtol=1e-12)
    assert grasp.notes == (f"{follower} follows {leader}",)


def test_contacts_of_a_palm_are_rigid(tmp_path):
    fingers = [link("palm", 1.0), *(link(f"f{i}", 0.05) for i in (0, 1)), *(link(f"t{i}") for i in (0, 1)), link("pad")]
    fingers += [joint(f"j{i}", "palm", f"f{i}", f"0 {0.03 - 0.06 * i} 0", "0 1 0") for i in (0, 1)]
    fingers += [joint(f"end{i}", f"f{i}", f"t{i}", "0.1 0 0", "0 0 1", "fixed") for i in (0, 1)]
    fingers.append(joint("glue", "palm", "pad", "0.05 0 -0.1", "0 0 1", "fixed"))
    free, carried = tmp_path / "hand.urdf", tmp_path / "carried.urdf"
    free.write_text(f'<robot name="hand">{"".join(fingers)}</robot>')
    carrier = [link("wrist"), joint("arm", "wrist", "palm", "0 0 0", "1 0 0", "prismatic")]
    carried.write_text(f'<robot name="carried">{"".join(fingers + carrier)}</robot>')
    load = {"mass": 0.2, "friction": 0.6, "force": [3, 3, 0], "inertia": 1e-4 * np.eye(3)}
    grip = (["t0", "t1", "pad"], {}, [[0, 0, -1], [0, 0, -1], [0, 0, 1]])
    grasp = garra.grasp.from_urdf(free, *grip, **load)
    assert grasp.points[2] == pytest.approx([0.05, 0, -0.1])
    assert (grasp.hand_jacobian[6:] == 0).all() and (grasp.hand_A[6:] == 0).all() and (grasp.hand_b[6:] == 0).all()
    braked = garra.grasp.from_urdf(carried, *grip, fixed=["arm"], **load)
    np.testing.assert_allclose(grasp.hand_A, braked.hand_A, rtol=1e-12)
    np.testing.assert_allclose(grasp.hand_b, braked.hand_b, rtol=1e-12)
    # The pad carries the weight, and what the fingers press, but for the acceleration of fingers that give way.
    forces = grasp.solve().forces[:, 0]
    assert forces[2] == pytest.approx(0.2 * 9.81 + forces[0] + forces[1], rel=0.01)
    with pytest.raises(ValueError, match="no joint is left"):
        garra.grasp.from_urdf(free, ["pad"], {}, [[0, 0, 1]], **load | {"force": 1})


def test_a_jaw_whose_second_finger_only_follows_the_first(tmp_path):
    link = '<link name="{0}"><inertial><mass value="{1}"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>'
    slide = (
        '<joint name="{0}" type="prismatic"><parent link="palm"/><child link="{1}"/><origin xyz="0 0 0.1"/>'
        '<axis xyz="{2} 0 0"/><limit lower="0" upper="0.04" effort="40" velocity="0.1"/>{3}</joint>'
    )
    file = tmp_path / "jaw.urdf"
    file.write_text(
        '<robot name="jaw"><link name="palm"/>'
        + link.format("left", 0.05)
        + link.format("right", 0.07)
        + slide.format("jl", "left", -1, "")
        + slide.format("jr", "right", 1, '<mimic joint="jl"/>')
        + "</robot>"
    )
    grasp = garra.grasp.from_urdf(
        file, ["left", "right"], {"jl": 0.02}, [[1, 0, 0], [-1, 0, 0]],
        points=[[-0.02, 0, 0.103], [0.02, 0, 0.103]], mass=0.2, friction=0.6, force=10.0,
    )  # fmt: skip
    # One joint opens both fingers, 0.12 kg.
    np.testing.assert_allclose(grasp.hand_jacobian[[0, 3]], [[-1], [-1]], atol=1e-15)
    np.testing.assert_allclose(grasp.hand_A[np.ix_([0, 3], [0, 3])], np.full((2, 2), 1 / 0.12))
    # Friction carries 0.2 kg with 10 N a side: 1.962 N of 2 * 0.6 * 10 N.
    assert garra.grasp.rank([grasp], friction=0.6, samples=20, friction_samples=1).p_held[0] == 1
