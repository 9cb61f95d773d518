"""Tool errors of an arm through the program: the inputs that count."""

from __future__ import annotations

from program import INVALID, garra, summary_of

ROBOT = 'schema = 1\nrobot = "arm"\nconvention = "dh"\n[[joint]]\na = 0.4\n[[joint]]\na = 0.3\n'
STUDY = """schema = 1
job = "accuracy"
robot.file = "arm.toml"
command.q = [0.2, 0.9]
tolerance.offset = [{ normal = ["0 deg", "0.1 deg"] }, "0 deg"]
limit.position = "0.4 mm"
sampling.samples = 4000
"""


def test_constants_are_no_inputs(tmp_path):
    (tmp_path / "arm.toml").write_text(ROBOT)
    (tmp_path / "study.toml").write_text(STUDY)
    answer = garra("run", tmp_path / "study.toml", "-o", tmp_path / "run", "--no-report").stdout
    inputs = summary_of(tmp_path / "run")["inputs"]
    # One offset decides alone: it has all of the variance.
    assert [row["name"] for row in inputs] == ["joint_0_offset"] and inputs[0]["influence"] > 0.95
    assert "joint_0_offset" in answer and "joint_1" not in answer


def test_the_unit_of_one_value_fits_joints_of_one_kind(tmp_path):
    (tmp_path / "arm.toml").write_text(ROBOT + '[[joint]]\ntype = "prismatic"\n')
    offset = '[{ normal = ["0 deg", "0.1 deg"] }, "0 deg"]'
    (tmp_path / "study.toml").write_text(STUDY.replace("0.9]", "0.9, 0]").replace(offset, '"1 deg"'))
    said = garra("check", tmp_path / "study.toml", expect=INVALID).stderr
    assert "joint 2 slides" in said and "one item for each joint" in said


def test_inputs_of_samples_that_are_all_alike_have_no_share(tmp_path):
    (tmp_path / "arm.toml").write_text(ROBOT)
    (tmp_path / "study.toml").write_text(STUDY.replace("0.4 mm", "1 m"))
    answer = garra("run", tmp_path / "study.toml", "-o", tmp_path / "run", "--samples", 100).stdout
    assert "none: all decided samples are alike" in answer
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<h1>Study of accuracy</h1>" in page
