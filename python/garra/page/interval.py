"""Wilson's score interval of a probability."""

from __future__ import annotations

import math

Z95 = 1.959963984540054  # 97.5 % point of the normal distribution


def wilson(successes: float, trials: float, z: float = Z95) -> tuple[float, float]:
    """The interval with the confidence that z stands for; [0, 1] without trials."""
    if trials <= 0:
        return 0.0, 1.0
    p, z2 = successes / trials, z * z
    middle = p + z2 / (2 * trials)
    half = z * math.sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials))
    scale = 1 + z2 / trials
    # Exact ends: rounding must not exclude 0 or 1 where no sample speaks against them.
    low = 0.0 if successes == 0 else max(0.0, (middle - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (middle + half) / scale)
    return low, high
