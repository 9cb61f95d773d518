"""The page of a ranking of candidate grasps.

usage: python -m garra.ranking_page RANKING.h5 [RANKING.html]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from garra.page import command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="garra.ranking_page", description="Writes the HTML page of a ranking of grasps."
    )
    parser.add_argument("ranking", metavar="RANKING.h5", help="what `garra grasp rank` wrote")
    parser.add_argument("output", metavar="RANKING.html", nargs="?", help="default: RANKING.html beside it")
    options = parser.parse_args(arguments)

    def build() -> str:
        from garra.grasp import ranking_file, ranking_report  # need packages that may be missing

        return ranking_report.build(ranking_file.read(options.ranking))

    output = Path(options.output) if options.output else Path(options.ranking).with_suffix(".html")
    return command.make("garra grasp rank", output, build)


if __name__ == "__main__":
    sys.exit(main())
