"""`garra platform ...`: the reference numbers through files, every command, what is refused, parameters of single samples."""

from __future__ import annotations

import json
import re

import h5py
import numpy as np
import pytest
from program import DONE, INVALID, ROOT, UNSOLVED, USAGE, garra

REFERENCE = ROOT / "data" / "reference" / "platform"
IO = 5  # exit code: a file cannot be read


def reference(name):
    return json.loads((REFERENCE / f"{name}.json").read_text())


def write(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = np.asarray(values, np.float64)
    return path


def read(path):
    with h5py.File(path) as file:
        return {name: file[name][...] for name in file}


def column(items, *names):
    return np.array([np.concatenate([np.ravel(item[name]) for name in names]) for item in items])


def answer(*arguments, **options):
    return json.loads(garra("platform", *arguments, "--format", "json", **options).stdout)


def same_up_to_sign(p, q):
    return np.minimum(np.abs(p - q).max(axis=1), np.abs(p + q).max(axis=1)).max()


@pytest.fixture(scope="module")
def poses():
    return reference("ik_fk_trepa_like")["poses"]


@pytest.fixture
def pose_file(tmp_path, poses):
    return write(tmp_path / "poses.h5", position=column(poses, "r"), quaternion=column(poses, "p"))


def test_ik_gives_the_reference_lengths_and_frames(tmp_path, poses, pose_file):
    out = tmp_path / "legs.h5"
    summary = answer("ik", "trepa_like", pose_file, "-o", out, "--frames", "--limits", "--conditioning")
    assert summary["status"]["converged"] == summary["solved"] == len(poses)
    got = read(out)
    margins = np.hstack([got["stroke_margin"], got["universal_margin"], got["spherical_margin"]])
    broken = (margins < 0).any(axis=1) | (got["clearance"] < 0)
    assert np.array_equal(got["limit_mask"] != 0, broken)
    assert summary["limits_broken"] == np.count_nonzero(broken)
    assert np.abs(got["lengths"] / column(poses, "lengths") - 1).max() < 1e-14
    assert np.abs(got["leg_vector"].reshape(-1, 18) - column(poses, "leg_vectors")).max() < 1e-14
    frames = column(poses, "leg_frame_p").reshape(-1, 4)
    assert same_up_to_sign(got["leg_quaternion"].reshape(-1, 4), frames) < 1e-12
    assert set(got["status"]) == {0}
    with h5py.File(out) as file:
        assert file.attrs["model"] == "TREPA-like climbing platform"
        assert file["status"].attrs["names"][0] == "converged"


@pytest.mark.parametrize("form", ["minimal", "full"])
def test_fk_gives_the_reference_poses_back(tmp_path, poses, form):
    count = len(poses) if form == "minimal" else 20
    source = write(
        tmp_path / "lengths.h5",
        lengths=column(poses[:count], "lengths"),
        position=column(poses[:count], "guess_r"),
        quaternion=column(poses[:count], "guess_p"),
    )
    out = tmp_path / "poses.h5"
    summary = answer("fk", "trepa_like", source, "-o", out, "--form", form)
    assert summary["solved"] == count
    got = read(out)
    assert np.abs(got["position"] - column(poses[:count], "r")).max() < 1e-12
    assert same_up_to_sign(got["quaternion"], column(poses[:count], "p")) < 1e-12
    assert got["iterations"].max() <= 8


def test_fk_says_which_lengths_no_pose_has(tmp_path, poses):
    lengths = column(poses[:3], "lengths")
    lengths[1] = [0.2, 1.8, 0.2, 1.8, 0.2, 1.8]
    lengths[2, 4] = np.nan
    source = write(tmp_path / "lengths.h5", lengths=lengths)
    out = tmp_path / "poses.h5"
    done = garra("platform", "fk", "trepa_like", source, "-o", out, "--max-unsolved", "0.5", expect=UNSOLVED)
    assert "2 of 3 samples are not solved" in done.stderr
    assert "invalid input" in done.stdout
    with h5py.File(out) as file:
        names = list(file["status"].attrs["names"])
        status = [names[s] for s in file["status"][...]]
    assert status[0] == "converged" and status[1] in ("stalled", "iteration_limit") and status[2] == "invalid_input"
    assert answer("fk", "trepa_like", source)["solved"] == 1  # without a bound that is an answer, not an error


def test_lengths_far_outside_the_stroke_are_named():
    # The legs' stroke is 1.05 to 1.85 m.
    told = garra("platform", "fk", "trepa_like", "--lengths", "1300 1.3 1.3 1.3 1.3 1300", expect=None).stderr
    assert "leg 0 is 1300 m long, far outside its stroke 1.05 to 1.85 m" in told and told.count("far outside") == 1
    assert "Without a unit it is in meters: 1300 mm would be 1.3 m" in told
    in_mm = "1300 mm 1300 mm 1300 mm 1300 mm 1300 mm 1300 mm"
    assert garra("platform", "fk", "trepa_like", "--lengths", in_mm).stderr == ""


def test_every_sample_may_be_another_platform(tmp_path, poses):
    rng = np.random.default_rng(3)
    n = 9
    model = reference("params_trepa_like")
    base = np.array(model["base_anchors"]) + rng.uniform(-0.01, 0.01, (n, 6, 3))
    anchor = np.array(model["platform_anchors"]) + rng.uniform(-0.01, 0.01, (n, 6, 3))
    source = write(
        tmp_path / "poses.h5",
        position=column(poses[:n], "r"),
        quaternion=column(poses[:n], "p"),
        base_anchors=base,
        platform_anchors=anchor,
    )
    answer("ik", "trepa_like", source, "-o", tmp_path / "legs.h5")
    rotation = column(poses[:n], "rotation").reshape(n, 1, 3, 3)
    expected = column(poses[:n], "r")[:, None] + (rotation @ anchor[..., None])[..., 0] - base
    lengths = np.linalg.norm(expected, axis=2)
    assert np.abs(read(tmp_path / "legs.h5")["lengths"] - lengths).max() < 1e-14


def test_inverse_dynamics_gives_the_reference_forces(tmp_path):
    document = reference("invdyn_trepa_like")
    points = document["points"]
    source = write(
        tmp_path / "motion.h5",
        position=column(points, "r"),
        quaternion=column(points, "p"),
        velocity=column(points, "v", "w"),
        acceleration=column(points, "a", "alpha"),
        wrench=column(points, "external_force", "external_moment_world"),
    )
    expected = column(points, "actuator_forces")
    for form in ("minimal", "full"):
        out = tmp_path / f"{form}.h5"
        assert answer("inverse-dynamics", "trepa_like", source, "-o", out, "--form", form)["solved"] == len(points)
        got = read(out)
        assert np.abs(got["force"] - expected).max() < 1e-11 * np.abs(expected).max()
    multipliers = column(points, "lambda91")
    assert np.abs(got["multipliers"] - multipliers).max() < 1e-10 * np.abs(multipliers).max()


def test_mass_and_gravity_of_single_samples_reach_the_dynamics(tmp_path):
    source = write(
        tmp_path / "rest.h5",
        position=[[0, 0, 1.15]] * 2,
        quaternion=[[1, 0, 0, 0]] * 2,
        platform_mass=[25, 30],
        gravity=[[0, 0, -9.81], [0, 0, 0]],
    )
    answer("inverse-dynamics", "trepa_like", source, "-o", tmp_path / "force.h5")
    force = read(tmp_path / "force.h5")["force"]
    assert np.abs(force[0] - 63.10116726009294).max() < 1e-11
    assert np.abs(force[1]).max() < 1e-11


@pytest.mark.parametrize("case", range(3))
def test_simulate_reaches_the_reference_states(tmp_path, case):
    document = reference("fwddyn")[case]
    states = document["states"]
    first = states[0]
    source = write(
        tmp_path / "start.h5",
        position=[first["r"]],
        quaternion=[first["p"]],
        velocity=[[*first["v"], *first["w"]]],
        force=[document["actuator_forces"]],
    )
    out = tmp_path / "path.h5"
    times = [state["t"] for state in states]
    summary = answer(
        "simulate", document["params"], source, "-o", out, "--duration", times[-1], "--times",
        ",".join(map(str, times)), "--step", "0.01",
    )
    assert summary["status"]["completed"] == 1
    got = read(out)
    assert np.abs(got["position"][0] - column(states, "r")).max() < 1e-10
    assert same_up_to_sign(got["quaternion"][0], column(states, "p")) < 1e-10
    assert np.abs(got["lengths"][0] - column(states, "lengths")).max() < 1e-10
    assert got["base_anchors"].shape == got["platform_anchors"].shape == (6, 3)
    forward = answer("forward-dynamics", document["params"], source, "-o", tmp_path / "acceleration.h5")
    assert forward["solved"] == 1
    acceleration = read(tmp_path / "acceleration.h5")["acceleration"]
    assert np.abs(acceleration - np.array([first["nudot"]])).max() < 1e-12


def test_a_continuous_family_of_poses_is_no_number_of_modes(tmp_path):
    """Equal legs between congruent bodies: every shift of the leg's length at no turn has these lengths."""
    text = (ROOT / "data" / "platforms" / "trepa_like.toml").read_text()
    points = [
        f"[{x}, {y}, {z}]"
        for (x, y), z in zip(
            re.findall(r"^base = \[(.*), (.*), .*\]$", text, re.M), (0.1, -0.05, 0.02, 0.12, -0.1, 0.04), strict=True
        )
    ]
    for key in ("base", "anchor"):
        text = re.sub(rf"^{key} = .*$", lambda _, of=iter(points): f"{key} = {next(of)}", text, flags=re.M)
    file = tmp_path / "congruent.toml"  # its home is not singular
    file.write_text(re.sub(r"^home = .*$", "home = { position = [0.1, 0.05, 1.15], rpy = [0.2, 0.1, 0.5] }", text, flags=re.M))
    summary = answer("modes", file, "--lengths", "1.2 1.2 1.2 1.2 1.2 1.2")
    assert summary["samples_with_families"] == 1 and summary["estimated_missing"] is None
    assert "more poses than the 40" in garra("platform", "modes", file, "--lengths", "1.2 1.2 1.2 1.2 1.2 1.2").stdout
    assert answer("modes", "trepa_like", "--starts", 256)["samples_with_families"] == 0


def test_modes_have_the_lengths_and_are_certified(tmp_path):
    summary = answer("modes", "trepa_like", "--starts", 256)
    modes = summary["result"]
    assert summary["solved"] == 1 and len(modes) >= 4
    assert any(np.allclose(mode["position"], [0, 0, 1.15], atol=1e-9) for mode in modes)
    source = write(
        tmp_path / "modes.h5",
        position=[mode["position"] for mode in modes],
        quaternion=[mode["quaternion"] for mode in modes],
    )
    answer("ik", "trepa_like", source, "-o", tmp_path / "legs.h5")
    assert np.abs(read(tmp_path / "legs.h5")["lengths"] - 1.1482565925131982).max() < 1e-11
    assert answer("modes", "trepa_like", "--starts", 256)["result"] == modes
    assert [mode["limit_mask"] for mode in modes].count(0) == 1  # home
    garra("platform", "modes", "trepa_like", "--starts", 256, "-o", tmp_path / "found.h5")
    with h5py.File(tmp_path / "found.h5") as file:
        assert file["limit_mask"][...].tolist() == [mode["limit_mask"] for mode in modes]


def test_a_tool_shifts_positions_and_nothing_else():
    own = answer("ik", "trepa_like", "--at", "0.1 0 1.3, 0 0 30deg")
    tool = answer("ik", "trepa_like", "--tool", "0.1 0 20cm", "--at", "0.18660254037844387 0.05 1.5, 0 0 30deg")
    for key in ("lengths", "determinant", "limit_mask"):
        np.testing.assert_allclose(tool["result"][key], own["result"][key], atol=1e-14)
    back = answer("fk", "trepa_like", "--tool", "0.1 0 0.2", "--lengths", " ".join(map(str, own["result"]["lengths"])))
    np.testing.assert_allclose(back["result"]["position"], [0.18660254037844387, 0.05, 1.5], atol=1e-9)
    assert "3" in garra("platform", "ik", "trepa_like", "--tool", "1 2", expect=USAGE).stderr


def test_one_pose_needs_no_file():
    human = garra("platform", "ik", "trepa_like", "--at", "0.1 0 1.3, 0 10deg 0").stdout
    assert "leg      length" in human and "none broken" in human
    one = answer("ik", "trepa_like", "--at", "10 cm,0,1300 mm,0,10 deg,0")["result"]
    back = answer("fk", "trepa_like", "--lengths", " ".join(map(repr, one["lengths"])))["result"]
    assert np.allclose(back["position"], [0.1, 0, 1.3], atol=1e-12)
    assert np.allclose(back["quaternion"], [np.cos(np.pi / 36), 0, np.sin(np.pi / 36), 0], atol=1e-12)
    far = garra("platform", "ik", "trepa_like", "--at", "0 0 2, 0 0 0").stdout
    assert "legs 0, 1, 2, 3, 4, 5 too long" in far
    heavier = answer("inverse-dynamics", "trepa_like", "--set", "platform.mass=30")["result"]["force"]
    assert heavier[0] > answer("inverse-dynamics", "trepa_like")["result"]["force"][0]


def refused(code, *arguments):
    return garra("platform", *arguments, expect=code).stderr


def test_says_what_is_wrong_with_flags(tmp_path, pose_file):
    assert 'Did you mean "trepa_like"?' in refused(IO, "ik", "trepa_lke")
    degrees = refused(USAGE, "ik", "trepa_like", "--at", "0.1 0 1.3, 0 10 0")
    assert "pitch has no unit" in degrees and "Write 10deg" in degrees
    assert "--at has 3 numbers, not 6" in refused(USAGE, "ik", "trepa_like", "--at", "0 0 1")
    assert '"x" is no number' in refused(USAGE, "ik", "trepa_like", "--at", "0 0 x, 0 0 0")
    assert "--lengths" in refused(USAGE, "fk", "trepa_like")
    assert "--force" in refused(USAGE, "simulate", "trepa_like")
    assert "both a file of samples and --at" in refused(USAGE, "ik", "trepa_like", pose_file, "--at", "0 0 1, 0 0 0")
    assert "overwrite" in refused(USAGE, "ik", "trepa_like", pose_file, "-o", pose_file)
    assert "requires --certify" in refused(USAGE, "fk", "trepa_like", pose_file, "--certify-mode")


def test_says_what_is_wrong_with_files(tmp_path, pose_file):
    assert "dataset lengths" in refused(INVALID, "fk", "trepa_like", pose_file)
    wrong = write(tmp_path / "wrong.h5", position=np.zeros((4, 3)), quaternion=np.zeros((3, 4)))
    assert "dataset quaternion" in refused(INVALID, "ik", "trepa_like", wrong)
    mass = write(
        tmp_path / "mass.h5", position=[[0, 0, 1.2]] * 2, quaternion=[[1, 0, 0, 0]] * 2, platform_mass=[25, -1]
    )
    message = refused(INVALID, "ik", "trepa_like", mass)
    assert "sample 1" in message and "the mass is not positive" in message
    assert refused(IO, "ik", "trepa_like", tmp_path / "none.h5")


def test_an_empty_file_has_empty_results(tmp_path):
    source = write(tmp_path / "empty.h5", position=np.zeros((0, 3)), quaternion=np.zeros((0, 4)))
    assert answer("ik", "trepa_like", source, "-o", tmp_path / "out.h5")["samples"] == 0
    assert read(tmp_path / "out.h5")["lengths"].shape == (0, 6)


@pytest.mark.parametrize("name", ["trepa_like", "irregular", "trepa_short"])
def test_check_prints_a_platform_that_reads_back(tmp_path, name):
    text = garra("check", f"data/platforms/{name}.toml", expect=DONE).stdout
    copy = tmp_path / "copy.toml"
    copy.write_text(text)
    assert garra("check", copy).stdout == text
    copy.write_text(text.replace("mass = 25", "mass = -25"))
    assert "platform.mass" in garra("check", copy, expect=INVALID).stderr


def test_one_pose_is_proven_and_its_limits_are_named():
    def said(lengths):
        return garra("platform", "fk", "trepa_like", "--lengths", " ".join([lengths] * 6)).stdout

    assert "status         certified" in said("1.2") and "limits         none broken" in said("1.2")
    assert "limits         legs 0, 1, 2, 3, 4, 5 too long" in said("1900mm")
    assert "garra platform modes" in garra("platform", "fk", "trepa_like", "--lengths", "0.2 3 0.2 3 0.2 3").stdout


def test_a_singular_pose_is_called_so_and_has_no_forces():
    at = ("--at", "0 0 1.15, 0 0 90deg")
    assert "status         near singular" in garra("platform", "ik", "trepa_like", *at).stdout
    forces = garra("platform", "inverse-dynamics", "trepa_like", *at).stdout
    assert "near singular" in forces and "not determined" in forces and "at most" not in forces


def test_modes_say_at_least_and_how_often_the_rarest_was_found():
    text = garra("platform", "modes", "trepa_like").stdout
    assert "modes          at least 16\n" in text
    starts, rarest = re.search(r"(\d+) starts, the rarest mode found (\d+) times", text).groups()
    assert int(starts) >= 512 and int(rarest) >= 8


def test_legs_of_a_layout_that_cross_are_named(tmp_path):
    text = """schema = 1
[platform]
name = "crossed"
mass = 1
inertia = [1, 1, 1]
home = { position = [0, 0, 0.3] }
[legs]
stroke = [0.1, 0.9]
tube = { mass = 0.1, com = 0.1, inertia = [0.01, 0.01, 0.001] }
rod = { mass = 0.1, com = 0.1, inertia = [0.01, 0.01, 0.001] }
universal_cone = "60 deg"
[layout]
base_radius = 0.2
platform_radius = 0.15
base_half_angle = "15 deg"
platform_half_angle = "15 deg"
base_turn = "%s deg"
"""
    file = tmp_path / "p.toml"
    file.write_text(text % 60)
    assert garra("platform", "ik", file).stderr == ""
    modes = garra("platform", "modes", file).stdout  # half of them are below the base
    assert re.search(r" 0\.30000 .* kept +reachable\n", modes) and " broken " in modes
    for angle in (5, 15):
        file.write_text((text % 60).replace("base_half_angle = \"15 deg\"", f"base_half_angle = {angle}"))
        degrees = garra("platform", "ik", file, expect=INVALID).stderr
        assert "layout.base_half_angle: more than a right angle" in degrees
        assert f'base_half_angle = "{angle} deg"' in degrees
    file.write_text((text % 60).replace("[0.1, 0.9]", "[100, 900]"))
    stroke = garra("platform", "ik", file, expect=INVALID).stderr
    assert "out of the stroke, 100.000000 to 900.000000 m" in stroke and "with its unit" in stroke
    file.write_text(text % -60)  # each leg goes to the far side
    assert "cross at home, seen along the legs" in garra("platform", "ik", file).stderr


def test_lengths_that_no_pose_has_say_by_how_much_they_are_missed():
    text = garra("platform", "fk", "trepa_like", "--lengths", "0.2 3 0.2 3 0.2 3").stdout
    assert "stalled" in text and "lengths missed by" in text and "at most 0" not in text
