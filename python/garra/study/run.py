"""Runs scenarios by the program `garra`, and reads what they leave (docs/reference/scenario.md,
docs/reference/run-folder.md)."""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from garra import _core, program
from garra.page.interval import clopper_pearson
from garra.renamed import with_new_names
from garra.study import campaign
from garra.study.progress import listener, record_of

if TYPE_CHECKING:
    import pandas
    import xarray
    from distributed import Client

    from garra.scenario import Scenario

# Exit codes that leave a finished run (docs/reference/scenario.md); 4: more unsolved samples than
# sampling.max_unsolved.
_FINISHED = (0, 1, 4)
_STOPPED = 75
Progress = bool | Callable[[dict[str, Any]], object]
_ERRORS = {2: _core.UsageError, 3: _core.FileError, 5: _core.InputOutputError, 6: _core.DeviceError}


@dataclass(frozen=True)
class Interval:
    """low <= true value <= high with the confidence asked for."""

    low: float
    high: float

    def __iter__(self) -> Any:
        return iter((self.low, self.high))


class Result:
    """A finished run: its folder, and summary.json in words.

    `summary` has all of it; `metrics["friction_margin"].quantiles` and the like read it by names.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self.summary: dict[str, Any] = with_new_names(
            json.loads((self.folder / "summary.json").read_text(encoding="utf-8")), "json"
        )

    @property
    def job(self) -> str:
        return self.summary["job"]

    @property
    def title(self) -> str:
        return self.summary.get("title", "")

    @property
    def samples(self) -> int:
        """Computed ones; fewer than asked for where a stop rule was met."""
        return self.summary["samples"]

    @property
    def event(self) -> str:
        """What `probability` is the probability of: "held" for grasps."""
        return self._event()[0].removeprefix("p_")

    def _event(self) -> tuple[str, dict[str, Any]]:
        """The headline of summary.json: its first probability."""
        for name, value in self.summary.items():
            if isinstance(value, dict) and isinstance(value.get("low"), int | float) and "probability" in value:
                return name, value
        raise AttributeError(f'a run of job = "{self.job}" has no probability')

    @property
    def probability(self) -> float:
        """Share of the decided samples; NaN where none is."""
        value = self._event()[1]["probability"]
        return math.nan if value is None else value

    @property
    def interval(self) -> Interval:
        """95 % interval of `probability` (Clopper-Pearson); unsolved samples widen it."""
        event = self._event()[1]
        return Interval(event["low"], event["high"])

    def proportion_ci(self, confidence_level: float = 0.95, method: str = "exact") -> Interval:
        """The interval for another confidence or by another method: "exact" (Clopper-Pearson), "wilson", "wilsoncc", as
        scipy.stats.binomtest(...).proportion_ci() names them (the last two need SciPy). Unsolved samples count against
        the lower end and for the upper one."""
        if method not in ("exact", "wilson", "wilsoncc"):
            raise ValueError(f'method = {method!r}, not "exact", "wilson" or "wilsoncc"')
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level = {confidence_level}, not between 0 and 1")
        unsolved = self.outcomes.get("unsolved", 0)
        held = round(self.probability * (self.samples - unsolved)) if self.samples > unsolved else 0
        ends = _exact if method == "exact" else _scipys
        low, _ = ends(held, self.samples, confidence_level, method)
        return Interval(low, ends(held + unsolved, self.samples, confidence_level, method)[1])

    @property
    def outcomes(self) -> dict[str, int]:
        """Samples of each outcome."""
        return self.summary["outcomes"]

    @property
    def metrics(self) -> dict[str, SimpleNamespace]:
        """By name: unit, label, meaning, mean, sd, quantiles, low, high, counts (docs/reference/run-folder.md,
        "distribution")."""
        return {name: SimpleNamespace(**value) for name, value in self.summary.get("metrics", {}).items()}

    def to_pandas(self) -> pandas.DataFrame:
        """The kept samples, one a row, by the index of the sample: outcome, residual, metrics, inputs."""
        import h5py
        import pandas

        with h5py.File(self.folder / "results.h5") as file:
            columns: dict[str, Any] = {}
            for name, data in file.items():
                values = data[()]
                if values.ndim == 1:
                    columns[name] = values
                else:
                    parts = data.attrs.get("names")
                    for i in range(values.shape[1]):
                        part = _text(parts[i]) if parts is not None else f"{name}[{i}]"
                        columns[part] = values[:, i]
            if "outcome" in file and "names" in file["outcome"].attrs:
                names = [_text(n) for n in file["outcome"].attrs["names"]]
                columns["outcome"] = pandas.Categorical.from_codes(columns["outcome"].astype(int), names)
        index = columns.pop("index", None)
        return pandas.DataFrame(columns, index=None if index is None else pandas.Index(index, name="sample"))

    def to_xarray(self) -> xarray.Dataset:
        """to_pandas() as a dataset over `sample`, with the scenario's title, job and seed as attributes."""
        attributes = {key: self.summary[key] for key in ("title", "job", "seed") if key in self.summary}
        frame = self.to_pandas()
        if "outcome" in frame:
            frame = frame.assign(outcome=frame["outcome"].astype(str))
        return frame.to_xarray().assign_attrs(attributes)

    @property
    def plot(self) -> Plots:
        """Figures on matplotlib axes: plot.outcomes(), plot.friction_margin() and so on for every metric."""
        return Plots(self)

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """The page report.html, made where it is not there yet; copied to `path`."""
        page = self.folder / "report.html"
        if not page.exists():
            _do(["report", str(self.folder)])
        return page if path is None else Path(shutil.copyfile(page, path))

    def __repr__(self) -> str:
        return f"<Result {self.title or self.job!r}: {self._headline()}, {self.samples:,} samples>"

    def _headline(self) -> str:
        try:
            low, high = self.interval
            return f"P({self.event}) = {self.probability:.5f} (95 %: {low:.5f} to {high:.5f})"
        except AttributeError:
            return self.job

    def _repr_html_(self) -> str:
        """A card for notebooks: the probability, and where its interval lies between 0 and 1."""
        try:
            low, high = self.interval
        except AttributeError:
            return f"<pre>{escape(repr(self))}</pre>"
        bar = (
            '<div style="position:relative;height:10px;background:#8884;border-radius:5px;margin:6px 0">'
            f'<div style="position:absolute;left:{100 * low:.3f}%;width:max(3px,{100 * (high - low):.3f}%);'
            'height:100%;background:#2a78d6;border-radius:5px"></div></div>'
        )
        shares = "".join(
            f"<tr><td>{escape(name)}</td><td style='text-align:right'>{count:,}</td></tr>"
            for name, count in self.outcomes.items()
            if count
        )
        return (
            f"<div style='max-width:32em'><b>{escape(self.title or self.job)}</b><br>{escape(self._headline())}"
            f"{bar}<table>{shares}</table></div>"
        )


