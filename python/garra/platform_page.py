"""The page of one motion of a platform, with an animation: one HTML file that loads nothing else.

usage: python -m garra.platform_page MOTION.h5 [--sample S] -o page.html

MOTION.h5: path.h5 of a run folder, or what `garra platform simulate` wrote with outputs over time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from garra.page import command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra.platform_page", description="Writes the page of a platform's motion.")
    parser.add_argument("input", metavar="MOTION.h5", help="path.h5 of a run, or output of `garra platform simulate`")
    parser.add_argument("--sample", type=int, default=0, metavar="S", help="of a simulation, from 0")
    parser.add_argument("-o", "--output", metavar="FILE", required=True)
    options = parser.parse_args(arguments)

    def build() -> str:
        from garra.platform import folder, page  # need packages that may be missing

        return page.build(folder.read_motion(Path(options.input), options.sample))

    return command.make("garra platform", Path(options.output), build)


if __name__ == "__main__":
    sys.exit(main())
