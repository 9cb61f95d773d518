"""One fault at a time in one command of the program, and what must hold after it: a documented exit code, a message, no
signal, nothing left lying about; and the same command again, or `garra resume`, ends with the bytes that it would have
written without the fault. tests/python/cli/test_fault.py runs a few cases, tools/fault all of them."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 75}
KILLED, NO_MEMORY = 128 + 9, 6
# What no user should read.
INTERNAL = re.compile(r"internal error|terminate called|Traceback|HDF5-DIAG|what\(\):|\[json\.exception|Assertion")
LARGE = 1024  # [bytes] smaller requests for memory are always met (fail_malloc.c)
# A Python that does not get as far as our text: no memory, no thread (OpenBLAS interrupts it), a module not read.
PYTHONS_OWN = re.compile(r"^(MemoryError|KeyboardInterrupt|ImportError)", re.MULTILINE)
TIMEOUT = 120  # [s] a command that takes longer hangs: without a fault each takes less than a second, the report five

# Kind of call, how it goes wrong, errno. A full disk, a broken one, one that refuses.
SYSTEM_FAULTS = [
    ("write", "fail", errno.ENOSPC),
    ("write", "stay", errno.EIO),
    ("write", "short", 0),
    ("sync", "fail", errno.EIO),
    ("rename", "fail", errno.EACCES),
    ("link", "fail", errno.EPERM),
    ("open", "fail", errno.EMFILE),
    ("open", "stay", errno.EROFS),
    ("close", "fail", errno.EIO),
    ("truncate", "fail", errno.ENOSPC),
    ("folder", "fail", errno.ENOSPC),
    ("remove", "fail", errno.EACCES),
    ("read", "fail", errno.EIO),
    ("read", "short", 0),
    ("thread", "fail", errno.EAGAIN),
    ("thread", "stay", errno.EAGAIN),
    ("any", "kill", 0),
]


@dataclass(frozen=True)
class Fault:
    kind: str  # of tests/fault/inject.c, or "memory"
    how: str = "fail"
    error: int = 0
    at: int = 1

    def __str__(self) -> str:
        name = f" {errno.errorcode[self.error]}" if self.error else ""
        return f"{self.kind} {self.at} {self.how}{name}"


@dataclass
class Operation:
    """A command that writes into `out`, a folder or a file."""

    name: str
    command: list[str]
    before: Path | None = None  # what lies at `out` when it starts; of a file: an older one
    repair: list[list[str]] = field(default_factory=list)  # the first of them that is not refused mends it
    judged: tuple[str, ...] = ()  # files of the folder that must be the same bytes; of a file: ()
    threads: int = 1


@dataclass
class Outcome:
    code: int
    errors: str
    calls: int


class Faults:
    """Programs and operations in a folder of their own."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = str(program), folder
        self.inject, self.memory = folder / "inject", folder / "fail_malloc.so"
        here = ROOT / "tests" / "fault"
        subprocess.run(["cc", "-O1", "-o", self.inject, here / "inject.c"], check=True)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.memory, here / "fail_malloc.c"], check=True)
        self.operations = {o.name: o for o in self._operations()}
        self.reference: dict[str, dict[str, bytes]] = {}

    def can_trace(self) -> bool:
        return subprocess.run([self.inject, "-h", "count", "--", "true"], capture_output=True).returncode == 0

    # --- what is run

    def _garra(self, *arguments: object) -> None:
        subprocess.run([self.program, *map(str, arguments)], cwd=ROOT, check=True, capture_output=True, timeout=TIMEOUT)

    def _operations(self) -> Iterator[Operation]:
        sphere = str(ROOT / "data/scenarios/three_puma_sphere.toml")
        quiet = ["--no-report", "--quiet"]
        run = ["run", sphere, "--samples", "3072", "--set", "sampling.chunk=1024", *quiet, "-o", "{out}", "--threads"]
        resume = ["resume", "{out}", *quiet, "--threads"]
        whole, half, old = self.folder / "whole", self.folder / "half", self.folder / "old.h5"
        self._garra(*[a.format(out=whole) for a in run], 1)
        shutil.copytree(whole, half)
        for name in ("summary.json", "results.h5", "chunks/000001", "chunks/000002"):
            (half / name).unlink()
        shutil.rmtree(half / "failures")
        old.write_bytes(b"the file of before")
        states, problems = self._inputs()

        judged = ("summary.json", "results.h5", "grasp.h5", "chunks/000000", "chunks/000001", "chunks/000002")
        for threads in (1, 3):
            again = [[*resume, "1"], [*run, "1"]]
            more = "" if threads == 1 else " in threads"
            yield Operation("run" + more, [*run, str(threads)], None, again, judged, threads)
            yield Operation("resume" + more, [*resume, str(threads)], half, again, judged, threads)
        for name, words in {
            "contact solve": ["contact", "solve", problems],
            "chain eval": ["chain", "eval", "puma560", states, "--outputs", "mass_matrix,gravity,pose"],
            "chain simulate": ["chain", "simulate", "puma560", states, "--duration", "0.01", "--output-interval", "0.005"],
        }.items():
            for threads in (1, 3):
                command = [*map(str, words), "-o", "{out}", "--threads", str(threads)]
                yield Operation(name + ("" if threads == 1 else " in threads"), command, old, [command], (), threads)
        report = ["report", "{out}"]
        yield Operation("report", report, whole, [report], ("summary.json", "results.h5", "report.html"))

    def _inputs(self) -> tuple[Path, Path]:
        rng = np.random.default_rng(7)
        states, problems = self.folder / "states.h5", self.folder / "problems.h5"
        with h5py.File(states, "w") as file:
            file["q"], file["qd"] = rng.uniform(-1, 1, (5000, 6)), rng.uniform(-1, 1, (5000, 6))
        root = rng.normal(size=(5000, 6, 6))
        with h5py.File(problems, "w") as file:
            file["A"], file["b"] = root @ root.transpose(0, 2, 1) + np.eye(6), rng.normal(size=(5000, 6))
            file["mu"] = rng.uniform(0.2, 0.9, (5000, 2))
        return states, problems

    # --- running with a fault

    def _start(self, command: list[str], out: Path, fault: Fault | None) -> Outcome:
        words = [self.program, *(a.format(out=out) for a in command)]
        counted = self.folder / f"calls-{os.getpid()}"
        counted.unlink(missing_ok=True)
        variables = dict(os.environ)
        if fault and fault.kind == "memory":
            variables |= {"LD_PRELOAD": str(self.memory), "FAULT_AT": str(fault.at), "FAULT_COUNT": str(counted)}
            variables["FAULT_SIZE"] = str(LARGE)
        elif fault:
            flags = ["-k", fault.kind, "-h", fault.how, "-n", fault.at, "-e", fault.error, "-c", counted]
            words = [str(self.inject), *map(str, flags), "--", *words]
        try:
            done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return Outcome(-99, "it hangs", 0)
        calls = int(counted.read_text()) if counted.exists() else 0
        return Outcome(done.returncode, done.stderr.decode(errors="replace"), calls)

    def _lay_out(self, operation: Operation, out: Path) -> None:
        if out.is_dir():
            shutil.rmtree(out)
        for file in (out, *out.parent.glob(f"{out.name}.garra-*")):  # the latter left by a killed one
            file.unlink(missing_ok=True)
        if operation.before and operation.before.is_dir():
            shutil.copytree(operation.before, out)
        elif operation.before:
            shutil.copy(operation.before, out)

    def _place(self, operation: Operation) -> Path:
        return self.folder / f"{operation.name.replace(' ', '-')}-{os.getpid()}"

    def _bytes(self, operation: Operation, out: Path) -> dict[str, bytes]:
        """What is compared; a file that is not there is no bytes."""
        files = {name: out / name for name in operation.judged} or {out.name.split("-")[0]: out}
        return {name: file.read_bytes() if file.is_file() else b"" for name, file in files.items()}

    def expected(self, operation: Operation) -> dict[str, bytes]:
        if operation.name not in self.reference:
            out = self._place(operation)
            self._lay_out(operation, out)
            done = self._start(operation.command, out, None)
            assert done.code == 0, done.errors
            self.reference[operation.name] = self._bytes(operation, out)
        return self.reference[operation.name]

    def calls(self, operation: Operation, kind: str) -> int:
        """How many calls of this kind the operation makes."""
        out = self._place(operation)
        self._lay_out(operation, out)
        fault = Fault(kind, at=0) if kind == "memory" else Fault(kind, "count")
        return self._start(operation.command, out, fault).calls

    def cases(self, operation: Operation, most: int) -> Iterator[Fault]:
        """Of every kind of fault at most so many calls, evenly spread; the first and the last one among them."""
        for kind, how, error in [*SYSTEM_FAULTS, ("memory", "fail", 0)]:
            calls = self.calls(operation, kind)
            for at in sorted({round(x) for x in np.linspace(1, calls, min(most, calls))}):
                yield Fault(kind, how, error, at)

    # --- what must hold

    def judge(self, operation: Operation, fault: Fault) -> list[str]:
        """What is wrong after this fault: nothing."""
        expected, out = self.expected(operation), self._place(operation)
        self._lay_out(operation, out)
        done = self._start(operation.command, out, fault)
        wrong = []
        if done.code not in DOCUMENTED and not (fault.how == "kill" and done.code == KILLED):
            wrong.append(f"exit code {done.code}: {done.errors[-300:]}")
        if INTERNAL.search(done.errors) and not PYTHONS_OWN.search(done.errors):
            wrong.append(f"says {INTERNAL.search(done.errors)[0]!r}: {done.errors[-300:]}")
        if done.code not in (0, KILLED) and not done.errors.strip():
            wrong.append(f"exit code {done.code} without a message")
        got = self._bytes(operation, out)
        if done.code == 0 and got != expected:
            wrong.append(f"exit code 0, but {self._differ(got, expected)} differ")
        if not operation.judged and operation.before and list(got.values())[0] not in (
            operation.before.read_bytes(),
            *expected.values(),
        ):
            wrong.append("the file is neither the old one nor the new one")
        if done.code not in (KILLED, NO_MEMORY):  # 6 may end the program at once, too: what it leaves is of a dead process
            wrong += self._leftovers(out, fault)
        if done.code != 0:
            wrong += self._repair(operation, out, expected)
        return wrong

    def _leftovers(self, out: Path, fault: Fault) -> list[str]:
        if fault.kind == "remove":  # what may not be removed stays
            return []
        beside = out.parent.glob(f"{out.name}.garra-*")
        found = [p.name for p in (*out.rglob("*"), *beside) if ".part" in p.name or p.name == "garra.lock"]
        return [f"left behind: {', '.join(found)}"] if found else []

    def _repair(self, operation: Operation, out: Path, expected: dict[str, bytes]) -> list[str]:
        said = ""
        if operation.judged and not (out / "scenario.toml").exists():
            # No run yet (docs/reference/run-folder.md): another folder, if this is not empty.
            shutil.rmtree(out, ignore_errors=True)
        for command in operation.repair:
            done = self._start(command, out, None)
            said += f"\n{command[0]}: {done.code} {done.errors[-200:]}"
            if done.code == 0:
                got = self._bytes(operation, out)
                wrong = [] if got == expected else [f"afterwards {self._differ(got, expected)} differ"]
                # A single file has nobody who looks for what a killed program has left beside it.
                return wrong + (self._leftovers(out, Fault("any")) if operation.judged else [])
        return [f"nothing mends it: {said}"]

    @staticmethod
    def _differ(got: dict[str, bytes], expected: dict[str, bytes]) -> str:
        return ", ".join(name for name in expected if got[name] != expected[name])
