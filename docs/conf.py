"""The site of docs/, built by tools/docs. Pages are read by MyST, notebooks run where garra's module is built."""

from __future__ import annotations

import dataclasses
import logging
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "python"))

import garra  # noqa: E402

project = "garra"
author = copyright = "garra developers"
version = release = garra.__version__

smartquotes = False  # "cpu" is code, quotes and all
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
suppress_warnings = ["ref.python"]  # a word of a docstring that two classes share links to neither

# --- pages

# The pages are written for GitHub's Markdown: its mathematics, its anchors.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 6


def leave_out(app: Any, page: str, source: list[str]) -> None:
    """Files outside of docs/ are no pages of the site: their names stand there instead of links."""
    if page == "reference/api/cpp" and not has_cpp:
        source[0] = "# C++\n\nLeft out: the site was built without Doxygen. The headers are `include/garra/*.hpp`.\n"
    folder = (ROOT / "docs" / page).parent
    source[0] = re.sub(r"\[([^]\[]+)\]\((\.\./[^)#\s]+)[^)\s]*\)", lambda link: _named(link, folder), source[0])


def _named(link: re.Match[str], folder: Path) -> str:
    text, target = link.groups()
    file = (folder / target).resolve()
    if file.is_relative_to(ROOT / "docs"):
        return link[0]
    name = file.relative_to(ROOT)
    return f"`{name}`" if text == str(name) else f"{text} (`{name}` in the source tree)"


html_theme = "furo"
html_title = f"garra {release}"
html_css_files = ["garra.css"]
html_show_sourcelink = False
html_copy_source = False
toc_object_entries_show_parents = "hide"

# Lines of code have 120 columns and tables hold calls: the column of text is wider than the theme's.
CSS = """
article table { font-size: 0.85em; }
article table code { white-space: normal; overflow-wrap: anywhere; }
article div.math { overflow-y: hidden; }
article div.highlight pre { font-size: 0.8125em; }
@media (min-width: 97em) {
  .content { width: 56em; }
  .sidebar-drawer { width: calc(50% - 31em); }
}
"""


def write_css(app: Any) -> None:
    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "garra.css").write_text(CSS, encoding="utf-8")


# --- mathematics without a network: MathJax comes out of a package

mathjax_path = "mathjax/tex-chtml.js"


