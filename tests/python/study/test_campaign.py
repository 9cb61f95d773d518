"""One run by many processes: the answer has the bytes of one process, whoever is killed, slow, or wrong."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from chunk_files import forge
from program import DONE, PROGRAM, ROOT, STOPPED, USAGE, garra

try:
    import psutil
except ImportError:  # it comes with dask.distributed
    psutil = None

SPHERE = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
INPUT_OUTPUT = 5
CHUNKS = 24
SETTINGS = ("--samples", CHUNKS * 1024, "--set", "sampling.chunk=1024", "--quiet")


def digests(run: Path) -> list[str]:
    return [hashlib.sha256((run / name).read_bytes()).hexdigest() for name in ("summary.json", "results.h5")]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """The same samples by one process, in one chunk."""
    folder = tmp_path_factory.mktemp("campaign") / "alone"
    garra("run", SPHERE, "--samples", CHUNKS * 1024, "--set", f"sampling.chunk={CHUNKS * 1024}", "--quiet",
          "--no-report", "-o", folder)  # fmt: skip
    return folder


@pytest.fixture
def submitted(tmp_path) -> Path:
    garra("submit", SPHERE, *SETTINGS, "-o", tmp_path / "run")
    return tmp_path / "run"


def start(run: Path, *flags: object) -> subprocess.Popen:
    command = [PROGRAM, "worker", run, "--threads", 1, "--quiet", "--no-report", *flags]
    return subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)


def records(run: Path) -> list[dict]:
    return [json.loads(p.read_text()) for p in (run / "workers").glob("*.json")]


def test_two_workers_have_the_bytes_of_one_process(submitted, alone):
    workers = [start(submitted, "--shard", f"{k}/2") for k in range(2)]
    for worker in workers:
        assert worker.wait() == DONE, worker.stderr.read()
    assert digests(submitted) == digests(alone)
    stored = [chunk for r in records(submitted) for chunk in r["chunks"]]
    assert sorted(stored) == list(range(CHUNKS)), "each chunk is stored once"
    assert not (submitted / "claims").exists()
    garra("verify", submitted, "--fraction", 1)


def test_workers_killed_at_random_change_no_byte(submitted, alone):
    rng = random.Random(5)
    kills = 0
    while not (submitted / "summary.json").exists():
        workers = [start(submitted) for _ in range(2)]
        time.sleep(rng.uniform(0, 0.004 * (1 + kills)))  # later and later: no machine is done before three were killed
        for worker in workers:
            kills += worker.poll() is None
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        assert kills < 500
        if kills > 20:  # then they may get on
            assert start(submitted).wait() == DONE
    assert kills > 2
    assert digests(submitted) == digests(alone)
    left = [p.name for p in submitted.rglob("*") if ".garra-" in p.name]
    assert left == []


def test_a_worker_takes_over_what_a_dead_one_had_claimed(submitted, alone):
    (submitted / "claims").mkdir()
    dead = subprocess.Popen(["true"])
    dead.wait()
    host = re.sub(r"[^A-Za-z0-9]", "-", socket.gethostname())
    (submitted / "claims" / "3").write_text(f"{host}-{dead.pid}-0123abcd")
    # Of another host, of whose processes nothing can be known: last, but not never.
    (submitted / "claims" / "5").write_text("elsewhere-1-0123abcd")
    assert start(submitted).wait() == DONE
    assert digests(submitted) == digests(alone)
    (record,) = records(submitted)
    assert record["chunks"].index(3) == 3
    assert record["chunks"][-1] == 5


# An hour: two clocks differ. Ten years: one is wrong. Half a minute is what clocks of hosts may differ by.
@pytest.mark.parametrize("ahead", [20, 3600, 3.2e8])
@pytest.mark.parametrize("command", ["worker", "resume"])
def test_a_claim_dated_in_the_future_stops_nobody(submitted, alone, command, ahead):
    claim = submitted / "claims" / "7"
    claim.parent.mkdir()
    claim.write_text("elsewhere-1-0123abcd")
    os.utime(claim, (time.time() + ahead,) * 2)
    process = subprocess.Popen([PROGRAM, command, str(submitted), "--threads", "1", "--quiet", "--no-report"])
    try:
        assert process.wait(timeout=20) == DONE
    finally:
        process.kill()
        process.wait()
    assert digests(submitted) == digests(alone)


def test_status_says_that_clocks_differ(submitted):
    claim = submitted / "claims" / "7"
    claim.parent.mkdir()
    claim.write_text("elsewhere-1-0123abcd")
    os.utime(claim, (time.time() + 3600,) * 2)
    (said,) = json.loads(garra("status", submitted, "--format", "json").stdout)["claims"]
    assert said["seconds"] is None
    assert "process 1 on host elsewhere, dated in the future: two clocks differ" in garra("status", submitted).stdout
    os.utime(claim, (time.time() - 100,) * 2)
    (said,) = json.loads(garra("status", submitted, "--format", "json").stdout)["claims"]
    assert 100 <= said["seconds"] < 200


@pytest.mark.parametrize(
    ("seconds", "is_held"), [(-7200, False), (-600, True), (600, True), (7200, False), (3.2e8, False)]
)
def test_the_lock_of_another_host_holds_for_an_hour_by_any_clock(submitted, alone, seconds, is_held):
    lock = submitted / "garra.lock"
    lock.write_text("process 1 on host elsewhere since 2026-11-22T17:00:00Z\n")
    os.utime(lock, (time.time() + seconds,) * 2)
    done = garra("resume", submitted, "--quiet", "--no-report", expect=INPUT_OUTPUT if is_held else DONE)
    if is_held:
        assert "process 1 on host elsewhere" in done.stderr
    else:
        assert digests(submitted) == digests(alone)


def test_a_scenario_that_changes_under_a_worker_gets_no_summary(tmp_path):
    run = tmp_path / "run"
    # Half a second of work in two chunks.
    garra("submit", SPHERE, "--samples", 1 << 19, "--set", f"sampling.chunk={1 << 18}", "--quiet", "-o", run)
    worker = start(run)
    while not (run / "claims").exists():
        assert worker.poll() is None
    scenario = run / "scenario.toml"
    scenario.write_text(scenario.read_text() + "# another\n")
    assert worker.wait() == INPUT_OUTPUT
    assert "the scenario was changed while its samples were computed" in worker.stderr.read()
    assert not (run / "summary.json").exists()


def test_a_worker_on_a_finished_run_writes_nothing(submitted):
    assert start(submitted).wait() == DONE
    shutil.rmtree(submitted / "workers")
    (submitted / "workers").write_text("a file: nothing can be written into it, as on a disk that is read only")

    def state():
        return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in (submitted, *submitted.rglob("*"))}

    before = state()
    worker = start(submitted)
    assert worker.wait() == DONE, worker.stderr.read()
    assert state() == before


def test_a_stopped_worker_says_so_and_another_goes_on(submitted, alone):
    worker = start(submitted, "--time-limit", "1e-6")
    assert worker.wait() == STOPPED
    assert "Continue with `garra worker" in worker.stderr.read()
    said = garra("status", submitted).stdout
    assert "unfinished" in said
    assert start(submitted, "--no-merge").wait() == DONE
    assert not (submitted / "summary.json").exists()
    garra("resume", submitted, "--quiet", "--no-report")
    assert digests(submitted) == digests(alone)


def test_status_knows_the_workers(submitted):
    start(submitted).wait()
    status = json.loads(garra("status", submitted, "--format", "json").stdout)
    assert status["finished"] and status["chunks"] == status["of_chunks"] == CHUNKS
    (worker,) = status["workers"]
    assert worker["samples"] == CHUNKS * 1024 and worker["ended"]
    assert status["p_held"]["low"] < status["p_held"]["probability"] < status["p_held"]["high"]
    assert re.search(r"process \d+ on host .*ended", garra("status", submitted).stdout)


def test_status_leaves_out_the_rates_of_dead_workers(submitted):
    host = re.sub(r"[^A-Za-z0-9]", "-", socket.gethostname())
    dead = subprocess.Popen(["true"])
    dead.wait()
    record = {"device": "x", "samples": 1000, "seconds": 1.0, "chunks": [], "checked": [], "ended": False}
    (submitted / "workers").mkdir(exist_ok=True)

    def status_of_worker(number):
        (submitted / "workers" / f"{host}-{number}-0123abcd.json").write_text(json.dumps(record))
        return garra("status", submitted).stdout

    said = status_of_worker(dead.pid)
    assert re.search(rf"process {dead.pid} on host .*; died", said)
    assert "in all" not in said
    (submitted / "claims").mkdir()
    (submitted / "claims" / "1").write_text(f"{host}-{dead.pid}-0123abcd")
    assert re.search(rf"chunk 1: process {dead.pid} on host .*, for .*; died", status_of_worker(dead.pid))
    assert "samples/s in all, 25 s left" in status_of_worker(os.getpid())  # 24,576 of them at 1000 a second


def test_the_half_width_stops_all_workers_at_the_same_chunk(tmp_path):
    settings = (*SETTINGS, "--stop", "half-width=0.008")
    garra("run", SPHERE, *settings, "--no-report", "-o", tmp_path / "alone")
    garra("submit", SPHERE, *settings, "-o", tmp_path / "run")
    workers = [start(tmp_path / "run") for _ in range(3)]
    assert [w.wait() for w in workers] == [DONE] * 3
    assert digests(tmp_path / "run") == digests(tmp_path / "alone")
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["stopped_by"] == "half_width"


def one_more_held(d) -> None:
    failed = next(k for k in range(1, 9) if d["counts"][k] > 0)
    d["counts"][0] += 1
    d["counts"][failed] -= 1


def test_two_machines_that_disagree_raise_an_alarm(tmp_path):
    run, chunk = tmp_path / "run", tmp_path / "run" / "chunks" / "000001"
    # Half a second of work: time for another machine to be faster.
    garra("submit", SPHERE, "--samples", 1 << 19, "--set", f"sampling.chunk={1 << 18}", "--quiet", "-o", run)
    start(run, "--no-merge").wait()
    (record,) = (run / "workers").glob("*.json")
    record.rename(record.with_name("badhost-77-0123abcd.json"))
    forge(chunk, one_more_held)
    wrong = chunk.read_bytes()
    hidden = chunk.rename(tmp_path / "hidden")
    late = start(run, "--no-merge")
    while not (run / "claims" / "1").exists():
        assert late.poll() is None
    time.sleep(0.05)
    os.link(hidden, chunk)
    code, said = late.wait(), late.stderr.read()
    assert code == INPUT_OUTPUT, said
    assert "chunk 1 was computed by process 77 on host badhost and by process" in said and "differ" in said
    assert chunk.read_bytes() == wrong, "nothing is overwritten"


def test_a_damaged_chunk_is_computed_again_by_who_reads_it(submitted, alone):
    start(submitted, "--no-merge").wait()
    chunk = submitted / "chunks" / "000007"
    chunk.write_bytes(chunk.read_bytes()[:-9])
    done = garra("resume", submitted, "--no-report")
    assert "chunk 7 is damaged; computing it again" in done.stderr
    assert digests(submitted) == digests(alone)


def test_a_chunk_that_is_given_up_is_claimed_no_more(tmp_path):
    run, chunk = tmp_path / "run", tmp_path / "run" / "chunks" / "000000"
    # Pieces of a chunk are 2^20 samples: two, so that there is a time to look up between.
    study = (
        ROOT / "data" / "scenarios" / "puma_singularities.toml",
        "--samples",
        1 << 22,
        "--set",
        "measure.nearest=false",
    )
    garra("submit", *study, "--set", f"sampling.chunk={1 << 21}", "--quiet", "-o", run)
    worker = start(run, "--no-merge")
    while not (run / "claims" / "0").exists():
        assert worker.poll() is None
    chunk.write_bytes(b"somebody else has been faster")
    while not (run / "claims" / "1").exists():
        assert worker.poll() is None
    assert not (run / "claims" / "0").exists()
    worker.kill()
    worker.wait()


def test_the_report_says_who_has_made_the_run(submitted):
    workers = [start(submitted, "--no-merge") for _ in range(2)]
    assert [w.wait() for w in workers] == [DONE] * 2
    said = garra("resume", submitted).stdout
    manifest = json.loads((submitted / "manifest.json").read_text())
    all = manifest["campaign"]
    assert (all["workers"], all["machines"]) == (2, 1)
    assert all["seconds"] == pytest.approx(sum(w["seconds"] for w in manifest["workers"]))
    assert "samples/s by 2 workers on 1 machine" in said
    report = (submitted / "report.html").read_text()
    assert "2 workers on 1 machine" in report and "of all workers together" in report


def test_many_samples_make_no_more_than_four_thousand_files(tmp_path):
    resolved = garra("check", SPHERE, "--set", "sampling.samples=1000000000000", "--format", "toml").stdout
    chunk = int(re.search(r"^chunk = (\d+)", resolved, re.M)[1])
    assert chunk & (chunk - 1) == 0 and 10**12 / chunk <= 4000


def test_the_slurm_script_requeues_what_was_stopped(tmp_path):
    run = tmp_path / "it's a run"
    garra("submit", SPHERE, *SETTINGS, "--slurm", "--workers", 3, "--threads", 999, "-o", run)
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "scontrol").write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/requeued"\n')
    (bin / "scontrol").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{bin}:{os.environ['PATH']}", "SLURM_ARRAY_JOB_ID": "9", "SLURM_ARRAY_TASK_ID": "2",
        "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_CPUS_PER_TASK": "1",
    }  # fmt: skip
    script = (run / "slurm.sh").read_text()
    assert "#SBATCH --array=0-2" in script and "#SBATCH --cpus-per-task=999\n" in script
    # Where it begins comes from the array's variables: the last third.
    assert subprocess.run(["bash", run / "slurm.sh"], env=environment, stdout=subprocess.DEVNULL).returncode == DONE
    assert records(run)[0]["chunks"][0] == 2 * CHUNKS // 3
    assert not (tmp_path / "requeued").exists()
    shutil.rmtree(run)
    big = ("--samples", 50_000_000, "--quiet", "--slurm", "-o", run)
    garra("submit", SPHERE, *big)
    job = subprocess.Popen(
        ["bash", run / "slurm.sh"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    while not list((run / "claims").glob("*")):
        time.sleep(0.01)
    job.send_signal(signal.SIGTERM)
    assert job.wait() == STOPPED
    assert (tmp_path / "requeued").read_text() == "requeue 9_2\n"


@pytest.mark.parametrize(
    ("rank", "size"),
    [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")],
)
def test_mpi_and_slurm_say_where_a_worker_begins(submitted, monkeypatch, rank, size):
    monkeypatch.setenv(rank, "1")
    monkeypatch.setenv(size, "3")
    assert start(submitted).wait() == DONE
    assert records(submitted)[0]["chunks"][0] == CHUNKS // 3


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_worker_within_a_chunk_and_it_goes_on(tmp_path, stop):
    run = tmp_path / "run"
    garra("submit", SPHERE, "--samples", 1e9, "--quiet", "-o", run)
    worker = start(run)
    while not list((run / "claims").glob("*")):
        assert worker.poll() is None
        time.sleep(0.01)
    worker.send_signal(stop)
    assert worker.wait() == STOPPED
    assert "stopped by a signal" in worker.stderr.read()
    assert not (run / "claims").exists()


@pytest.mark.parametrize("place", ["3", "3/3", "-1/2", "x/2", "1/0", "0.5/2"])
def test_a_place_that_is_none_is_refused(submitted, place):
    assert "--shard K/N" in garra("worker", submitted, f"--shard={place}", expect=USAGE).stderr


# Stands for the program: on one machine, whose first process has made the folder, it runs a fiftieth of the time.
SLOWED = """#!/bin/sh
if ! mkdir "{folder}/slow" 2>/dev/null; then exec "{program}" "$@"; fi
echo $PPID > "{folder}/slow/worker"
"{program}" "$@" &
while kill -STOP $! 2>/dev/null; do sleep 0.49; kill -CONT $!; sleep 0.01; done
wait $!; code=$?
rm -r "{folder}/slow"
exit $code
"""


def kill_all(process) -> None:
    for one in (*process.children(recursive=True), process):
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()


class Trouble(threading.Thread):
    """Kills one of a cluster's workers each second, but the slow one; takes the first copy of each fifth chunk away."""

    def __init__(self, cluster, run: Path, away: Path):
        super().__init__(daemon=True)
        self.cluster, self.run_folder, self.away = cluster, run, away
        self.killed, self.twice, self.over, self.rng = 0, set(), threading.Event(), random.Random(3)

    def run(self) -> None:
        next_kill = time.monotonic() + 1
        while not self.over.wait(0.02):
            self.take_away()
            # A loaded machine takes longer than four seconds to start four anew: then they may get on.
            if time.monotonic() >= next_kill and self.killed < MOST_KILLED:
                self.kill_one()
                next_kill = time.monotonic() + 1

    def kill_one(self) -> None:
        slow = self.away / "slow" / "worker"
        spared = slow.read_text().strip() if slow.exists() else ""
        pids = [nanny.pid for nanny in self.cluster.workers.values() if str(nanny.pid) not in (spared, "None")]
        if not pids:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            kill_all(psutil.Process(self.rng.choice(pids)))
            self.killed += 1

    def take_away(self) -> None:
        for k in range(0, LONG, 5):
            chunk, first = self.run_folder / "chunks" / f"{k:06}", self.away / f"{k}"
            if not chunk.exists() or k in self.twice:
                continue
            if first.exists():
                assert chunk.read_bytes() == first.read_bytes()
                self.twice.add(k)
            else:
                chunk.rename(first)


