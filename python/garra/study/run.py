"""Runs scenarios by the program `garra` and reads run folders (docs/reference/scenario.md,
docs/reference/run-folder.md)."""

from __future__ import annotations

import math
import re
import shutil
import signal
import subprocess
import tempfile
import warnings
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
from garra.page.figures import labeled
from garra.page.h5_tables import text
from garra.page.interval import clopper_pearson
from garra.page.run_folder import RunError, read_json, read_summary
from garra.study import campaign
from garra.study.progress import Progress, listener, record_of

if TYPE_CHECKING:
    import pandas
    import xarray
    from distributed import Client

    from garra.scenario import Scenario

# Exit codes that leave a finished run (docs/reference/scenario.md); 4: more unsolved samples than
# sampling.max_unsolved.
_FINISHED = (0, 1, 4)
_STOPPED = 75
_PIPES: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"}
_ERRORS = {2: _core.UsageError, 3: _core.FileError, 5: _core.InputOutputError, 6: _core.DeviceError}


@dataclass(frozen=True)
class Interval:
    """Confidence interval: low <= true value <= high.

    Examples
    --------
    >>> from garra.study.run import Interval
    >>> low, high = Interval(0.2, 0.4)
    >>> low, high
    (0.2, 0.4)
    """

    low: float
    high: float

    def __iter__(self) -> Any:
        return iter((self.low, self.high))


