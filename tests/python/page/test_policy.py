"""The Content-Security-Policy of pages. That no page needs more than it grants is asked of every page that a test makes
(pages.assert_granted)."""

from __future__ import annotations

import pytest
from garra.page import html, policy
from pages import Page, assert_granted


def filled(script: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A page with the blocks that a template has to have, and this one of scripts."""
    import jinja2

    text = (
        '{% extends "page/layout.html" %}{% block title %}{{ title }}{% endblock %}{% block kind %}kind{% endblock %}'
        "{% block heading %}{{ title | safe }}{% endblock %}{% block main %}text{% endblock %}"
        "{% block script %}" + script + "{% endblock %}"
    )
    templates = jinja2.PackageLoader("garra")
    loader = jinja2.ChoiceLoader([jinja2.DictLoader({"test.html": text}), templates])
    monkeypatch.setattr(jinja2, "PackageLoader", lambda _: loader)
    return html.page("test.html", title="<script>alert(1)</script>", facts=[])


def policy_of(text: str) -> str:
    return dict(Page(text).metas)["Content-Security-Policy"]


def test_scripts_of_templates_are_granted_by_hash_and_others_are_not(monkeypatch):
    text = filled("{% filter script %}\nlet a = 1 < 2;\n{% endfilter %}\n", monkeypatch)
    assert "<script>\nlet a = 1 < 2;\n</script>" in text
    granted = policy_of(text)
    assert policy.script_hash("\nlet a = 1 < 2;\n") in granted
    assert "<script>alert(1)</script>" in text, "a title that nobody has escaped"
    assert policy.script_hash("alert(1)") not in granted and "unsafe-inline" not in granted.split("style-src")[0]


def test_a_page_without_scripts_grants_none(monkeypatch):
    assert "script-src 'none';" in policy_of(filled("", monkeypatch))


@pytest.mark.parametrize(
    "more",
    [
        "<script>other()</script>",
        '<img onerror="alert(1)">',
        '<script src="x.js"></script>',
        '<iframe srcdoc="x"></iframe>',
        '<script type="module">x</script>',
    ],
)
def test_a_page_that_needs_more_is_found(monkeypatch, more):
    text = filled("{% filter script %}\nlet a;\n{% endfilter %}\n", monkeypatch)
    text = text.replace("<script>alert(1)</script>", "")
    assert_granted(Page(text), text)
    text = text.replace("</main>", f"{more}</main>")
    with pytest.raises(AssertionError):
        assert_granted(Page(text), text)
