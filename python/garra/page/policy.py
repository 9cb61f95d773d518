"""The Content-Security-Policy of a page: its own scripts, inline styles and embedded images; nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib

PLACE = "policy of this page"
"""Stands in the template until all scripts are known."""


class Policy:
    """Scripts are granted by hash: text that gets into a page by mistake is never run. Styles stand in attributes of
    many elements and are granted as they are; they cannot load anything."""

    def __init__(self) -> None:
        self._hashes: list[str] = []

    def script(self, text: str) -> str:
        """A script element that is granted; `text` is of the package's own templates."""
        text = f"\n{text}"
        self._hashes.append(script_hash(text))
        return f"<script>{text}</script>\n"

    def __str__(self) -> str:
        scripts = " ".join(self._hashes) or "'none'"
        return (
            f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


def script_hash(script: str) -> str:
    """As a policy names a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
