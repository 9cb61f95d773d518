"""`garra run --dask ADDRESS`: the work of a run on a dask.distributed cluster.

usage: python -m garra.campaign RUN ADDRESS|local [PROGRAM]
"""

from __future__ import annotations

import re
import socket
import sys
import time

from garra.study.campaign import work
from garra.study.progress import listener

_CONNECT_SECONDS = 5.0
"""How long a scheduler that is just being started may take to listen."""
_ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(\[[^\]]+\]|[^:/\s]+):(\d+)")
_OTHERS = ("inproc://", "ucx://", "ws://", "wss://")
"""Protocols of dask.distributed that it asks itself."""


def require_scheduler(address: str) -> None:
    """Raises ValueError where this is no address of a scheduler, OSError where nothing listens there: dask.distributed
    itself would ask for half a minute."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        if address.startswith(_OTHERS):
            return
        raise ValueError("no address of a scheduler\nUse tcp://HOST:PORT, or local for workers on this machine.")
    end, seconds = time.monotonic() + _CONNECT_SECONDS, _CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((parts[1].strip("[]"), int(parts[2])), seconds).close()
            return
        except (OSError, OverflowError) as error:
            seconds = end - time.monotonic()
            if seconds < 0.2:
                raise OSError(f"nothing listens there ({error})\nStart dask scheduler, or correct the address.") from None
        time.sleep(0.2)


def main(arguments: list[str] | None = None) -> int:
    run, address, *more = sys.argv[1:] if arguments is None else arguments
    try:
        from distributed import Client
    except ImportError:
        print("garra: --dask needs dask.distributed: pip install distributed", file=sys.stderr)
        return 1
    try:
        if address != "local":
            require_scheduler(address)
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
