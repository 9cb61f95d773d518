"""A wheel has its loops over lanes in libraries of their own (cmake/isas.cmake): a file with such a loop that is not listed
there would leave a package that cannot be imported, and only an hour of building it tells."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OBJECTS = ROOT / "build" / "CMakeFiles" / "garra.dir"
LOOP = re.compile(r" W void garra::batch::lanes_loop<")


def listed() -> set[str]:
    """What GARRA_LANES_SOURCES names."""
    text = (ROOT / "cmake" / "isas.cmake").read_text()
    (globbed,) = re.findall(r"file\(GLOB GARRA_LANES_SOURCES CONFIGURE_DEPENDS (\S+)\)", text)
    (excluded,) = re.findall(r'list\(FILTER GARRA_LANES_SOURCES EXCLUDE REGEX "(\S+)"\)', text)
    (more,) = re.findall(r"list\(APPEND GARRA_LANES_SOURCES (.+?)\)", text, re.S)
    files = {str(file.relative_to(ROOT)) for file in ROOT.glob(globbed)}
    return {file for file in files if not re.search(excluded.replace("\\\\", "\\"), file)} | set(more.split())


def has_loop(made: Path) -> bool:
    names = subprocess.run(["nm", "-C", "--defined-only", made], capture_output=True, text=True, check=True).stdout
    return LOOP.search(names) is not None


def test_every_file_with_a_loop_over_lanes_is_in_their_libraries():
    objects = sorted(OBJECTS.rglob("*.o"))
    if not objects:
        pytest.skip("the library was not built here")
    sources = {str(made.relative_to(OBJECTS)).removesuffix(".o") for made in objects if has_loop(made)}
    sources = {file for file in sources if (ROOT / file).exists()}  # what is left of a file that is gone
    assert len(sources) > 40
    assert sources <= listed()
