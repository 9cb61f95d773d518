"""Arguments that are no numbers of the needed kind: each is refused with its name and a remedy, wherever it comes in."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()

from garra import arguments, contact, lcp, mncp, singularity  # noqa: E402
from garra.batch import Batch  # noqa: E402
from garra.options import accept_options  # noqa: E402

A, B, MU = np.eye(9), -np.ones(9), np.full(3, 0.5)
MASKED = np.ma.masked_array(B, mask=[1] + [0] * 8)
DAYS = np.arange("2026-01-01", "2026-01-10", dtype="datetime64[D]")
PUMA = garra.models.puma560()
SET = {"points": [[[0.1, 0, 0], [-0.1, 0, 0]]], "normals": [[[-1.0, 0, 0], [1, 0, 0]]], "friction": 0.5, "mass": 0.1}
NO_NUMBERS = [
    (MASKED, "b has masked elements: leave them out"),
    (DAYS, "b has dates: give numbers"),
    (DAYS - DAYS[0], "b has durations: give numbers"),
    ([f"{x}" for x in B], "b is text: give numbers"),
    ([b"1"] * 9, "b is text: give numbers"),
    (np.array(["1"] * 9, dtype=object), "b is text: give numbers"),
    ([None] * 9, "b is no array of numbers"),
    ([{}] * 9, "b is no array of numbers"),
    (B + 0j, "b is complex"),
]


@pytest.mark.parametrize(("value", "said"), NO_NUMBERS, ids=[said for _, said in NO_NUMBERS])
def test_arrays_of_something_else_are_refused(value, said):
    with pytest.raises(TypeError, match=said):
        contact.solve(A, value, MU)


@pytest.mark.parametrize(
    ("keywords", "error", "said"),
    [
        ({"friction": -1}, garra.UsageError, "friction = -1"),
        ({"friction": float("nan")}, garra.UsageError, "friction = nan"),
        ({"mass": -0.1}, garra.UsageError, "mass = -0.1"),
        ({"slide": "2 mm"}, TypeError, "slide is text, '2 mm': give a number in SI units"),
        ({"friction": {"normal": [0.5, 0.1]}}, TypeError, r"friction is a dictionary.*garra.normal\(0.5, 0.1\)"),
    ],
)
def test_one_number_for_a_ranking_is_checked(keywords, error, said):
    with pytest.raises(error, match=said):
        garra.grasp.rank(**SET | keywords, samples=1)


def test_missing_friction_of_a_problem_is_named():
    with pytest.raises(TypeError, match="mu is None: give one number"):
        contact.solve(A, B, None)


def test_numbers_of_other_kinds_are_numbers():
    expected = contact.solve(A, B, MU).c
    without_mask = np.ma.masked_array(B, mask=np.zeros(9))
    others = [B.astype(np.float32), B.astype(int), B.tolist(), [Fraction(-1)] * 9, [Decimal(-1)] * 9, without_mask]
    for b in others:
        assert (contact.solve(A, b, MU).c == expected).all()


def rank(**more):
    return garra.grasp.rank(**{**SET, "samples": 64, **more})


# Where arrays come in that no Batch brings into its form.
PLACES = {
    "c": lambda x: contact.check_solution(A, B, MU, x),
    "W": lambda x: contact.is_resisted(x, np.zeros(6), MU),
    "w": lambda x: contact.is_resisted(np.zeros((6, 9)), x, MU),
    "length": lambda x: contact.is_resisted(np.zeros((6, 9)), np.zeros(6), MU, length=x),
    "times": lambda x: PUMA.simulate(np.zeros(6), times=x),
    "point": lambda x: PUMA.evaluate(np.zeros(6), outputs="pose", point=x),
    "gravity_vector": lambda x: setattr(garra.models.puma560(), "gravity_vector", x),
    "q": lambda x: singularity.analyze(PUMA, x),
    "points": lambda x: rank(points=x),
    "normal": lambda x: rank(normals=x),
    "mass": lambda x: rank(mass=x),
    "wrenches": lambda x: rank(wrenches=x),
    "mobility": lambda x: rank(mobility=x),
    "approach": lambda x: garra.grasp.propose("sphere:0.03", approach=x),
    "vertices": lambda x: garra.grasp.propose((x, [[0, 1, 2]])),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("value", [MASKED, DAYS, ["1", "2", "3"]], ids=["masked", "dates", "texts"])
def test_arrays_are_refused_wherever_they_come_in(name, value):
    with pytest.raises(TypeError, match=rf"^{name} (has|is)"):
        PLACES[name](value)


@pytest.mark.parametrize("mode", [256, 257, -255, 1.9, 2, np.nan])
def test_a_mode_is_0_or_1(mode):
    modes = np.zeros((2, 3))
    modes[1, 2] = mode
    for call in (contact.solve, partial(contact.check_solution, c=np.zeros(9))):
        with pytest.raises(garra.UsageError, match=r"mode has .*which means nothing\nUse 0 \(may roll\), 1 \(slides\)"):
            call(A, B, MU, mode=modes, slip_velocity=np.ones((3, 2)))
    found = contact.solve(A, B, MU)
    with pytest.raises(garra.UsageError, match="mode has"):
        contact.gradients(A, MU, found, np.ones(9), modes)


def test_a_state_is_one_that_solve_gives():
    found = contact.solve(A, B, MU)
    object.__setattr__(found, "state", [256, 0, 0])
    with pytest.raises(garra.UsageError, match="state has 256, which means nothing"):
        contact.gradients(A, MU, found, np.ones(9))


def test_mode_and_slip_velocity_go_together():
    with pytest.raises(garra.UsageError, match="mode says that contacts slide\nGive slip_velocity"):
        contact.solve(A, B, MU, mode=[0, 0, 1])
    with pytest.raises(garra.UsageError, match="slip_velocity without mode\nGive mode"):
        contact.solve(A, B, MU, slip_velocity=np.ones((3, 2)))
    assert contact.solve(A, B, MU, mode=[0, 0, 0]).converged


PENDULUM = np.zeros(6)
WHERE = {
    "contact.solve": partial(contact.solve, A, B, MU),
    "contact.check_solution": partial(contact.check_solution, A, B, MU, np.zeros(9)),
    "contact.forces": partial(contact.forces, A, B, MU),
    "contact.is_resisted": partial(contact.is_resisted, np.zeros((6, 9)), np.zeros(6), MU),
    "contact.gradients": partial(contact.gradients, A, MU, contact.solve(A, B, MU), B),
    "lcp.solve": partial(lcp.solve, np.eye(2), np.ones(2)),
    "mncp.linear": partial(mncp.linear, np.eye(2), np.ones(2)),
    "evaluate": partial(PUMA.evaluate, PENDULUM, outputs="pose"),
    "simulate": partial(PUMA.simulate, PENDULUM, times=0.01),
    "inverse_kinematics": partial(PUMA.inverse_kinematics, np.eye(4)),
    "analyze": partial(singularity.analyze, PUMA, PENDULUM),
    "measure": partial(singularity.measure, PUMA, PENDULUM),
    "nearest": partial(singularity.nearest, PUMA, PENDULUM),
    "rank": rank,
    "propose": partial(garra.grasp.propose, "sphere:0.03", n=3),
}
PLACED = [name for name in WHERE if name not in ("contact.check_solution", "inverse_kinematics", "analyze")]
OPTIONS = {
    "tolerance": (
        [np.nan, -1, 0, np.inf],
        ["contact.solve", "contact.check_solution", "contact.forces", "lcp.solve", "mncp.linear", "inverse_kinematics"],
    ),
    "max_iterations": ([-1, 2**40], ["contact.solve", "contact.forces", "mncp.linear", "inverse_kinematics"]),
    "threads": ([-1, 2**31], PLACED),
    "starts": ([-1, 0], ["mncp.linear", "inverse_kinematics"]),
    "seed": ([-1, 2**64], ["inverse_kinematics", "rank", "propose"]),
    "step": ([np.nan, 0, -1, np.inf], ["simulate", "analyze"]),
    "tolerance": ([np.nan, 0, -1, np.inf], ["analyze", "nearest"]),
    "length": ([np.nan, 0, -1, np.inf], ["measure", "nearest"]),
    "samples": ([0, -1], ["rank"]),
    "friction_samples": ([-1], ["rank"]),
    "radius_samples": ([-2], ["rank"]),
    "best": ([-1], ["rank"]),
    "tilt": ([np.nan, -1], ["rank"]),
    "slide": ([np.nan, np.inf], ["rank"]),
    "command": ([np.nan, np.inf], ["rank"]),
    "imbalance": ([np.nan], ["rank"]),
    "confidence": ([np.nan, 2], ["rank"]),
    "n": ([0, -1], ["propose"]),
    "friction": ([np.nan], ["propose"]),
    "mass": ([np.nan, 0], ["propose"]),
    "device": (["cpu\0", "CPU", "", 3, None], PLACED),
}
CASES = [(where, name, value) for name, (values, places) in OPTIONS.items() for where in places for value in values]


@pytest.mark.parametrize(("where", "name", "value"), CASES, ids=[f"{w}-{n}-{v!r}" for w, n, v in CASES])
def test_an_option_out_of_its_range_is_refused_by_its_name(where, name, value):
    with pytest.raises(garra.UsageError, match=rf"^{name} = .*\n"):
        WHERE[where](**{name: value})


@pytest.mark.parametrize("where", ["contact.solve", "mncp.linear", "inverse_kinematics"])
@pytest.mark.parametrize("value", [1.5, "7", None, np.nan])
def test_a_whole_number_is_whole(where, value):
    with pytest.raises(TypeError, match=r"^max_iterations = .*: a whole number is needed"):
        WHERE[where](max_iterations=value)


def test_numbers_of_numpy_are_options():
    found = contact.solve(A, B, MU, tolerance=np.float32(1e-6), max_iterations=np.int64(50), threads=np.uint8(1))
    assert found.converged


@pytest.mark.parametrize("value", ["1e-8", b"1", np.ones(2), 1j, None])
def test_a_number_is_one_number(value):
    with pytest.raises(TypeError, match="^tolerance (is|has) "):
        contact.solve(A, B, MU, tolerance=value)


class Spent:
    """An array whose memory has been handed over already, or whose library fails."""

    def __init__(self, problem: Exception, device: tuple[int, int] = (1, 0)):
        self.problem, self.device = problem, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        raise self.problem


@pytest.mark.parametrize("problem", [BufferError("spent"), RuntimeError("spent"), KeyError("spent")])
def test_what_dlpack_cannot_hand_over_is_said_as_it_is(problem):
    with pytest.raises(TypeError, match=r"b cannot be read by DLPack \(.*spent.*\): give a NumPy array"):
        contact.solve(A, Spent(problem), MU)
    with pytest.raises(TypeError, match="b is on a device whose arrays are not taken"):
        contact.solve(A, Spent(problem, (8, 0)), MU)


@pytest.mark.parametrize("load", [garra.load, garra.platform.load, garra.grasp.propose])
def test_a_name_that_is_no_text_is_refused_in_words(load):
    with pytest.raises(garra.UsageError, match="the file's name is not UTF-8"):
        load("a\udcff.toml")
    with pytest.raises(garra.UsageError, match="a file's name has no NUL"):
        load("a\0.toml")


def test_rows_of_grasps_are_whole_numbers():
    points = {"points": np.zeros((2, 3)), "normals": np.ones((2, 3))}
    with pytest.raises(garra.UsageError, match="first has numbers that are not whole"):
        garra.grasp.GraspSet.from_arrays(**points, first=[0, 1.9])
    assert len(garra.grasp.GraspSet.from_arrays(**points, first=[0.0, 2.0])) == 1


def test_a_batch_says_which_array():
    with pytest.raises(ValueError, match="b is no array of numbers: .*inhomogeneous"):
        Batch(("b", [[1.0], [1.0, 2.0]], (1,)))
    assert arguments.numbers("b", [True, False]).tolist() == [1, 0]


@dataclass(frozen=True)
class First:
    size: float = 1.0
    kind: str = "first"


@dataclass(frozen=True)
class Second:
    size: float = 2.0
    color: str = "blue"


@accept_options(first=First, second=Second)
def both(scale: float, first: First | None = None, *, second: Second | None = None) -> tuple:
    return scale, first, second


def test_keywords_override_options() -> None:
    assert both(3.0) == (3.0, First(), Second())
    assert both(3.0, First(size=5.0, kind="given")) == (3.0, First(5.0, "given"), Second())
    # The keyword counts, in whatever order both are written; fields that it does not name stay those of the options.
    assert both(3.0, First(size=5.0, kind="given"), size=7.0) == (3.0, First(7.0, "given"), Second())
    assert both(size=7.0, first=First(5.0, "given"), scale=3.0) == (3.0, First(7.0, "given"), Second())
    # Also one that equals the default of its class.
    assert both(3.0, First(size=5.0), size=1.0)[1] == First(1.0)
    # A name of both classes belongs to the first.
    assert both(3.0, size=7.0, second=Second(size=9.0, color="red")) == (3.0, First(7.0), Second(9.0, "red"))
    assert both(3.0, color="red")[2] == Second(2.0, "red")
    # The given options are not changed.
    given = First(size=5.0)
    both(3.0, given, size=7.0)
    assert given == First(5.0)
    for wrong in ({"shape": 1}, {"first": Second()}):
        with pytest.raises(TypeError, match="both"):
            both(3.0, **wrong)


def test_keywords_of_a_ranking_override_its_options() -> None:
    grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=2, mass=0.3)
    options = garra.grasp.RankOptions(friction=0.5, samples=20, seed=3)
    arrays = garra.grasp.GraspArrays(mass=0.5)
    ranking = garra.grasp.rank(grasps, options, arrays=arrays, samples=10, mass=0.2)
    assert ranking.samples.tolist() == [10, 10] and ranking.uncertain["seed"] == 3
    # `mass` is a field of both classes and belongs to RankOptions: its number replaces the arrays'.
    assert ranking.candidates.arrays["mass"].tolist() == [0.2, 0.2]


def test_errors_of_calls_name_keywords_and_no_files() -> None:
    for name in ("cuda:99", "cuda,cuda", "scalar:9"):
        with pytest.raises(garra.Error, match=f'^device="{name}|^device="cuda"') as error:
            lcp.solve(np.eye(2), -np.ones(2), device=name)
        assert "--" not in str(error.value)
    for call in (
        lambda: contact.solve(np.eye(99), -np.ones(99), np.full(33, 0.5)),
        lambda: PUMA.evaluate(np.zeros(6), outputs="tau"),
        lambda: contact.solve(A, B, MU, method="lemke"),
    ):
        with pytest.raises(garra.UsageError):
            call()


def test_times_that_fall_are_named() -> None:
    platform = garra.platform.load("trepa_like")
    for call in (partial(platform.simulate, *platform.home), partial(PUMA.simulate, np.zeros(6), np.zeros(6))):
        with pytest.raises(garra.UsageError, match=r"times fall from 0\.1"):
            call(times=[0, 0.1, 0.05])
