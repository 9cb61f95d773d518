"""bench/peers/grasp_set_simulators.py: MuJoCo holds what garra says holds, on both sides of the friction needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from arrays import require_module

require_module()
for package in ("mujoco", "clarabel", "scipy"):
    pytest.importorskip(package)

SCRIPT = Path(__file__).resolve().parents[3] / "bench" / "peers" / "grasp_set_simulators.py"


def test_a_simulator_holds_with_more_friction_than_is_needed_and_drops_with_less(monkeypatch):
    import sys

    spec = importlib.util.spec_from_file_location("grasp_set_simulators", SCRIPT)
    peers = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, peers)  # dataclasses look themselves up there
    spec.loader.exec_module(peers)
    for k, kind in enumerate(peers.OBJECTS):
        (g,) = peers.chosen(kind, 1, np.random.default_rng(k))
        for factor, held in ((1.1, True), (0.85, False)):
            mu = factor * g.needed
            assert peers.garra_says([g], mu)[0] == held, kind
            end = peers.simulate(g, mu, peers.SOFT)
            assert end.held == held, f"{kind}: moved {1e3 * end.moved:.2f} mm, turned {np.degrees(end.turned):.1f} deg"
            if held:
                assert peers.held_where_it_ended(g, mu, end), kind
