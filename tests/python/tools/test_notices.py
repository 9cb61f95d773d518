"""What a wheel says of the libraries that it holds (cmake/notices.cmake)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NAMES = {  # of Debian's packages
    "libhdf5-dev": "HDF5",
    "nlohmann-json3-dev": "JSON for Modern C++",
    "libtomlplusplus-dev": "toml++",
    "libtinyxml2-dev": "TinyXML-2",
    "libcli11-dev": "CLI11",
    "libeigen3-dev": "Eigen",
}
NOT_IN_A_WHEEL = {"zlib1g-dev", "libgtest-dev", "libbenchmark-dev", "ccache"}  # each system's own; tests; a tool


def notices(folder: Path, *settings: str) -> dict[str, str]:
    """By name what the file says of each library."""
    nanobind = pytest.importorskip("nanobind")
    given = [f"-DPROJECT_BINARY_DIR={folder}", f"-Dnanobind_DIR={nanobind.cmake_dir()}", *settings]
    subprocess.run(["cmake", *given, "-P", ROOT / "cmake" / "notices.cmake"], check=True)
    text = (folder / "THIRD_PARTY_NOTICES.txt").read_text(encoding="utf-8", errors="replace")
    parts = re.split(r"^={100}\n(.+?): .*\n={100}\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_library_that_the_build_installs_has_its_license(tmp_path: Path):
    (listed,) = re.findall(r"^libraries=\((.*?) \"\$@\"\)", (ROOT / "tools" / "setup").read_text(), re.MULTILINE)
    assert set(listed.split()) == set(NAMES) | NOT_IN_A_WHEEL
    said = notices(tmp_path)
    assert {*NAMES.values(), "nanobind", "robin-map"} == set(said)
    assert "Permission is hereby granted" in said["robin-map"]
    assert "Redistribution and use in source and binary forms" in said["nanobind"]
    for package, name in NAMES.items():
        file = Path("/usr/share/doc", package, "copyright")
        assert (file.read_text().strip() if file.exists() else "Its text is at https://") in said[name]


def test_wheels_for_any_processor_bring_libraries_of_gcc_and_those_with_kernels_one_of_cuda(tmp_path: Path):
    said = notices(tmp_path, "-DGARRA_ISAS=ON", "-DGARRA_WITH_CUDA=ON")
    assert {"libstdc++ and libgomp of GCC", "GNU General Public License", "CUDA runtime"} < set(said)