LONG = 60  # chunks: some seconds of work
MOST_KILLED = 6


def test_dask_workers_killed_slowed_and_at_work_twice(tmp_path):
    """A LocalCluster of four, one killed each second, one slowed fifty times, every fifth chunk computed twice."""
    distributed = pytest.importorskip("distributed")
    from arrays import require_module

    require_module()
    from garra.study import campaign

    study = (SPHERE, "--samples", LONG << 14, "--set", f"sampling.chunk={1 << 14}", "--quiet")
    garra("run", *study, "--no-report", "-o", tmp_path / "alone")
    run = tmp_path / "run"
    garra("submit", *study, "-o", run)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(SLOWED.format(folder=tmp_path, program=PROGRAM))
    wrapper.chmod(0o755)
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        trouble = Trouble(cluster, run, tmp_path)
        trouble.start()
        slowed = False
        for _ in range(100):
            campaign.work(run, client, executable=str(wrapper), task_seconds=0.5)
            slowed |= (tmp_path / "slow").exists()
            if len(trouble.twice) == LONG // 5 and trouble.killed > 2:
                break
        trouble.over.set()
        trouble.join()
    assert slowed and trouble.killed > 2 and trouble.twice == set(range(0, LONG, 5))
    for process in psutil.process_iter(["cmdline"]):
        if str(run) in (process.info["cmdline"] or []):
            process.kill()  # of a cluster that is gone
    garra("resume", run, "--quiet", "--no-report")
    assert digests(run) == digests(tmp_path / "alone")