@dataclass(frozen=True)
class Plots:
    """Figures on matplotlib axes, which are given or made, and returned. plot.NAME(ax=None): of each metric."""

    of: Result

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.of.metrics:
            raise AttributeError(f"no metric is called {name!r}; there are {', '.join(self.of.metrics)}")
        return partial(self.metric, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.of.metrics})

    def metric(self, name: str, ax: Any = None) -> Any:
        """Histogram of a metric."""
        import numpy as np

        metric = self.of.metrics[name]
        counts = np.array(metric.counts, dtype=float)
        edges = np.linspace(metric.low, metric.high, len(counts) + 1)
        seen = np.flatnonzero(counts)
        ax = _axes(ax)
        if len(seen):
            first, last = seen[0], seen[-1] + 1
            ax.stairs(counts[first:last] / counts.sum(), edges[first : last + 1], fill=True)
        ax.set_xlabel(metric.label if metric.unit == "1" else f"{metric.label} [{metric.unit}]")
        ax.set_ylabel("share of samples")
        return ax

    def outcomes(self, ax: Any = None) -> Any:
        """Share of each outcome that occurred."""
        found = {name: count for name, count in self.of.outcomes.items() if count}
        ax = _axes(ax)
        ax.barh(list(found), [count / self.of.samples for count in found.values()])
        ax.invert_yaxis()
        ax.set_xlabel("share of samples")
        return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def _exact(count: int, samples: int, level: float, _: str) -> tuple[float, float]:
    return clopper_pearson(count, samples, level)


