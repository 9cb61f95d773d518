"""The singular pose next to a pose and the stiffness of a platform, against determinants and energies by NumPy."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from arrays import require_module
from program import ROOT, USAGE, garra

require_module()

import garra as library  # noqa: E402


def load(name: str) -> library.platform.Platform:
    return library.platform.load(str(ROOT / "data" / "platforms" / f"{name}.toml"))


def anchors(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Of the platform as `garra check` writes it out: base and platform joints [6, 3]."""
    import tomllib

    legs = tomllib.loads(load(name).to_toml())["leg"]
    return np.array([leg["base"] for leg in legs]), np.array([leg["anchor"] for leg in legs])


def rotation(vector: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


class Machine:
    """Determinant of the scaled length Jacobian after a motion u = (shift; L turn) from a pose."""

    def __init__(self, name: str, position: np.ndarray, turn: np.ndarray) -> None:
        self.base, self.anchor = anchors(name)
        self.position, self.A = position, rotation(turn)
        self.length = np.sqrt(((self.anchor - self.anchor.mean(0)) ** 2).sum(1).mean())

    def jacobian(self, u: np.ndarray) -> np.ndarray:
        lever = self.anchor @ (rotation(u[3:] / self.length) @ self.A).T
        d = self.position + u[:3] + lever - self.base
        z = d / np.linalg.norm(d, axis=1, keepdims=True)
        return np.hstack([z, np.cross(lever, z) / self.length])

    def determinant(self, u: np.ndarray) -> float:
        return np.linalg.det(self.jacobian(u))


POSES = [
    ("trepa_like", [0, 0, 1.15], [0, 0, 0]),
    ("irregular", None, [0.1, -0.2, 0.3]),
    ("trepa_like", [0.1, -0.05, 1.3], [0.3, 0.2, -0.5]),
]


def quaternion(turn: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(turn)
    return np.r_[math.cos(angle / 2), math.sin(angle / 2) * np.asarray(turn) / (angle or 1)]


@pytest.mark.parametrize(("name", "position", "turn"), POSES)
def test_the_nearest_singular_pose_is_singular_and_no_other_is_nearer(name, position, turn) -> None:
    platform, turn = load(name), np.array(turn, float)
    position = np.array(platform.home[0] if position is None else position, float)
    found = platform.nearest_singular_pose(position, quaternion(turn))
    machine = Machine(name, position, turn)
    assert found.characteristic_length == pytest.approx(machine.length, rel=1e-12)
    u = np.r_[found.shift, machine.length * found.turn]
    assert found.distance == pytest.approx(np.linalg.norm(u), rel=1e-12) and 0 < found.distance < found.reach
    sigma = np.linalg.svd(machine.jacobian(u), compute_uv=False)
    assert sigma[5] < 1e-9 * sigma[0]
    at = platform.inverse_kinematics(found.position, found.quaternion)
    assert at.sigma_min < 1e-9 and at.mask == found.mask
    # The normal of the singular surface has the direction of the motion: the distance is stationary.
    step = 1e-6 * np.eye(6)
    normal = np.array([machine.determinant(u + e) - machine.determinant(u - e) for e in step])
    assert abs(normal @ u) / np.linalg.norm(normal) / np.linalg.norm(u) == pytest.approx(1, abs=1e-5)
    # The determinant keeps its sign nearer by.
    rng, start = np.random.default_rng(1), machine.determinant(np.zeros(6))
    for d in rng.normal(size=(3000, 6)):
        for share in (0.5, 0.9, 0.995):
            assert machine.determinant(share * found.distance * d / np.linalg.norm(d)) * start > 0


@pytest.mark.parametrize(("name", "position", "turn"), POSES)
def test_the_way_along_an_axis_ends_where_the_determinant_changes_its_sign(name, position, turn) -> None:
    platform, turn = load(name), np.array(turn, float)
    position = np.array(platform.home[0] if position is None else position, float)
    found = platform.nearest_singular_pose(position, quaternion(turn))
    machine = Machine(name, position, turn)
    start, met = machine.determinant(np.zeros(6)), 0
    for k in range(6):
        unit = 1 if k < 3 else machine.length
        for side, sign in enumerate((1, -1)):
            end = min(unit * found.along_axes[k, side], found.reach)
            for way in np.linspace(0, end * (1 - 1e-9), 400):
                assert machine.determinant(sign * way * np.eye(6)[k]) * start > 0
            if np.isfinite(found.along_axes[k, side]):
                met += 1
                assert machine.determinant(sign * end * (1 + 1e-6) * np.eye(6)[k]) * start < 0
                assert end >= found.distance * (1 - 1e-12)
    assert met >= 2


def test_a_symmetric_platform_is_singular_after_a_quarter_turn() -> None:
    platform = load("trepa_like")
    ways = platform.nearest_singular_pose().along_axes
    np.testing.assert_allclose(ways[5], math.pi / 2, atol=1e-9)
    here = platform.nearest_singular_pose(platform.home[0], quaternion(np.array([0, 0, math.pi / 2])))
    assert here.distance == 0 and not here.shift.any() and not here.along_axes.any()
    with pytest.raises(ValueError, match="2 poses: give one"):
        platform.nearest_singular_pose(np.zeros((2, 3)), np.ones((2, 4)))
    with pytest.raises(library.UsageError, match="not finite"):
        platform.nearest_singular_pose([0, 0, np.nan], [1, 0, 0, 0])


def test_the_stiffness_is_the_curvature_of_the_legs_energy() -> None:
    platform = load("irregular")
    position, turn, k = np.array(platform.home[0]), np.array([0.1, -0.2, 0.3]), np.array([1, 2, 3, 4, 5, 6.0]) * 1e6
    found = platform.stiffness(position, quaternion(turn), k)

    def lengths(u):
        base, anchor = anchors("irregular")
        return np.linalg.norm(position + u[:3] + anchor @ (rotation(u[3:]) @ rotation(turn)).T - base, axis=1)

    step = 1e-6
    slope = np.array([(lengths(step * e) - lengths(-step * e)) / (2 * step) for e in np.eye(6)])  # [motion, leg]
    np.testing.assert_allclose(found, slope @ np.diag(k) @ slope.T, rtol=1e-6, atol=1e-6 * found.max())
    assert platform.stiffness(np.tile(position, (4, 1)), quaternion(turn), 1e6).shape == (4, 6, 6)
    np.testing.assert_allclose(found, found.T)
    with pytest.raises(library.UsageError, match="below 0"):
        platform.stiffness(position, quaternion(turn), -1.0)


def test_the_command_prints_the_singular_pose_and_the_stiffness() -> None:
    told = garra("platform", "ik", "trepa_like", "--leg-stiffness", "20 N/mm").stdout
    platform = load("trepa_like")
    found = platform.nearest_singular_pose()
    assert f"singular pose  {found.distance:.6g} m away; turns count 0.4 m a radian" in told
    rows = [line.split() for line in told.splitlines()]
    assert next(row for row in rows if row[:1] == ["forward"])[6] == "90"
    answer = json.loads(
        garra("platform", "ik", "trepa_like", "--leg-stiffness", "20 N/mm", "--format", "json").stdout
    )
    assert answer["nearest_singular"]["pose"]["distance"] == found.distance
    np.testing.assert_allclose(answer["stiffness"], platform.stiffness(*platform.home, 2e4), rtol=1e-12, atol=1e-9)
    assert f"{answer['stiffness'][2][2]:.5g}" in told
    here = garra("platform", "ik", "trepa_like", "--at", "0 0 1.15, 0 0 90deg").stdout
    assert "singular pose  here" in here
    refused = garra("platform", "ik", "trepa_like", "--leg-stiffness", "1,2", expect=USAGE)
    assert "--leg-stiffness has 2 numbers, not 1 or 6" in refused.stderr


def turn_of(quaternion: np.ndarray) -> np.ndarray:
    q = quaternion * np.sign(quaternion[0] or 1)
    sine = np.linalg.norm(q[1:])
    return 2 * math.atan2(sine, q[0]) * q[1:] / (sine or 1)


def between(path: library.platform.PlannedPath, count: int):
    """Position and rotation at `count` shares of each of its motions."""
    for k in range(len(path.position) - 1):
        first = rotation(turn_of(path.quaternion[k]))
        last = rotation(turn_of(path.quaternion[k + 1]))
        # The rotation vector from the skew part; turns are below pi.
        change = last @ first.T
        angle = math.acos(np.clip((np.trace(change) - 1) / 2, -1, 1))
        skew = np.array([change[2, 1] - change[1, 2], change[0, 2] - change[2, 0], change[1, 0] - change[0, 1]])
        turn = angle * skew / (np.linalg.norm(skew) or 1)
        for share in np.linspace(0, 1, count):
            r = path.position[k] + share * (path.position[k + 1] - path.position[k])
            yield r, rotation(share * turn) @ first


class Limits:
    """Strokes and cones of a platform, by NumPy."""

    def __init__(self, name: str) -> None:
        import tomllib

        platform = load(name)
        self.legs = tomllib.loads(platform.to_toml())["leg"]
        self.base, self.anchor = anchors(name)
        self.home = self.directions(platform.home[0], rotation(turn_of(platform.home[1])))

    def directions(self, r: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        d = r + self.anchor @ A.T - self.base
        length = np.linalg.norm(d, axis=1)
        z = d / length[:, None]
        return length, z, z @ A

    def worst(self, r: np.ndarray, A: np.ndarray) -> float:
        """Least margin to a stroke [m] or cone [rad]."""
        length, z, own = self.directions(r, A)
        margins = []
        for k, leg in enumerate(self.legs):
            low, high = leg["stroke"]
            margins += [length[k] - low, high - length[k]]
            for name, a, b in (("universal_cone", z, self.home[1]), ("spherical_cone", own, self.home[2])):
                cone = math.radians(float(leg[name].removesuffix(" deg")))
                margins.append(cone - math.acos(min(1, a[k] @ b[k])))
        return min(margins)


def assert_keeps(path: library.platform.PlannedPath, name: str, near_singular: float, *, limits: bool) -> None:
    machine, kept = Machine(name, np.zeros(3), np.zeros(3)), Limits(name)
    signs = set()
    for r, A in between(path, 400):
        machine.position, machine.A = r, A
        J = machine.jacobian(np.zeros(6))
        signs.add(np.sign(np.linalg.det(J)))
        assert np.linalg.svd(J, compute_uv=False)[5] > near_singular
        if limits:
            assert kept.worst(r, A) > -2e-9
    assert len(signs) == 1


@pytest.mark.parametrize("name", ["trepa_like", "irregular"])
def test_a_path_leads_from_home_to_every_mode_whose_determinant_has_the_same_sign(name) -> None:
    platform = load(name)
    machine = Machine(name, *[np.asarray(platform.home[0]), np.zeros(3)])
    start = machine.determinant(np.zeros(6))
    modes = platform.modes(platform.inverse_kinematics(*platform.home).lengths, limits=False)
    words = [library.platform.REACH[k] for k in modes.from_home]
    found = 0
    for position, quaternion, word in zip(modes.position, modes.quaternion, words, strict=True):
        machine.position, machine.A = position, rotation(turn_of(quaternion))
        same = machine.determinant(np.zeros(6)) * start > 0
        assert word == ("reachable" if same else "separate")
        path = platform.find_path(position, quaternion, near_singular=1e-4, limits=False)
        assert path.reach == word and bool(path) == same
        if not same:
            assert path.position.shape == (0, 3)
            continue
        found += 1
        np.testing.assert_array_equal(path.position[0], platform.home[0])
        np.testing.assert_allclose(path.position[-1], position, atol=1e-15)
        assert abs(path.quaternion[-1] @ quaternion) == pytest.approx(1, abs=1e-14)
        assert_keeps(path, name, 1e-4, limits=False)
    assert found >= 2


DETOUR = (
    ([0.065, 0.487, 1.244], [0.947, -0.178, 0.069, -0.259]),
    ([0.269, 0.009, 1.181], [0.914, -0.168, -0.154, -0.336]),
)  # a leg is too short on the straight motion


def test_a_path_goes_around_what_the_straight_motion_meets() -> None:
    platform = load("trepa_like")
    start, end = DETOUR
    straight = platform.find_path(*end, start=start, tries=0)
    assert straight.reach == "not_found"
    path = platform.find_path(*end, start=start)
    assert path and len(path.position) > 2
    assert_keeps(path, "trepa_like", 0.02, limits=True)
    again = platform.find_path(*end, start=start)
    np.testing.assert_array_equal(path.position, again.position)
    along = platform.find_path(*end, start=start, poses=50)
    kept = platform.inverse_kinematics(along.position, along.quaternion)
    assert len(along.position) >= 50 and not kept.mask.any() and (kept.sigma_min > 0.02).all()


def test_a_straight_path_has_its_two_ends_and_its_length() -> None:
    platform = load("trepa_like")
    turn = np.array([0.05, -0.1, 0.2])
    path = platform.find_path([0.05, 0.02, 1.3], quaternion(turn))
    length = math.hypot(np.linalg.norm([0.05, 0.02, 0.15]), 0.4 * np.linalg.norm(turn))
    assert path.length == pytest.approx(length, rel=1e-12) and len(path.position) == 2 and path.proof_steps > 0
    assert str(path).startswith("reachable by 1 straight motion, ")


def test_a_path_without_a_way_says_why() -> None:
    platform = load("trepa_like")
    quarter = quaternion(np.array([0, 0, math.pi / 2]))
    assert platform.find_path(platform.home[0], quarter).reach == "near_singular"
    # Beyond the singular quarter turn det J has the other sign.
    beyond = quaternion(np.array([0, 0, 0.6 * math.pi]))
    assert platform.find_path(platform.home[0], beyond).reach == "separate"
    assert platform.find_path([0, 0, 3], [1, 0, 0, 0]).reach == "out_of_limits"
    assert not platform.find_path([0, 0, 3], [1, 0, 0, 0])
    with pytest.raises(ValueError, match="2 poses: give one"):
        platform.find_path(np.zeros((2, 3)), [1, 0, 0, 0])
    with pytest.raises(library.UsageError, match="not finite"):
        platform.find_path([0, 0, np.nan], [1, 0, 0, 0])
    with pytest.raises(library.UsageError, match="near_singular is below 0"):
        platform.find_path([0, 0, 1.2], [1, 0, 0, 0], near_singular=-1.0)


def test_the_program_finds_the_same_path(tmp_path) -> None:
    found = json.loads(garra("platform", "path", "trepa_like", "--to", "0.1 0 1.3, 0 10deg 0", "--format", "json",
                             "-o", tmp_path / "path.h5").stdout)  # fmt: skip
    path = load("trepa_like").find_path([0.1, 0, 1.3], quaternion(np.array([0, math.radians(10), 0])))
    assert found["result"]["reach"] == path.reach == "reachable"
    np.testing.assert_allclose(np.reshape(found["result"]["position"], (-1, 3)), path.position, atol=1e-15)
    import h5py

    with h5py.File(tmp_path / "path.h5") as file:
        assert file["position"].shape == (101, 3) and (file["sigma_min"][:] > 0.02).all()
    # The rows are poses that other commands read.
    garra("platform", "ik", "trepa_like", tmp_path / "path.h5", "-o", tmp_path / "legs.h5", "--limits")
    modes = json.loads(garra("platform", "modes", "trepa_like", "--format", "json").stdout)
    assert modes["from_home"] == {"reachable": 1, "not_found": 0, "separate": 8, "out_of_limits": 7, "near_singular": 0}
    text = garra("platform", "path", "trepa_like", "--to", "0 0 1.15, 0 0 108deg").stdout
    assert "separate" in text and "opposite signs" in text
    for arguments in (["--to", "0 0 1, 0 0"], ["--to", "0 0 1.2, 0 0 0", "--tries", "0"]):
        garra("platform", "path", "trepa_like", *arguments, expect=USAGE)


def test_a_path_leads_from_a_limit_to_a_limit() -> None:
    whole = load("trepa_like")
    up = (whole.home[0] + [0, 0, 0.2], whole.home[1])
    low, high = (float(whole.inverse_kinematics(*pose).lengths[0]) for pose in (whole.home, up))
    text = whole.to_toml().replace("stroke = [1.05, 1.85]", f"stroke = [{low!r}, {high!r}]")
    platform = library.platform.Platform.from_toml(text)
    assert text.count(repr(low)) == 6
    for start, end in ((platform.home, up), (up, platform.home)):
        path = platform.find_path(*end, start=start, tries=0)
        assert path.reach == "reachable" and len(path.position) == 2
    assert platform.find_path(whole.home[0] - [0, 0, 1e-6], whole.home[1]).reach == "out_of_limits"
