"""One run on the workers of a dask.distributed cluster (docs/howto/campaigns.md).

dask only starts `garra worker` here and there; the run folder, which all of them see, is the truth. Losing workers, or the
scheduler, loses nothing but the chunks under way.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from garra import program

if TYPE_CHECKING:
    from distributed import Client, Future

_STOPPED = 75
# How long a task lasts [s]: workers that have come or gone since are seen between tasks.
_TASK_SECONDS = 30.0
_POLL_SECONDS = 0.2
_RESULT_SECONDS = 3.0


def work(
    run: str | PathLike[str],
    client: Client,
    *,
    executable: str | None = None,
    device: str = "auto",
    on_progress: Callable[[dict[str, Any]], object] | None = None,
    task_seconds: float = _TASK_SECONDS,
) -> None:
    """Computes all chunks of a submitted run on the workers of a dask cluster; `garra resume` then writes the results.

    Each dask worker gets one `garra worker` with as many threads as it has.

    Parameters
    ----------
    run : str or path
        Run folder that all workers see.
    client : distributed.Client
        Client of the cluster.
    executable : str, optional
        The program garra, as the workers find it; default: program.path().
    device : str
        "auto", "cpu", "scalar", "cuda", "cuda:1".
    on_progress : callable, optional
        Receives {"samples": ..., "of": ..., ...} every few seconds.
    task_seconds : float
        Duration of one task of a worker [s].

    Raises
    ------
    RuntimeError
        With the message of a garra worker that failed.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> work("run", Client("tcp://head:8786"))  # doctest: +SKIP
    """
    command = [
        executable or program.path(), "worker", str(Path(run).resolve()), "--quiet", "--no-merge", "--device", device,
        "--time-limit", str(task_seconds),
    ]  # fmt: skip
    tasks: dict[str, Future] = {}
    shown = _Shown(Path(run), on_progress)
    try:
        while True:
            threads = client.nthreads()
            for address in [a for a in tasks if a not in threads]:
                # Gone, and its task with it: a task is bound to its worker, and would wait for it to come back.
                tasks.pop(address).cancel()
            for address, future in list(tasks.items()):
                if not future.done():
                    continue
                del tasks[address]
                if _is_all_there(future):
                    return
            for address, count in threads.items():
                if address not in tasks:
                    tasks[address] = _start(client, address, [*command, "--threads", str(count)])
            shown.update()
            time.sleep(_POLL_SECONDS)
    finally:
        client.cancel(list(tasks.values()))


def _start(client: Client, address: str, command: list[str]) -> Future:
    # A function of the standard library: the workers need the program, and no Python of ours.
    return client.submit(
        subprocess.run, command, capture_output=True, text=True, workers=[address], pure=False, retries=0
    )


def _is_all_there(future: Future) -> bool:
    if future.status != "finished":
        return False  # its worker died
    try:
        done = future.result(timeout=_RESULT_SECONDS)
    except (TimeoutError, CancelledError):
        return False  # its worker has died meanwhile, and with it what the task has said
    if done.returncode not in (0, _STOPPED):
        raise RuntimeError(done.stderr.strip() or f"garra worker ended with exit code {done.returncode}")
    return done.returncode == 0


class _Shown:
    """Progress, read from the folder; never more than a tenth of the time is spent on that."""

    def __init__(self, run: Path, on_progress: Callable[[dict[str, Any]], object] | None) -> None:
        self.run, self.on_progress, self.next = run, on_progress, time.monotonic() + 1

    def update(self) -> None:
        start = time.monotonic()
        if self.on_progress is None or start < self.next:
            return
        said = subprocess.run([program.path(), "status", self.run, "--format", "json"], capture_output=True, text=True)
        if said.returncode == 0:
            self.on_progress(_record(json.loads(said.stdout)))
        self.next = time.monotonic() + max(2, 10 * (time.monotonic() - start))


def _record(status: dict[str, Any]) -> dict[str, Any]:
    """As `garra run --progress json` has it (garra.study.progress)."""
    record = {"samples": round(status["of"] * status["chunks"] / status["of_chunks"]), "of": status["of"]}
    for name, value in status.items():
        if isinstance(value, dict) and "probability" in value:
            record[name.removeprefix("p_")] = value["probability"]
            record |= {"low": value["low"], "high": value["high"]}
    return record