def _scipys(count: int, samples: int, level: float, method: str) -> tuple[float, float]:
    from scipy.stats import binomtest

    found = binomtest(count, samples).proportion_ci(level, method)
    return float(found.low), float(found.high)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _call(arguments: list[str], progress: Progress = False) -> int:
    """Runs the program; its messages become exceptions. Ctrl-C reaches the program too, which stops within a second."""
    show = listener(progress)
    arguments = [*arguments, "--progress", "none" if show is None else "json"]
    process = subprocess.Popen(
        [program.path(), *arguments], env=program.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    said = ""
    try:
        for line in process.stderr:
            record = record_of(line)
            if record is None:
                said += line
            elif show is not None:
                show(record)
        process.wait()
    except BaseException:
        # Ctrl-C, which outside of a terminal came to this process alone, or an exception of the listener's: the program
        # stops, and keeps its chunks.
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    code = process.returncode
    _raise(code, said, arguments[0])
    return code


def _do(arguments: list[str]) -> None:
    """The same of a command that ends at once."""
    done = subprocess.run(
        [program.path(), *arguments], env=program.environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    _raise(done.returncode, done.stderr, arguments[0])


def _raise(code: int, said: str, command: str) -> None:
    if code not in (*_FINISHED, _STOPPED):
        message = said.strip().removeprefix("garra: ") or f"garra {command} ended with exit code {code}"
        raise _ERRORS.get(code, _core.Error)(message)


def _file_of(scenario: str | PathLike[str] | Mapping[str, Any] | Scenario, folder: Path) -> str:
    """The scenario's own file; a mapping, or what garra.scenario makes, is written down first."""
    if isinstance(scenario, str | PathLike):
        return fspath(scenario)
    import tomli_w

    table = scenario if isinstance(scenario, Mapping) else scenario.to_dict()
    path = folder / "scenario.toml"
    path.write_text(tomli_w.dumps(dict(table)), encoding="utf-8")
    return str(path)


def _overrides(settings: Mapping[str, Any] | Iterable[str]) -> list[str]:
    """ "key.path=value" of each setting, values as TOML has them."""
    if not isinstance(settings, Mapping):
        return list(settings)
    import tomli_w

    return [f"{key}={tomli_w.dumps({'x': value}).partition('=')[2].strip()}" for key, value in settings.items()]


def run(
    scenario: str | PathLike[str] | Mapping[str, Any] | Scenario,
    out: str | PathLike[str] | None = None,
    *,
    samples: int | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | Iterable[str] = (),
    device: str = "auto",
    threads: int = 0,
    report: bool = False,
    progress: Progress = False,
    client: Client | None = None,
) -> Result:
    """Runs a study of any job: a scenario file, or the same as a mapping or of garra.scenario (files that it names by
    absolute paths).

    out: the run folder, new or empty; None: a temporary one that goes with the result. set: {"contacts.friction": 0.6}.
    progress: True for a bar (tqdm's where it is installed), or a function that takes {"samples": ..., "of": ..., "low":
    ..., ...}. client: a dask.distributed client whose workers compute it; `out` is then needed, on a file system that all
    of them see, and `threads` has no meaning (docs/howto/campaigns.md). Ctrl-C, or an exception of that function, ends
    the run within a second and keeps what is there: garra.open_run(out, resume=True) goes on. Raises
    garra.FileError (file, line, key, remedy), garra.UsageError, garra.InputOutputError, garra.DeviceError.
    """
    if client is not None and out is None:
        raise _core.UsageError("client without out: give a run folder that the workers see")
    kept = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="garra-"))
    with tempfile.TemporaryDirectory(prefix="garra-") as scratch:
        arguments = [
            "run" if client is None else "submit",
            _file_of(scenario, Path(scratch)),
            "-o",
            str(kept),
            "--device",
            device,
        ]
        arguments += ["--threads", str(threads)] if threads else []
        arguments += ["--samples", str(samples)] if samples is not None else []
        arguments += ["--seed", str(seed)] if seed is not None else []
        for setting in _overrides(set):
            arguments += ["--set", setting]
        try:
            if client is not None:
                _do(arguments)
                campaign.work(kept, client, device=device, on_progress=listener(progress))
                arguments = ["resume", str(kept)]
            code = _call(arguments if report else [*arguments, "--no-report"], progress)
        except BaseException:
            if out is None:
                shutil.rmtree(kept, ignore_errors=True)
            raise
    if code == _STOPPED:
        raise _core.Error(f"stopped before the end; garra.open_run({str(kept)!r}, resume=True) goes on")
    result = _result_of(kept)
    if out is None:
        weakref.finalize(result, shutil.rmtree, kept, ignore_errors=True)
    return result


def open_run(folder: str | PathLike[str], *, resume: bool = False, progress: Progress = False) -> Result:
    """The result of a run folder; resume: computes what is missing first."""
    if resume:
        _call(["resume", fspath(folder)], progress)
    elif not (Path(folder) / "summary.json").is_file():
        raise _core.InputOutputError(
            f"{fspath(folder)}: no summary.json: no run, or one that has not ended (resume=True)"
        )
    return _result_of(folder)


RESULTS: dict[str, type[Result]] = {}
"""What a job's runs give where that is more than a Result: its room puts it here when it is imported."""
_ROOMS = {"grasp_set": "grasp.candidates"}


def _result_of(folder: str | PathLike[str]) -> Result:
    result = Result(folder)
    if result.job in _ROOMS:
        import_module(f"{__package__.partition('.')[0]}.{_ROOMS[result.job]}")
    kind = RESULTS.get(result.job)
    return kind(folder) if kind else result
