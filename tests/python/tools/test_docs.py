"""The site of docs/ without Sphinx: its table of contents, its links, and the code of its notebooks. Each check finds a
fault that is planted for it."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import shutil
import sys
import types
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import garra
import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "start" / "notebooks").glob("*.md"))
WITH_CALLS = [DOCS / "index.md", DOCS / "start" / "python.md"]

needs_module = pytest.mark.skipif(
    importlib.util.find_spec("garra._core") is None,
    reason=f"garra._core is not built; looked in {list(garra.__path__)}",
)

FENCE = re.compile(r"^(`{3,}|~{3,})(.*?)\n(.*?)^\1`*[ ]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
NAME = re.compile(r"\bgarra(?:\.[A-Za-z_]\w*)+")


def prose(text: str) -> str:
    """Without code and formulas, in which brackets mean something else."""
    return re.sub(r"`[^`\n]*`|\$[^$\n]*\$", "", FENCE.sub("", text))


# --- the table of contents


def toctree_faults(docs: Path) -> list[str]:
    text = (docs / "index.md").read_text(encoding="utf-8")
    bodies = [body for _, kind, body in FENCE.findall(text) if kind.strip() == "{toctree}"]
    lines = [line.strip() for body in bodies for line in body.splitlines()]
    listed = Counter(line for line in lines if line and not line.startswith(":"))
    pages = {file.relative_to(docs).with_suffix("").as_posix() for file in docs.rglob("*.md")} - {"index"}
    faults = [f"{page}: not in the toctree" for page in sorted(pages - set(listed))]
    faults += [f"{page}: in the toctree, and no page" for page in sorted(set(listed) - pages)]
    return faults + [f"{page}: {n} times in the toctree" for page, n in listed.items() if n > 1]


def test_every_page_is_in_the_toctree_once():
    assert toctree_faults(DOCS) == []


# --- links


def anchors(text: str) -> set[str]:
    """Of a page's headings, as GitHub and MyST make them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#{1,6}[ ]+(.*?)[ ]*#*$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def link_faults(docs: Path) -> list[str]:
    faults = []
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        links = LINK.findall(prose(text))
        links += re.findall(r"^:{3,}\{image\}[ ]+(\S+)", text, re.MULTILINE)
        links += [f"{os.path.relpath(docs, page.parent)}{name}.md" for name in re.findall(r":doc:`(/[^`]+)`", text)]
        for link in links:
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = page if not path else (page.parent / path).resolve()
            there = target.exists() and (
                not anchor or target.suffix != ".md" or anchor in anchors(target.read_text(encoding="utf-8"))
            )
            faults += [] if there else [f"{page.relative_to(docs)}: {link}"]
    return faults


def test_every_link_between_pages_leads_somewhere():
    assert link_faults(DOCS) == []


# --- code


def cells(text: str) -> list[str]:
    """The code cells of a notebook, without the options on their first lines."""
    found = []
    for _, kind, body in FENCE.findall(text):
        if kind.strip().startswith("{code-cell}"):
            found.append("\n".join("" if re.match(r":[\w-]+:", line) else line for line in body.split("\n")))
    return found


def dotted(node: ast.AST) -> list[str] | None:
    """["garra", "contact", "solve"] of garra.contact.solve; None where it begins with anything but a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else None


def known(names: list[str], known_as: dict[str, Any]) -> Any:
    """What a dotted name is; of an instance's attributes nothing is known: None. Raises AttributeError."""
    value = known_as[names[0]]
    for name in names[1:]:
        value = getattr(value, name)
        if not isinstance(value, types.ModuleType | type) and not callable(value):
            return None
    return value


