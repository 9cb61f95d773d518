"""Tool errors of an arm through the program: the inputs that count."""

from __future__ import annotations

from program import garra, summary_of

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
