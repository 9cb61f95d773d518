"""P(held) of rankings against the outcomes of trials in their sets, printed and as a page.

usage: python -m garra.compare_page RANKING.h5 ... [--arrived] [--format json] [-o PAGE.html]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from garra.page import command, html

if TYPE_CHECKING:
    from garra.grasp.outcomes import Comparison


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra grasp compare", description="P(held) against outcomes of trials.")
    parser.add_argument("rankings", metavar="RANKING.h5", nargs="+", help="what `garra grasp rank` wrote")
    parser.add_argument("-o", "--output", metavar="PAGE.html", help="page with tables and reliability diagram")
    parser.add_argument("--arrived", action="store_true", help="leave out draws that end in a collision")
    parser.add_argument("--format", choices=("human", "json"), default="human")
    options = parser.parse_args(arguments)


    def compare() -> None:
        from garra.grasp import outcome_page  # needs packages that may be missing

        found = _compared(options)
        if options.output:
            html.write(outcome_page.build(found, [Path(path).name for path in options.rankings]), Path(options.output))
        report = f"\nReport  {options.output}" if options.output else ""
        print(json.dumps(found.to_json(), indent=1) if options.format == "json" else f"{found}{report}")

    return command.run("garra grasp compare", compare, options.output or "")


def _compared(options: argparse.Namespace) -> Comparison:
    from garra.grasp import ranking_file, trials

    parts, names = [], set()
    for path in map(Path, options.rankings):
        found = ranking_file.read(path)
        name = path.stem if path.stem not in names else str(path)
        names.add(name)
        parts.append(trials.find_trials(found, name, arrived=options.arrived))
    return trials.compare_trials(trials.joined(parts))


if __name__ == "__main__":
    sys.exit(main())