def code_faults(code: str, known_as: dict[str, Any]) -> Iterator[str]:
    """Names that garra does not have, and keywords that its functions do not take."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "garra":
            module = importlib.import_module(node.module)
            yield from (f"{node.module}.{a.name}" for a in node.names if not hasattr(module, a.name))
        called = node.func if isinstance(node, ast.Call) else node
        names = dotted(called) if isinstance(called, ast.Attribute) else None
        if names is None or names[0] not in known_as:
            continue
        try:
            function = known(names, known_as)
        except AttributeError:
            yield ".".join(names)
            continue
        if isinstance(node, ast.Call) and inspect.isroutine(function):
            parameters = inspect.signature(function).parameters
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                unknown = [k.arg for k in node.keywords if k.arg and k.arg not in parameters]
                yield from (f"{'.'.join(names)}({keyword}=)" for keyword in unknown)


def by_convention() -> dict[str, Any]:
    """What names stand for throughout the pages."""
    return {
        "garra": garra,
        "robot": garra.Chain,
        "grasp": garra.grasp.Grasp,
        "platform": garra.platform.Platform,
    }


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_of_a_notebook_compile(notebook: Path):
    found = cells(notebook.read_text(encoding="utf-8"))
    assert 4 <= len(found) <= 12
    for code in found:
        compile(code, str(notebook), "exec")


@needs_module
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_only_what_garra_has(notebook: Path):
    code = "\n".join(cells(notebook.read_text(encoding="utf-8")))
    assert "garra" in code
    assert list(code_faults(code, by_convention())) == []


def calls_in_code_spans(text: str) -> list[str]:
    """`garra.load(...)`, `robot.rne(q, qd, qdd)` and the like; "..." stands for arguments."""
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    return [span for span in spans if re.match(r"(garra|robot|grasp|platform)\.", span)]


@needs_module
@pytest.mark.parametrize("page", WITH_CALLS, ids=lambda path: path.name)
def test_calls_on_a_page_are_true(page: Path):
    spans = [span for span in calls_in_code_spans(page.read_text(encoding="utf-8")) if "=..." not in span]
    assert spans
    assert [fault for span in spans for fault in code_faults(span, by_convention())] == []


@needs_module
@pytest.mark.parametrize("page", sorted((DOCS / "reference" / "api").glob("*.md")), ids=lambda path: path.name)
def test_api_pages_document_what_there_is(page: Path):
    missing, module = [], "garra"
    pattern = r"^\.\. (currentmodule|automodule|autoclass|autofunction|py:exception|py:data):: ([\w.]+)"
    for kind, name in re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE):
        if kind in ("currentmodule", "automodule"):
            module = name
            importlib.import_module(name)
            continue
        full = name if name.startswith("garra.") else f"{module}.{name}"
        try:
            where, _, last = full.rpartition(".")
            getattr(importlib.import_module(where), last)
        except (AttributeError, ImportError):
            missing.append(full)
    assert missing == []


@needs_module
@pytest.mark.parametrize("name", ["garra", "garra.grasp"])
def test_every_public_name_is_on_an_api_page(name: str):
    module = importlib.import_module(name)
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference" / "api").glob("*.md"))
    public = [f"{name}.{part}" for part in module.__all__]
    assert [part for part in public if not re.search(rf"{re.escape(part)}\b", text)] == []


def test_every_public_header_is_on_the_page_of_the_cpp_api():
    listed = re.findall(
        r"^\.\. doxygenfile:: (\S+)$", (DOCS / "reference" / "api" / "cpp.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(file.name for file in (ROOT / "include" / "garra").glob("*.hpp"))


# --- the checks themselves


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A copy whose links out of docs/ still lead somewhere."""
    for name in ("docs", "data", "examples", "bench"):
        ignored = shutil.ignore_patterns("reference") if name == "data" else None
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for file in ROOT.glob("*.md"):
        shutil.copy(file, tmp_path)
    return tmp_path / "docs"


def test_a_page_that_is_missing_or_doubled_in_the_toctree_is_found(docs: Path):
    (docs / "new.md").write_text("# New\n")
    index = docs / "index.md"
    index.write_text(index.read_text().replace("\ntheory/chain\n", "\ntheory/chain\ntheory/chain\ngone\n"))
    found = [fault for fault in toctree_faults(docs) if fault not in toctree_faults(DOCS)]
    assert found == [
        "new: not in the toctree",
        "gone: in the toctree, and no page",
        "theory/chain: 2 times in the toctree",
    ]


def test_a_link_to_no_page_or_no_anchor_is_found(docs: Path):
    page = docs / "howto" / "gpu.md"
    page.write_text(
        page.read_text() + "\n[a](gone.md) [b](../theory/chain.md#nothing) [c](#nothing) `[d](gone.md)` :doc:`/gone`\n"
    )
    faults = ["gone.md", "../theory/chain.md#nothing", "#nothing", "../gone.md"]
    known = link_faults(DOCS)
    found = [fault for fault in link_faults(docs) if fault not in known]
    assert found == [f"howto/gpu.md: {fault}" for fault in faults]


@needs_module
@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("garra.contact.resolve(A, b, mu)", "garra.contact.resolve"),
        ("x = garra.contact.SLIPPED", "garra.contact.SLIPPED"),
        ("from garra.page.colors import RAMPS", "garra.page.colors.RAMPS"),
        ("garra.contact.solve(A, b, mu, toler=1)", "garra.contact.solve(toler=)"),
        ("robot.ikine(T)", "robot.ikine"),
    ],
)
def test_a_name_that_garra_does_not_have_is_found(code: str, fault: str):
    assert fault in list(code_faults(code, by_convention()))


def test_the_built_site_is_searched_for_broken_links(tmp_path: Path):
    loader = SourceFileLoader("tools_docs", str(ROOT / "tools" / "docs"))
    module = types.ModuleType(loader.name)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # no cache in tools/
    try:
        module.__file__ = loader.path
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    module.SITE = tmp_path
    (tmp_path / "a.html").write_text('<h1 id="top">a</h1><a href="b.html#there">b</a><a href="https://x.org/y">x</a>')
    (tmp_path / "b.html").write_text('<p id="there"><a href="a.html#gone"></a><img src="c.png"></p>')
    assert module.broken_links() == ["b.html: a.html#gone", "b.html: c.png"]


# --- how to cite


def test_the_citation_is_of_this_version_and_license():
    fields = dict(re.findall(r'^([a-z-]+): "?([^"\n]*?)"?$', (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    assert fields["version"] == garra.__version__
    assert fields["type"] == "software"
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause") and fields["license"] == "BSD-3-Clause"
