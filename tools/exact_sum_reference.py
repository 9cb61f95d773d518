"""Reference sums for tests/study/test_exact_sum.cpp by rational arithmetic: data/reference/study/exact_sums.txt."""

import random
import struct
import sys
from fractions import Fraction
from pathlib import Path

CASES = 400


def number(rng: random.Random) -> float:
    """Any finite double: bits at random, the exponent from a range that is drawn, too."""
    kind = rng.random()
    if kind < 0.1:  # subnormal, or zero
        bits = rng.getrandbits(rng.randrange(1, 53))
    elif kind < 0.5:
        bits = rng.randrange(2047) << 52 | rng.getrandbits(52)
    else:
        bits = (1023 + rng.randrange(-60, 60)) << 52 | rng.getrandbits(52)
    return struct.unpack("<d", struct.pack("<Q", bits | rng.getrandbits(1) << 63))[0]


def rounded(x: Fraction) -> float:
    try:
        return float(x)  # Python rounds a quotient of integers correctly, half to even
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def case(rng: random.Random) -> list[float]:
    numbers = [number(rng) for _ in range(rng.randrange(1, 40))]
    if rng.random() < 0.5:  # most of it cancels
        numbers += [-x for x in rng.sample(numbers, rng.randrange(len(numbers) + 1))]
    if rng.random() < 0.3:  # a sum half way between two doubles, or beside it
        x = rng.uniform(1, 2)
        numbers = [x, 2.0**-53, rng.choice([0.0, 2.0**-900, -(2.0**-900)]), 1e300, -1e300]
    rng.shuffle(numbers)
    return numbers


def main() -> None:
    rng = random.Random(21)
    lines = []
    for _ in range(CASES):
        numbers = case(rng)
        total = rounded(sum(map(Fraction, numbers)))
        lines.append(" ".join(x.hex() for x in [total, *numbers]))
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
