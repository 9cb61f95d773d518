"""`garra run --dask ADDRESS`: the work of a run on a dask.distributed cluster.

usage: python -m garra.campaign RUN ADDRESS|local [PROGRAM]
"""

from __future__ import annotations

import sys

from garra.study.campaign import work
from garra.study.progress import listener


def main(arguments: list[str] | None = None) -> int:
    run, address, *more = sys.argv[1:] if arguments is None else arguments
    try:
        from distributed import Client
    except ImportError:
        print("garra: --dask needs dask.distributed: pip install distributed", file=sys.stderr)
        return 1
    try:
        # One worker with all threads: garra shares them out itself.
        client = Client(n_workers=1, dashboard_address=None) if address == "local" else Client(address, timeout=20)
    except (OSError, ValueError) as error:
        print(f"garra: --dask {address}: {error}", file=sys.stderr)
        return 1
    with client:
        try:
            work(run, client, executable=more[0] if more else None, on_progress=listener(sys.stderr.isatty()))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