class Result:
    """Finished run: its folder and summary.json.

    `summary` is the whole file; properties such as `metrics["friction_margin"].quantiles` read parts of it.

    Parameters
    ----------
    folder : str or path
        Run folder.

    Raises
    ------
    garra.Error
        FileError or InputOutputError if summary.json is missing or damaged.

    Examples
    --------
    >>> from garra.files import data
    >>> result = garra.run(data("scenarios/three_puma_sphere.toml"), samples=20)
    >>> low, high = result.interval
    >>> print(result.probability, round(low, 3), round(high, 3))
    0.85 0.621 0.968
    >>> result.job, result.event, result.samples, result.outcomes["slipping"]
    ('grasp', 'held', 20, 1)
    >>> print(round(result.metrics["friction_margin"].mean, 3))
    0.334
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.summary: dict[str, Any] = read_summary(self.folder)
        except RunError as error:
            raise error_of(error) from None

    @property
    def job(self) -> str:
        """Job of the scenario, such as "grasp"."""
        return self.summary["job"]

    @property
    def title(self) -> str:
        """Title of the scenario, or an empty text."""
        return self.summary.get("title", "")

    @property
    def samples(self) -> int:
        """Number of computed samples; a stopping rule may make it smaller than requested."""
        return self.summary["samples"]

    @property
    def event(self) -> str:
        """Event of `probability`: "held" for grasps."""
        return self._event()[0].removeprefix("p_")

    def _event(self) -> tuple[str, dict[str, Any]]:
        """Name and table of the first probability in summary.json."""
        for name, value in self.summary.items():
            if isinstance(value, dict) and isinstance(value.get("low"), int | float) and "probability" in value:
                return value.get("name", name), value  # own systems call it "event", with a name
        raise AttributeError(f'a run of job = "{self.job}" has no probability')

    @property
    def probability(self) -> float:
        """Fraction of the decided samples in which the event occurs; NaN without a decided sample."""
        value = self._event()[1]["probability"]
        return math.nan if value is None else value

    @property
    def interval(self) -> Interval:
        """95 % interval of `probability` (Clopper-Pearson); unsolved samples widen it."""
        event = self._event()[1]
        return Interval(event["low"], event["high"])

    def proportion_ci(self, confidence_level: float = 0.95, method: str = "exact") -> Interval:
        """Confidence interval of `probability`; unsolved samples lower its lower end and raise its upper end.

        Parameters
        ----------
        confidence_level : float
            Between 0 and 1.
        method : str
            "exact" (Clopper-Pearson), "wilson" or "wilsoncc", as in scipy.stats.binomtest(...).proportion_ci(). The
            last two need SciPy.

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            For another method or level, and where `probability` is no share of all samples: the best of several
            designs or grasps, or levels of friction. `interval` is right there.
        AttributeError
            For a job without a probability.

        Examples
        --------
        >>> from garra.files import data
        >>> result = garra.run(data("scenarios/three_puma_sphere.toml"), samples=20)
        >>> wide = result.proportion_ci(0.99)
        >>> print(round(wide.low, 3), round(wide.high, 3))
        0.551 0.982
        """
        if method not in ("exact", "wilson", "wilsoncc"):
            raise ValueError(f'method = {method!r}, not "exact", "wilson" or "wilsoncc"')
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level = {confidence_level}, not between 0 and 1")
        words = self.summary.get("outcome_words", {})
        unsolved = sum(n for name, n in self.outcomes.items() if not words.get(name, {}).get("decided", name != "unsolved"))
        held = round(self.probability * (self.samples - unsolved)) if self.samples > unsolved else 0

        def interval(ends: Any, level: float) -> Interval:
            return Interval(
                ends(held, self.samples, level, method)[0], ends(held + unsolved, self.samples, level, method)[1]
            )

        if any(abs(a - b) > 1e-6 for a, b in zip(interval(_exact, 0.95), self.interval, strict=True)):
            raise ValueError("probability is no share of all samples (designs, levels, grasps); use interval")
        return interval(_exact if method == "exact" else _scipys, confidence_level)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the scenario, such as a torque that is cut off at its limit; of manifest.json."""
        try:
            return read_json(self.folder / "manifest.json", "run the study again").get("warnings", [])
        except RunError as error:
            raise error_of(error) from None

    @property
    def outcomes(self) -> dict[str, int]:
        """Samples of each outcome."""
        return self.summary["outcomes"]

    @property
    def metrics(self) -> dict[str, SimpleNamespace]:
        """Metrics by name: unit, label, meaning, mean, sd, quantiles, low, high, counts (docs/reference/run-folder.md,
        "distribution")."""
        return {name: SimpleNamespace(**value) for name, value in self.summary.get("metrics", {}).items()}

    def to_pandas(self) -> pandas.DataFrame:
        """Stored samples as rows, by sample index: outcome, residual, metrics, inputs. Needs pandas.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        OSError
            If the run has no results.h5.

        Examples
        --------
        >>> result.to_pandas()["outcome"].value_counts()  # doctest: +SKIP
        """
        import h5py

        pandas = import_pandas()
        with h5py.File(self.folder / "results.h5") as file:
            columns: dict[str, Any] = {}
            for name, data in file.items():
                values = data[()]
                if values.ndim == 1:
                    columns[name] = values
                else:
                    parts = data.attrs.get("names")
                    for i in range(values.shape[1]):
                        part = text(parts[i]) if parts is not None else f"{name}[{i}]"
                        columns[part] = values[:, i]
            if "outcome" in file and "names" in file["outcome"].attrs:
                names = [text(n) for n in file["outcome"].attrs["names"]]
                columns["outcome"] = pandas.Categorical.from_codes(columns["outcome"].astype(int), names)
        index = columns.pop("index", None)
        return pandas.DataFrame(columns, index=None if index is None else pandas.Index(index, name="sample"))

    def to_xarray(self) -> xarray.Dataset:
        """to_pandas() as a dataset over `sample`, with title, job and seed of the scenario as attributes.

        Needs pandas and xarray.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        OSError
            If the run has no results.h5.

        Examples
        --------
        >>> result.to_xarray()["friction_margin"].mean()  # doctest: +SKIP
        """
        attributes = {key: self.summary[key] for key in ("title", "job", "seed") if key in self.summary}
        frame = self.to_pandas()
        if "outcome" in frame:
            frame = frame.assign(outcome=frame["outcome"].astype(str))
        return frame.to_xarray().assign_attrs(attributes)

    @property
    def plot(self) -> Plots:
        """Figures on matplotlib axes: plot.outcomes(), and a function per metric such as plot.friction_margin()."""
        return Plots(self)

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Path of report.html, which is made if missing and copied to `path` if given.

        Parameters
        ----------
        path : str or path, optional
            Copy of the page.

        Returns
        -------
        Path
            The copy, or the page in the run folder.

        Raises
        ------
        garra.Error
            FileError or InputOutputError if the run folder is damaged.
        OSError
            If `path` cannot be written.

        Examples
        --------
        >>> result.report("grasp.html")  # doctest: +SKIP
        """
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
        """Card for notebooks: the probability and its interval between 0 and 1."""
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
    """Figures on given or new matplotlib axes, which are returned. plot.NAME(ax=None) shows the metric NAME.

    Examples
    --------
    >>> ax = result.plot.friction_margin()  # doctest: +SKIP
    """

    of: Result

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.of.metrics:
            raise AttributeError(f"no metric is called {name!r}; there are {', '.join(self.of.metrics)}")
        return partial(self.metric, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.of.metrics})

    def metric(self, name: str, ax: Any = None) -> Any:
        """Histogram of a metric.

        Parameters
        ----------
        name : str
            Name in Result.metrics.
        ax : matplotlib.axes.Axes, optional
            Default: of a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        KeyError
            For an unknown metric.

        Examples
        --------
        >>> ax = result.plot.metric("friction_margin")  # doctest: +SKIP
        """
        import numpy as np

        metric = self.of.metrics[name]
        counts = np.array(metric.counts, dtype=float)
        edges = np.linspace(metric.low, metric.high, len(counts) + 1)
        seen, total = np.flatnonzero(counts), counts.sum() + metric.below + metric.above + metric.undefined
        ax = axes(ax)
        if len(seen):
            first, last = seen[0], seen[-1] + 1
            ax.stairs(counts[first:last] / total, edges[first : last + 1], fill=True)
        ax.set_xlabel(labeled(metric.label, metric.unit))
        ax.set_ylabel("share of samples")
        return ax

    def outcomes(self, ax: Any = None) -> Any:
        """Bar chart of the fraction of each outcome that occurred.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Default: of a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> ax = result.plot.outcomes()  # doctest: +SKIP
        """
        found = {name: count for name, count in self.of.outcomes.items() if count}
        ax = axes(ax)
        ax.barh(list(found), [count / self.of.samples for count in found.values()])
        ax.invert_yaxis()
        ax.set_xlabel("share of samples")
        return ax


def import_pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError:
        raise ImportError("a data frame needs pandas: pip install garra[pandas]", name="pandas") from None


def axes(ax: Any) -> Any:
    """Given or new matplotlib axes."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def _exact(count: int, samples: int, level: float, _: str) -> tuple[float, float]:
    return clopper_pearson(count, samples, level)


