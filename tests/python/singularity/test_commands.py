"""`garra singularity` and `garra screws` seen from outside."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")


def garra(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)


def analysis(*arguments: str | Path) -> dict[str, Any]:
    done = garra(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_wrist_of_the_puma_loses_one_freedom_where_its_outer_axes_align() -> None:
    found = analysis("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0 0.1")
    assert (found["rank"], found["generic_rank"], found["lost_freedoms"]) == (5, 6, 1)
    assert found["dependent_joints"] == [3, 5]
    assert [4] in [way["joints"] for way in found["escape"] if way["order"] == 1]


def test_a_regular_pose_has_full_rank_and_nothing_to_escape_from() -> None:
    found = analysis("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0.7 0.1")
    assert (found["rank"], found["lost_freedoms"], found["dependent_joints"]) == (6, 0, [])


def test_the_first_example_of_the_paper() -> None:
    found = analysis("screws", ROOT / "data" / "screws" / "gallardo_1.toml")
    assert found["rank"] == 5
    subsets = {(s["first"], s["last"]): s["ssm"] for s in found["sosm"]}
    assert subsets == {(0, 4): [0, 2, 3, 4], (2, 6): [2, 3, 5, 6]}
    best = max((way for way in found["escape"] if len(way["joints"]) == 1), key=lambda way: way["rate"])
    assert best["joints"] == [3] and best["rate"] == pytest.approx(0.606, abs=5e-4)


def test_the_claims_of_the_paper_are_checked_as_the_reference_checks_them() -> None:
    found = json.loads(garra("screws", "--claims", "--format", "json").stdout)["examples"]
    reference = json.loads((ROOT / "data" / "reference" / "singularity" / "examples.json").read_text())["examples"]
    assert [e["example"] for e in found] == [1, 2, 3] and len(reference) == 3
    checks = 0
    for ours, theirs in zip(found, reference):
        for k, (printed, corrected) in enumerate(zip(theirs["claims_printed"], theirs["claims_corrected"])):
            claim = ours["claims"][k]
            assert claim["paper"] == printed["paper"], claim["claim"]
            assert (claim["printed"], claim["corrected"]) == (printed["computed"], corrected["computed"])
            assert (claim["holds_printed"], claim["holds_corrected"]) == (printed["holds"], corrected["holds"])
            checks += 1
    assert checks == 57


def test_every_claim_that_does_not_hold_has_its_reason() -> None:
    done = garra("screws", "--claims", "--format", "json")
    verdicts = {"holds", "holds with corrected datum", "does not hold"}
    for example in json.loads(done.stdout)["examples"]:
        assert {c["status"] for c in example["claims"]} <= verdicts
        for claim in example["claims"]:
            assert (claim["reason"] == "") == (claim["status"] == "holds"), claim["claim"]


def test_the_claims_in_words_are_a_table_that_fits_a_page() -> None:
    done = garra("screws", "--claims")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 120
    assert [line for line in lines if line.startswith("Example ")] != []
    assert any("S is singular: det(J J') = 0" in line and line.endswith("does not hold") for line in lines)
    holds, mended, not_at_all = (int(part.split()[0]) for part in lines[-1].split(", "))
    assert holds + mended + not_at_all == sum(
        len(e["claims"]) for e in json.loads(garra("screws", "--claims", "--format", "json").stdout)["examples"]
    )


def test_the_second_example_is_no_singular_arm_but_has_singular_sub_chains() -> None:
    found = analysis("screws", ROOT / "data" / "screws" / "gallardo_2.toml")
    assert found["rank"] == 6 and not found["arm_singular"] and found["subchain_singular"]
    assert found["clearing_sets"] == [[2, 4, 7]]


def test_every_dimension_joint_and_lost_motion_is_reported() -> None:
    found = analysis("singularity", "puma560", "--at", "0 0 0 0 0 0")
    assert [row for row in found["sos"] if row[:2] == [3, 5]] == [[3, 5, 2]] and len(found["sos"]) == 21
    alone = {way["joint"]: way for way in found["joints_alone"]}
    assert sorted(alone) == [0, 1, 2, 3, 4, 5]
    assert [joint for joint, way in alone.items() if way["order"] > 0] == [4]
    assert alone[4]["rank"] == [6, 6] and alone[3]["rank"] == [5, 5]
    assert found["best_rate"] == pytest.approx(alone[4]["rate"])
    # Axes 3 and 5 point up and axis 4 across: what is lost is a turn about the third direction.
    assert (found["tolerance"], found["step"]) == (1e-10, 0.25)
    (lost,) = found["lost_motions"]
    assert [abs(x) for x in lost["direction"]] == pytest.approx([1, 0, 0]) and lost["pitch"] is None


def test_recovery_is_a_motion_and_what_it_leads_to_is_regular() -> None:
    at = [0.3, -0.7, 0.5, 0.9, 0.0, -0.4]
    lost = analysis("singularity", "puma560", "--at", " ".join(map(str, at)))
    assert lost["rank"] == 5 and set(lost["recovery"]) == {"motion", "rank", "sigma"}
    moved = " ".join(str(a + b) for a, b in zip(at, lost["recovery"]["motion"], strict=True))
    again = analysis("singularity", "puma560", "--at", moved)
    assert again["rank"] == lost["recovery"]["rank"] == 6 and again["recovery"] is None
    assert again["dependent_joints"] == []  # nobody's fault


def test_a_redundant_arm_that_is_not_singular_has_no_dependent_joints() -> None:
    regular = analysis("singularity", "iiwa14", "--at", "0.1 0.5 0.3 -1.2 0.4 0.9 0.2")
    assert not regular["arm_singular"] and regular["dependent_joints"] == [] and len(regular["null_space"]) == 1


def test_the_nine_steps_are_told_in_words() -> None:
    told = garra("screws", ROOT / "data" / "screws" / "gallardo_3.toml").stdout
    for said in (
        "zero is what is below 1e-10 of the largest",
        "3. Rank 5 of 6: the arm is singular, 1 freedom lost",
        "no motion of the point (0, 0, 0) along (0, 1, 0) without a turn of -1 rad/m",
        "SOSM(1) = {$1, $2, $3, $4, $5, $6}, dimension 5; SSM(1) = {$1, $2, $3, $4, $6}",
        "Best: joint 4, backwards, rate 0.3373 per step^1",
        "9. Carried out: dq = 0 0 0 0 -0.25 0 0; rank 6",
    ):
        assert said in told
    pair = garra("singularity", "puma560", "--at", "0.3 -0.7 -1.5238184104468135 0.9 0 -0.4").stdout
    assert "No joint leads out alone; the smallest sets that do\n     joints 2 (+), 4 (-): order 2" in pair


def test_an_arm_from_a_urdf_file() -> None:
    found = analysis("singularity", ROOT / "data" / "robots" / "iiwa14.urdf", "--at", "0.2 0.5 0.7 0 0.3 0.8 0.1")
    assert found["rank"] == 5 and [s["ssm"] for s in found["sosm"]] == [[2, 4]]
    assert [(way["joints"], way["order"]) for way in found["escape"]] == [([3], 1)]


@pytest.mark.parametrize(
    ("at", "type_", "degrees", "joints", "way_out"),
    [  # UR5: axes 3 and 5 are parallel at q[4] = 0, axes 1 to 3 in one plane at q[2] = 0
        ("0 -90deg 90deg -90deg 2deg 0", "wrist", 2, {3, 5}, 4),
        ("0.2 -1 5deg 0.4 1.2 0", "elbow", 5, {1, 2, 3}, 2),
    ],
)
def test_the_nearest_singularity_is_always_named(
    at: str, type_: str, degrees: float, joints: set[int], way_out: int
) -> None:
    found = analysis("singularity", "ur5", "--at", at)
    near = found["nearest"]
    assert near["type"] == type_ and joints <= set(near["joints"]) and near["escape_joint"] == way_out
    assert near["distance"] == pytest.approx(math.radians(degrees), rel=1e-6)
    sigma = found["singular_values"]
    assert found["condition"] == pytest.approx(sigma[0] / sigma[5])
    told = garra("singularity", "ur5", "--at", at).stdout.splitlines()[:2]
    assert told[0].startswith(f"Nearest singularity  {type_}, {degrees} deg of joint motion away: joints ")
    assert told[1].startswith(f"Condition number     {found['condition']:.6g}")


def test_a_nearer_singularity_than_the_one_that_the_smallest_singular_value_falls_to_is_found() -> None:
    # Joint 2 of this arm leads to a singularity 17.66 deg away, joint 4 to one 9.88 deg away.
    q = "0.92136976584 -2.3113049182 0.308215469859 -2.13881930528 0.172432907689413 2.65005636026"
    arm = (ROOT / "data" / "robots" / "iiwa14.urdf", "--lock", "joint_1=0.4")
    near = analysis("singularity", *arm, "--at", q)["nearest"]
    assert near["distance"] == pytest.approx(0.172432907689413, abs=1e-6) and near["type"] == "wrist"


def test_a_configuration_within_rounding_of_a_singular_one_is_called_so() -> None:
    told = garra("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 1e-7 0.1").stdout
    assert told.startswith("Nearest singularity  wrist, 1e-07 rad of joint motion away: joints 3 and 5")
    assert "singular within the rounding of its joint values" in told
    here = garra("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0 0.1").stdout
    assert here.startswith("Nearest singularity  wrist, here: joints 3 and 5; joint 4 leads out\n")
    assert "Condition number     infinite" in here
    # An arm without such parts has singularities without such names.
    assert analysis("singularity", "scara", "--at", "0.1 0.5 0.1 0.2")["nearest"]["type"] == ""


def test_joint_values_far_outside_the_limits_are_warned_of() -> None:
    told = garra("singularity", "puma560", "--at", "0 -90 20 0 0 0").stderr
    assert "joint 1 (shoulder) is at -90 rad, far outside its limits" in told
    assert "20 deg would be 0.349066 rad" in told
    with_units = garra("singularity", "puma560", "--at", "0 -40deg 20 deg 0 0 0")
    assert with_units.returncode == 0 and with_units.stderr == ""
    beyond = garra("singularity", "puma560", "--at", "0 -40deg -900deg 0 0 0").stderr
    assert "joint 2 (elbow)" in beyond and "Without a unit" not in beyond


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("screws",), 2, "garra papers claims"),
        (("singularity", "puma560", "--at", "0 0 0"), 2, "6"),
        (("singularity", "puma56", "--at", "0 0 0 0 0 0"), 5, 'Did you mean "puma560"?'),
        (("screws", "no-such-file.toml"), 5, "no-such-file.toml"),
    ],
)
def test_wrong_input_is_refused_with_a_remedy(arguments: tuple[str, ...], code: int, said: str) -> None:
    done = garra(*arguments)
    assert done.returncode == code and said in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_joint_speeds_for_a_tool_speed_are_those_of_the_inverse_jacobian() -> None:
    q = "0 -90deg 90deg -90deg 2deg 0"
    found = analysis("singularity", "ur5", "--at", q)["tool_speed"]
    library = pytest.importorskip("garra")
    pytest.importorskip("garra._core")
    robot = library.load(str(ROOT / "data" / "robots" / "ur5.toml"))
    per_speed = np.linalg.inv(robot.jacobian(np.radians([0, -90, 90, -90, 2, 0])))[:, :3]
    np.testing.assert_allclose(found["joint_speed"], np.linalg.norm(per_speed, axis=1), rtol=1e-9, atol=1e-12)
    worst = int(np.argmax(found["joint_speed"]))  # all joints have the limit of 180 deg/s
    assert found["joint"] == worst and found["orientation_kept"]
    assert found["speed"] == pytest.approx(math.pi / found["joint_speed"][worst], rel=1e-9)
    np.testing.assert_allclose(per_speed[worst] @ found["direction"][worst], found["joint_speed"][worst], rtol=1e-9)
    told = garra("singularity", "ur5", "--at", q).stdout
    assert f"Tool speed           {found['speed']:.4g} m/s in every direction; joint {worst}" in told
    assert f"1 m/s of the tool without turning takes at most {found['joint_speed'][worst]:.4g} rad/s: joint {worst}" in told


def test_tool_speeds_without_limits_and_at_a_singularity() -> None:
    assert analysis("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0.5 0.1")["tool_speed"]["speed"] is None
    told = garra("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0.5 0.1").stdout
    assert "Tool speed           not limited: the robot has no velocity_limit" in told
    assert analysis("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0 0.1")["tool_speed"] is None
    here = garra("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0 0.1").stdout
    assert "Joint speeds         some motion of the tool takes infinite ones" in here


def test_an_arm_of_lower_rank_may_turn_its_tool(tmp_path: Path) -> None:
    links = 'schema = 1\nrobot = "two links"\nconvention = "dh"\n' + "".join(
        f"[[joint]]\na = 1\nvelocity_limit = {limit}\n" for limit in (2, 1)
    )
    (tmp_path / "two.toml").write_text(links)
    found = analysis("singularity", tmp_path / "two.toml", "--at", "0 90deg")["tool_speed"]
    # J = [[-1, -1], [1, 0]], its inverse [[0, 1], [-1, -1]]
    np.testing.assert_allclose(found["joint_speed"], [1, math.sqrt(2)], rtol=1e-12)
    assert not found["orientation_kept"] and found["joint"] == 1
    assert found["speed"] == pytest.approx(1 / math.sqrt(2))
    assert analysis("singularity", tmp_path / "two.toml", "--at", "0 0")["tool_speed"] is None
