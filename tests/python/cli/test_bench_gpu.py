"""The benchmark for a GPU runs to its end on the simulated one, and every answer in it is the processor's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from program import PROGRAM, ROOT

BUILD = Path(PROGRAM).parent
if not (BUILD / "bench" / "gpu" / "bench_gpu").is_file():
    pytest.skip("no bench_gpu was built", allow_module_level=True)


def test_every_operation_is_measured_beside_the_processor(tmp_path):
    out = tmp_path / "results.json"
    command = [ROOT / "tools" / "bench_gpu", "--no-build", "--build", BUILD, "--tiny", "--output", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert result["gpu"] == "simulated GPU (cuda:0)"
    assert result["peak_fp64_gflops"] > 0 and result["peak_memory_gb_s"] > 0 and result["first_launch_s"] > 0
    measured = {}
    for row in result["rows"]:
        assert "error" not in row, row
        assert row["ns"] > 0
        measured.setdefault(row["operation"], set()).add(row["who"])
    assert len(measured) >= 19
    assert all({"lanes", "host"} <= who for name, who in measured.items() if name != "judge3")
    assert {"contact3", "contact4", "contact8", "judge3", "lcp4"} <= {
        k for k, who in measured.items() if "resident" in who
    }
    table = out.with_suffix(".md").read_text()
    assert all(f"| {operation} |" in table for operation in measured)
