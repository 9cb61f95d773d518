"""Parts of run folders that synthetic experiments and singularity maps share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

QUANTILES = ("0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99")


def manifest(samples: int) -> dict[str, Any]:
    return {
        "garra": "0.1.0",
        "command": f"garra run synthetic.toml --samples {samples}",
        "scenario": "synthetic.toml",
        "scenario_sha": "sha256:0badcafe0badcafe0badcafe0badcafe0badcafe0badcafe0badcafe0badcafe",
        "device": "test machine, 2 threads x 8 lanes",
        "started": "2026-01-01T00:00:00Z",
        "seconds": 0.41,
        "samples_per_second": 244000.4,
        "chunks": 2,
        "compiler": "GNU 12.2",
        "resumed": 0,
    }


def wilson(successes: int, trials: int) -> tuple[float, float]:
    z, p = 1.959963984540054, successes / trials
    center = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2)) / (1 + z * z / trials)
    return max(center - half, 0.0), min(center + half, 1.0)


def interval(successes: int, trials: int) -> dict[str, float]:
    low, high = wilson(successes, trials)
    p = successes / trials
    return {"probability": p, "low": min(low, p), "high": max(high, p), "confidence": 0.95}


def counts(values: np.ndarray, low: float, high: float, bins: int) -> list[int]:
    return np.histogram(values[np.isfinite(values)], bins, (low, high))[0].tolist()


def histogram(values: np.ndarray, unit: str, low: float, high: float) -> dict[str, Any]:
    finite = values[np.isfinite(values)]
    quantiles = np.quantile(finite, [float(q) for q in QUANTILES]) if len(finite) else [math.nan] * len(QUANTILES)
    return {
        "unit": unit,
        "mean": float(finite.mean()) if len(finite) else None,
        "sd": float(finite.std()) if len(finite) else None,
        "quantiles": {q: (None if math.isnan(v) else float(v)) for q, v in zip(QUANTILES, quantiles, strict=True)},
        "low": low,
        "high": high,
        "counts": counts(values, low, high, 200),
        "below": int((finite < low).sum()),
        "above": int((finite > high).sum()),
        "undefined": int(len(values) - len(finite)),
    }
