"""The report of a study, one HTML file that loads nothing else.

usage: python -m garra.report RUN [-o report.html]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from garra import jobs
from garra.page import command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra report", description="Writes the HTML report of a study.")
    parser.add_argument("run", metavar="RUN", help="run folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: RUN/report.html")
    options = parser.parse_args(arguments)
    output = Path(options.output or Path(options.run) / "report.html")
    return command.make("garra report", output, lambda: jobs.build(jobs.read(options.run)))


if __name__ == "__main__":
    sys.exit(main())
