"""The jobs that have a report: for each the module that checks its summary and the module that builds its page.

A new job is one row. Modules are named, not imported: the report of one job does not wait for the packages of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from garra.page import run_folder
from garra.page.run_folder import COUNT, TEXT, At, Run, check


@dataclass(frozen=True)
class Job:
    """Modules of the two functions that a job's report needs."""

    folder: str  # module with check_summary(summary, at), which raises DamagedFile
    report: str  # module with build(run) -> str, which raises RunError


# job, or job and study where a job has several kinds: as the summary names them
JOBS = {
    "grasp": Job("garra.grasp.folder", "garra.grasp.report"),
    "grasp, time": Job("garra.grasp_time.folder", "garra.grasp_time.report"),
    "grasp_set": Job("garra.grasp.ranking_folder", "garra.grasp.ranking_folder"),
    "chain": Job("garra.chain.folder", "garra.chain.report"),
    "singularity": Job("garra.singularity.folder", "garra.singularity.report"),
    "platform": Job("garra.platform.folder", "garra.platform.report"),
    "platform_climb": Job("garra.own.folder", "garra.platform.climb"),
    "platform_experiment": Job("garra.platform_experiment.folder", "garra.platform_experiment.report"),
}

# of a system that garra does not know (docs/howto/own-study.md): its summary names the event
OWN = Job("garra.own.folder", "garra.own.report")


def read(folder: str) -> Run:
    """The run in `folder`, found complete; raises RunError."""
    return run_folder.read(folder, check_summary)


def build(run: Run) -> str:
    """The report as HTML; raises RunError where a file that only this job has is missing or damaged."""
    return import_module(_job(run.summary).report).build(run)


def check_summary(summary: Any, at: At) -> None:
    """Raises DamagedFile where the summary is of no known job, misses a field or contradicts itself."""
    check(summary, {"schema": COUNT, "job": TEXT}, at)
    if summary["schema"] not in run_folder.SCHEMAS:
        raise at.key("schema").fail(f"is {summary['schema']}; this garra reads 1 and 2")
    if summary["job"] not in JOBS and "event" not in summary:
        *others, last = (f'"{name}"' for name in JOBS if "," not in name)
        raise at.key("job").fail(f'is "{summary["job"]}"; only {", ".join(others)} and {last} have a report')
    import_module(_job(summary).folder).check_summary(summary, at)


def _job(summary: dict[str, Any]) -> Job:
    return JOBS.get(f"{summary['job']}, {summary.get('study')}") or JOBS.get(summary["job"], OWN)
