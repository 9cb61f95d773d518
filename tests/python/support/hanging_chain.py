"""A chain of equal links that hangs and steps to a set point: robot and scenario of any number and kind of joints."""

from __future__ import annotations

import json
from pathlib import Path

LENGTH, MASS = 0.15, 0.08  # [m] and [kg] per link
SET_POINT = 0.4  # [rad] or [m]
UNTIL, OUTPUTS = 0.9, 181
SETTLE = {"within": 0.52, "speed": 0.05, "band": 0.035}

LINK = """
  <link name="link{k}"><inertial><origin xyz="0 0 {middle}"/><mass value="{mass}"/>
    <inertia ixx="2e-3" iyy="2e-3" izz="2e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint {k}" type="{kind}"><parent link="{parent}"/><child link="link{k}"/><origin xyz="0 0 {start}"/>
    <axis xyz="{axis}"/><limit lower="-3" upper="3" effort="100" velocity="100"/></joint>"""
TOOL = """
  <link name="tool"/>
  <joint name="flange" type="fixed"><parent link="link{k}"/><child link="tool"/><origin xyz="0 0 {end}"/></joint>
</robot>
"""
SCENARIO = """\
schema = 1
job = "chain"
title = "Which damping makes the <arm> & tool settle in time?"
seed = 3

[robot]
file = "arm.urdf"

[start]
q = 0
qd = 0

[vary]
mass = {{ normal = [1, 0.25], min = 0.2 }}
damping = 0.2

[torque]
kind = "pd"
set_point = {set_point}
kp = 3
kd = 0
compensate_gravity = true

[simulation]
duration = {until}
method = "implicit"
step = 2.5e-3
outputs = {outputs}

[settle]
within = {within}
speed = {speed}
band = {band}

[sampling]
samples = {samples}
{sweep}"""


def write(folder: Path, joints: str, sweep: dict[str, list[float]], samples: int) -> Path:
    """Robot and scenario in `folder`; the scenario. `joints`: r(evolute, about -y) or p(rismatic, downward)."""
    parts = [f'<robot name="arm of {joints}">\n  <link name="base"/>']
    for k, kind in enumerate(joints, start=1):
        parts.append(
            LINK.format(
                k=k, parent=f"link{k - 1}" if k > 1 else "base", mass=MASS, middle=-LENGTH / 2, start=-LENGTH if k > 1 else 0,
                kind="revolute" if kind == "r" else "prismatic", axis="0 -1 0" if kind == "r" else "0 0 -1",
            )
        )  # fmt: skip
    parts.append(TOOL.format(k=len(joints), end=-LENGTH))
    (folder / "arm.urdf").write_text("".join(parts))
    rows = "".join(f"{json.dumps(key)} = {json.dumps([float(v) for v in values])}\n" for key, values in sweep.items())
    text = SCENARIO.format(
        set_point=SET_POINT,
        until=UNTIL,
        outputs=OUTPUTS,
        samples=samples,
        sweep=f"\n[sweep]\n{rows}" if rows else "",
        **SETTLE,
    )
    scenario = folder / "scenario.toml"
    scenario.write_text(text)
    return scenario