def _scipys(count: int, samples: int, level: float, method: str) -> tuple[float, float]:
    from scipy.stats import binomtest

    found = binomtest(count, samples).proportion_ci(level, method)
    return float(found.low), float(found.high)


def _call(arguments: list[str], progress: Progress = False) -> tuple[int, list[str]]:
    """Exit code and warnings of the program, whose errors are exceptions. Ctrl-C also stops it, within a second."""
    show = listener(progress)
    arguments = [*arguments, "--progress", "none" if show is None else "json"]
    said = ""
    with subprocess.Popen([program.path(), *arguments], env=program.environment(), **_PIPES) as process:
        try:
            for line in process.stderr:
                record = record_of(line)
                if record is None:
                    said += line
                elif show is not None:
                    show(record)
        except BaseException:
            # Ctrl-C (outside of a terminal only this process receives it), or an exception of the listener: the program
            # stops and keeps its chunks.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    _raise(process.returncode, said, arguments[0])
    mark = "warning: "
    return process.returncode, [line.removeprefix(mark) for line in said.splitlines() if line.startswith(mark)]


def _do(arguments: list[str]) -> None:
    """Runs a short command and raises its messages as exceptions."""
    done = subprocess.run([program.path(), *arguments], env=program.environment(), **_PIPES)
    _raise(done.returncode, done.stderr, arguments[0])


def error_of(error: RunError) -> Exception:
    """Exception of garra for a file that a report cannot read."""
    return _ERRORS.get(error.exit_code, _core.Error)(str(error))


def _raise(code: int, said: str, command: str) -> None:
    if code not in (*_FINISHED, _STOPPED):
        message = said.strip().removeprefix("garra: ") or f"garra {command} ended with exit code {code}"
        raise _ERRORS.get(code, _core.Error)(message)


def _scenario_file(scenario: str | PathLike[str] | Mapping[str, Any] | Scenario, folder: Path) -> str:
    """File of the scenario; a mapping or an object of garra.scenario is written to `folder` first, and so is its Chain."""
    if isinstance(scenario, str | PathLike):
        return fspath(scenario)
    import tomli_w

    table = dict(scenario if isinstance(scenario, Mapping) else scenario.to_dict())
    robot = table.get("robot")
    if hasattr(robot, "to_toml"):
        model = folder / f"{re.sub('[ /]', '_', robot.name) or 'robot'}.toml"
        model.write_text(robot.to_toml(), encoding="utf-8")
        table["robot"] = {"file": str(model)}
    path = folder / "scenario.toml"
    path.write_text(tomli_w.dumps(table), encoding="utf-8")
    return str(path)


