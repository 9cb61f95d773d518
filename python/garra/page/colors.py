"""The ramp of colors that fields are drawn in, dark where something is near to fail."""

from __future__ import annotations

from matplotlib.colors import LinearSegmentedColormap, to_hex

RAMP = LinearSegmentedColormap.from_list("garra", ["#4a1486", "#33519e", "#21859b", "#5fbf9f", "#bfe3a6", "#f8f3b8"])


def ramp() -> list[str]:
    return [to_hex(RAMP(k / 255)) for k in range(256)]