def test_python_gives_a_run_to_a_client(tmp_path, alone):
    distributed = pytest.importorskip("distributed")
    from arrays import require_module

    require_module()
    import garra as package

    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        seen = []
        result = package.run(
            SPHERE, tmp_path / "run", samples=CHUNKS * 1024, set={"sampling.chunk": 1024}, client=client,
            progress=seen.append,
        )  # fmt: skip
        with pytest.raises(package.UsageError, match="client without out"):
            package.run(SPHERE, samples=1024, client=client)
    assert result.samples == CHUNKS * 1024
    assert digests(tmp_path / "run") == digests(alone)
    assert seen and seen[-1]["samples"] == CHUNKS * 1024


def test_the_program_starts_a_local_cluster(tmp_path, alone):
    pytest.importorskip("distributed")
    garra("run", SPHERE, *SETTINGS, "--no-report", "--dask", "local", "-o", tmp_path / "run")
    assert digests(tmp_path / "run") == digests(alone)
    said = garra(
        "run", SPHERE, *SETTINGS, "--no-report", "--dask", "nowhere:1", "-o", tmp_path / "no", expect=INPUT_OUTPUT
    )
    assert "garra resume" in said.stderr


@pytest.mark.parametrize(
    ("address", "problem"),
    [("file:///etc/passwd", "no address of a scheduler"), ("127.0.0.1", "no address of a scheduler"), ("", "no address"),
     ("tcp://127.0.0.1:{}", "nothing listens there")],
)  # fmt: skip
def test_no_scheduler_is_said_at_once(tmp_path, submitted, address, problem):
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    campaign = [sys.executable, "-m", "garra.campaign", str(submitted), address.format(number), PROGRAM]
    begun = time.monotonic()
    done = subprocess.run(
        campaign, env=os.environ | {"PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and problem in done.stderr and "Traceback" not in done.stderr
    assert time.monotonic() - begun < 20, "dask.distributed asks for 24 s"