def _overrides(settings: Mapping[str, Any] | Iterable[str]) -> list[str]:
    """Settings as "key.path=value" with TOML values."""
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
    """Runs a study of any job.

    Ctrl-C, or an exception of the progress function, stops the run within a second and keeps its chunks;
    garra.open_run(out, resume=True) continues it. Warnings of the program are Python's; `warnings` lists them, too.

    Parameters
    ----------
    scenario : str, path, mapping or garra.scenario object
        Scenario file, or its content with absolute paths. The value of "robot" may be a garra.Chain.
    out : str or path, optional
        Run folder, new or empty; default: a temporary folder that lives as long as the result.
    samples, seed : int, optional
        Override the scenario.
    set : mapping or iterable of str
        Settings such as {"contacts.friction": 0.6} or "contacts.friction=0.6".
    device : str
        "auto", "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all. Ignored with `client`.
    report : bool
        Make report.html.
    progress : bool or callable
        True: a progress bar (tqdm if installed). A function receives {"samples": ..., "of": ..., "low": ..., ...}.
    client : distributed.Client, optional
        dask client whose workers compute the run; needs `out` on a shared file system (docs/howto/campaigns.md).

    Returns
    -------
    Result

    Raises
    ------
    garra.Error
        FileError (file, line, key, remedy), UsageError, InputOutputError or DeviceError.

    Examples
    --------
    >>> from garra.files import data
    >>> result = garra.run(data("scenarios/three_puma_sphere.toml"), samples=20)
    >>> result
    <Result 'Three PUMA 560 fingers holding a sphere': P(held) = 0.85000 (95 %: 0.62107 to 0.96793), 20 samples>
    """
    if client is not None and out is None:
        raise _core.UsageError("client without out: give a run folder that the workers see")
    kept = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="garra-"))
    with tempfile.TemporaryDirectory(prefix="garra-") as scratch:
        arguments = [
            "run" if client is None else "submit",
            _scenario_file(scenario, Path(scratch)),
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
            code, warned = _call(arguments if report else [*arguments, "--no-report"], progress)
        except BaseException as error:
            if out is None:
                shutil.rmtree(kept, ignore_errors=True)
            if isinstance(error, _core.Error) and scratch in str(error):  # a file that is gone
                raise type(error)(str(error).replace(f"{scratch}/scenario.toml", "scenario")) from None
            raise
    if code == _STOPPED:
        raise _core.Error(f"stopped before the end; garra.open_run({str(kept)!r}, resume=True) goes on")
    result = _open_result(kept)
    if out is None:
        weakref.finalize(result, shutil.rmtree, kept, ignore_errors=True)
    for text in dict.fromkeys([*warned, *result.warnings]):
        warnings.warn(text, stacklevel=2)
    return result


def open_run(folder: str | PathLike[str], *, resume: bool = False, progress: Progress = False) -> Result:
    """Opens a run folder.

    Parameters
    ----------
    folder : str or path
        Run folder.
    resume : bool
        Compute missing chunks first.
    progress : bool or callable
        As in run().

    Returns
    -------
    Result

    Raises
    ------
    garra.Error
        InputOutputError if the folder holds no finished run; with `resume` as run().

    Examples
    --------
    >>> from garra.files import data
    >>> result = garra.run(data("scenarios/three_puma_sphere.toml"), tmp / "run", samples=20)
    >>> garra.open_run(tmp / "run").outcomes == result.outcomes
    True
    """
    if resume:
        _call(["resume", fspath(folder)], progress)
    elif not (Path(folder) / "summary.json").is_file():
        raise _core.InputOutputError(
            f"{fspath(folder)}: no summary.json: no run, or one that has not ended (resume=True)"
        )
    return _open_result(folder)


RESULTS: dict[str, type[Result]] = {}
"""Subclass of Result per job; the module of the job registers it on import."""
_ROOMS = {"grasp_set": "grasp.candidates"}


def _open_result(folder: str | PathLike[str]) -> Result:
    result = Result(folder)
    if result.job in _ROOMS:
        import_module(f"{__package__.partition('.')[0]}.{_ROOMS[result.job]}")
    kind = RESULTS.get(result.job)
    return kind(folder) if kind else result
