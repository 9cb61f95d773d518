"""Pages seen from outside: made by `python -m garra.report`, read by html.parser, their scripts run by a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from garra.page import policy

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
MOST_BYTES = 2_000_000
USAGE, INVALID_FILE, INPUT_OUTPUT = 2, 3, 5


class Page(HTMLParser):
    """What the tests ask of a page: its text, ids, references, and that every tag is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: Counter[str] = Counter()
        self.references: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.metas: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]
        self.text = re.sub(r"\s+", " ", " ".join(self.words)).replace("\u202f", " ")

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes nothing")

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def _note(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "meta":
            given = dict(attributes)
            self.metas.append((given.get("http-equiv") or next(iter(given)), given.get("content") or ""))
        for name, value in attributes:
            if name.startswith("on"):
                self.handlers.append(f"{tag} {name}")
            if name == "id":
                self.ids[value or ""] += 1
            if name in ("src", "href", "xlink:href", "srcset", "data", "action"):
                self.references.append(value or "")


def report(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
    command = [sys.executable, "-m", "garra.report", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def page_of(run: Path) -> tuple[Page, str]:
    done = report(run)
    assert done.returncode == 0, done.stderr
    html = (run / "report.html").read_text(encoding="utf-8")
    return Page(html), html


def assert_sound(page: Page, html: str, sections: tuple[str, ...], most: int = 2_500_000) -> None:
    """Closed tags, unique ids, every section, at most `most` bytes, and nothing that a browser would fetch."""
    assert html.startswith("<!DOCTYPE html>")
    assert_granted(page, html)
    assert not page.faults
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert [name for name in sections if page.ids[name] != 1] == []
    assert all(reference.startswith("#") and reference[1:] in page.ids for reference in page.references)
    assert not re.search(r"https?:|\bsrc=|<link|@import|\bimport\b|fetch\(|XMLHttpRequest", html)
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", html))
    assert len(html.encode()) < most
    told = page.text.replace("None of the ", "")
    assert not {"nan", "inf", "-inf", "undefined", "None"} & set(re.split(r"[\s,;()]+", told))


def assert_granted(page: Page, html: str) -> None:
    """The page has a policy, which comes before all that it governs, and needs no more than that grants."""
    assert [name for name, _ in page.metas[:2]] == ["charset", "Content-Security-Policy"]
    (text,) = (content for name, content in page.metas if name == "Content-Security-Policy")
    sources = {name: set(rest) for name, *rest in (part.split() for part in text.split("; "))}
    scripts = [policy.script_hash(body) for body in re.findall(r"<script>(.*?)</script>", html, re.S)]
    assert sources == {
        "default-src": {"'none'"},
        "script-src": set(scripts) or {"'none'"},
        "style-src": {"'unsafe-inline'"},
        "img-src": {"data:"},
        "base-uri": {"'none'"},
        "form-action": {"'none'"},
    }
    kinds = re.findall(r"<script\b([^>]*)>", html)
    assert all(kind == "" or kind.startswith(' type="application/json" id=') for kind in kinds)
    assert not page.handlers, "handlers in attributes are scripts without a hash"
    assert not page.tags & {"base", "embed", "form", "frame", "iframe", "link", "object", "audio", "video", "source"}


def assert_self_contained(page: Page, html: str) -> None:
    assert_granted(page, html)
    for reference in page.references:
        assert reference.startswith(("#", "data:image/png;base64,")), reference[:80]
        if reference.startswith("#"):
            assert reference[1:] in page.ids
    assert not re.search(r"<script[^>]*\ssrc=", html) and "@import" not in html and "<link" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", html))
    assert all(name in page.ids for name in re.findall(r"url\(#(.*?)\)", html))


def data_of(html: str, name: str) -> Any:
    """What a page carries for its scripts."""
    return json.loads(re.search(rf'<script type="application/json" id="{name}-data">(.*?)</script>', html, re.S)[1])


def axis_of(key: str, table: dict[str, Any]) -> str:
    """What the axis of a distribution says: its label within a sentence, its key where a run has no labels."""
    label = table.get("label", key.replace("_", " "))
    return label[:1].lower() + label[1:]


def edit(run: Path, change) -> None:
    summary = json.loads((run / "summary.json").read_text())
    change(summary)
    (run / "summary.json").write_text(json.dumps(summary))


def assert_refused(done: subprocess.CompletedProcess[str], code: int, *said: str) -> None:
    assert done.returncode == code
    assert done.stderr.startswith("garra report: ") and "Traceback" not in done.stderr
    for part in said:
        assert part in done.stderr


def scenarios_of(job: str) -> list[Path]:
    """The shipped scenarios with this job; "grasp in time" are the grasps with a table [simulation]."""
    files = sorted((ROOT / "data" / "scenarios").glob("*.toml"))
    return [file for file in files if kind_of(tomllib.loads(file.read_text())) == job]


def kind_of(scenario: dict) -> str:
    return "grasp in time" if scenario["job"] == "grasp" and "simulation" in scenario else scenario["job"]


def granted(html: str, probe: str) -> str:
    """The page with the scripts of `probe` in its policy."""
    hashes = " ".join(policy.script_hash(text) for text in re.findall(r"<script>(.*?)</script>", probe, re.S))
    return html.replace("script-src 'none'", "script-src").replace("script-src", f"script-src {hashes}", 1)


def console(html: str, probe: str, folder: Path) -> list[str]:
    page = folder / "page.html"
    page.write_text(granted(html, probe).replace("</body>", probe), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=3000"]
    command = [CHROMIUM, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]
