"""The page of one configuration: its screws, singular subsets and ways out.

usage: python -m garra.singularity_page IN.json OUT.html

IN.json is one item of a run's configurations.json, with the name of the robot as "robot".
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from garra.page import command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="garra.singularity_page", description="Writes the HTML page of one analyzed configuration."
    )
    parser.add_argument("input", metavar="IN.json", help="an item of configurations.json")
    parser.add_argument("output", metavar="OUT.html")
    options = parser.parse_args(arguments)

    def build() -> str:
        from garra.singularity import page  # needs packages that may be missing

        return page.read(options.input)

    return command.make("garra singularity", Path(options.output), build)


if __name__ == "__main__":
    sys.exit(main())