def copy_mathjax(app: Any, failed: Exception | None) -> None:
    """The part of MathJax that pages load: 24 MB are in the package, 3 MB are needed."""
    if failed or app.builder.format != "html":
        return
    package = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in ("tex-chtml.js", "input/tex/extensions", "output/chtml/fonts"):
        if (package / part).is_dir():
            shutil.copytree(package / part, target / part, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(package / part, target / part)


def number_equations(app: Any, doctree: Any) -> None:
    r"""Sphinx wraps formulas of several lines in `split`, in which MathJax refuses the \tag that our equations have."""
    from docutils.nodes import Text, math_block

    for block in doctree.findall(math_block):
        text = block.astext()
        if r"\tag" in text and not block.get("no-wrap"):
            block["no-wrap"] = block["nowrap"] = True
            block.children = []
            block += Text(rf"\[{text}\]")


# --- notebooks

try:
    import garra._core  # noqa: F401

    built = True
except ImportError:
    built = False
nb_execution_mode = "force" if built and not os.environ.get("GARRA_DOCS_NO_RUN") else "off"
nb_execution_cache_path = str(BUILD / "docs" / "notebook-cache")
nb_execution_show_tb = True
nb_execution_timeout = 300  # seconds a cell; each takes a few on two cores
nb_execution_in_temp = True
nb_merge_streams = True
logging.getLogger("traitlets").setLevel(logging.WARNING)  # which says of each notebook that it runs
os.environ["PYTHONPATH"] = os.pathsep.join(p for p in (str(ROOT / "python"), os.environ.get("PYTHONPATH")) if p)
os.environ.setdefault("GARRA_PROGRAM", str(BUILD / "garra"))

# --- Python API

autodoc_mock_imports = [] if built else ["garra._core"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True}
python_use_unqualified_type_names = True


def hide_constructor(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returns: str) -> Any:
    """Results, chains and platforms are handed out by functions: how they are made tells nothing, but of options."""
    result = dataclasses.is_dataclass(obj) and any(f.default is dataclasses.MISSING for f in dataclasses.fields(obj))
    return ("", None) if what == "class" and (result or (signature or "").startswith("(core")) else None


def plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text: nothing but `code`, indented blocks and names of pages is markup."""
    out: list[str] = []
    literal = example = False
    for line in lines:
        example = bool(line.strip()) and (example or line.startswith(">>>"))  # with its output, up to an empty line
        indented = example or line.startswith("    ")
        if indented and not literal and (not out or not out[-1].strip() or out[-1].endswith(":")):
            out += ["", "::", ""]
            literal = True
        elif line.strip() and not indented:
            literal = False
        out.append(f"  {line}" if literal else _escaped(line))
    lines[:] = out


def _escaped(line: str) -> str:
    parts = re.split(r"(`[^`]+`)", line)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = f"`{part}`"
        else:
            part = re.sub(r"([\\*|]|_(?!\w))", r"\\\1", part)
            parts[i] = re.sub(r"docs/([a-z/-]+)\.md", _page, part)
    return "".join(parts)


def _page(name: re.Match[str]) -> str:
    there = (ROOT / "docs" / f"{name[1]}.md").is_file()
    return f":doc:`/{name[1]}`" if there else name[0]


# --- addresses of before the pages were sorted by kind

MOVED = {
    "start": "python tour notebooks/contact_solvers notebooks/exoskeleton notebooks/grasp_gradient notebooks/own_hand "
    "notebooks/platform notebooks/ranking_grasps notebooks/singularity_map",
    "howto": "campaigns chain-generated gpu gpu-arrays grasp-propose own-study",
    "reference": "chain-files chain-report contact-files grasp-report grasp-time-report platform-report platform-study "
    "robots run-folder scenario singularity-report api/chain api/contact api/cpp api/garra api/grasp api/platform "
    "api/singularity api/studies",
    "theory": "chain chain-simulation contact-solver friction-cone-solvers friction-merit grasp-model grasp-sets "
    "grasp-time lcp minimizers mcp mncp monte-carlo numerics platform platform-dynamics singularity singularity-maps",
    "notes": "papers-tables performance solver-benchmark",
}


def redirect(app: Any, failed: Exception | None) -> None:
    """An old address leads to the page's new one, with its anchor."""
    if failed or app.builder.format != "html":
        return
    for kind, pages in MOVED.items():
        for page in pages.split():
            old = Path(app.outdir) / f"{page}.html"
            new = f"{'../' * page.count('/')}{kind}/{page}.html"
            old.parent.mkdir(exist_ok=True)
            old.write_text(
                f'<!DOCTYPE html><meta charset="utf-8"><title>Moved</title><a href="{new}">Moved</a>'
                f'<script>location.replace("{new}" + location.hash)</script>\n',
                encoding="utf-8",
            )


# --- C++ API, where tools/docs found Doxygen

doxygen_xml = BUILD / "docs" / "doxygen" / "xml"
has_cpp = (doxygen_xml / "index.xml").is_file()
if has_cpp:
    extensions.append("breathe")
    breathe_projects = {"garra": str(doxygen_xml)}
    breathe_default_project = "garra"
    suppress_warnings += ["duplicate_declaration.cpp"]  # a namespace is declared again in every header


def setup(app: Any) -> None:
    app.connect("builder-inited", write_css)
    app.connect("source-read", leave_out)
    app.connect("doctree-read", number_equations)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", redirect)
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("autodoc-process-docstring", plain_text)
