"""The page of a solver benchmark: one HTML file that loads nothing else.

usage: python -m garra.bench_report FOLDER [-o bench.html]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from garra.page import command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra.bench_report", description="Writes the page of a solver benchmark.")
    parser.add_argument("folder", metavar="FOLDER", help="folder with bench.json")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: FOLDER/bench.html")
    options = parser.parse_args(arguments)

    def build() -> str:
        from garra.bench import report  # needs packages that may be missing

        return report.make_page(options.folder)

    return command.make("garra.bench_report", Path(options.output or Path(options.folder) / "bench.html"), build)


if __name__ == "__main__":
    sys.exit(main())
