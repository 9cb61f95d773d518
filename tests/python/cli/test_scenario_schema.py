"""The JSON Schema that `garra check --schema` prints, and the tables of docs/ that come from the same lists of fields."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib

import jsonschema
import pytest
from program import PROGRAM, ROOT, USAGE, garra

SCENARIOS = sorted((ROOT / "data/scenarios").glob("*.toml"))


def schema_of(*job: str) -> dict:
    return json.loads(garra("check", "--schema", *job).stdout)


JOBS = schema_of()["properties"]["job"]["enum"]


@pytest.fixture(scope="module")
def every_job() -> jsonschema.Draft7Validator:
    schema = schema_of()
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def tables_in(value, path=()):
    """Every table of a document with the path to it; not those in lists of swept keys or of joints, whose keys are free."""
    if isinstance(value, dict):
        if path[-1:] not in (("joints",), ("sweep",), ("lock",)):
            yield path, value
        for key, inner in value.items():
            yield from tables_in(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from tables_in(inner, (*path, index))


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda f: f.stem)
def test_what_ships_is_valid(file, every_job):
    document = tomllib.loads(file.read_text())
    assert [e.message for e in every_job.iter_errors(document)] == []
    jsonschema.Draft7Validator(schema_of(document["job"])).validate(document)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda f: f.stem)
def test_what_is_printed_is_valid(file, every_job):
    printed = tomllib.loads(garra("check", file, "--format", "toml").stdout)
    assert [e.message for e in every_job.iter_errors(printed)] == []


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda f: f.stem)
def test_a_misspelt_key_is_found_in_every_table_of_its_own(file, every_job):
    document = tomllib.loads(file.read_text())
    for path, table in tables_in(document):
        if any(isinstance(part, int) for part in path) and path[0] not in ("contact", "slice"):
            continue  # items of inline lists, such as poses, have a schema that is loose on purpose
        table["xyzzy"] = 1
        errors = list(every_job.iter_errors(document))
        del table["xyzzy"]
        assert errors, f"{file.name}: {path}"


FILES = [(ROOT / "data" / folder, kind) for folder, kind in (("robots", "robot_file"), ("platforms", "platform_file"))]
NAMED = [(file, kind) for folder, kind in FILES for file in sorted(folder.glob("*.toml"))]


@pytest.mark.parametrize("file, kind", NAMED, ids=lambda x: getattr(x, "stem", x))
def test_robots_and_platforms_have_a_schema_too(file, kind):
    rule = schema_of(kind)
    jsonschema.Draft7Validator.check_schema(rule)
    schema = jsonschema.Draft7Validator(rule)
    for text in (file.read_text(), garra("check", file, "--format", "toml").stdout):
        document = tomllib.loads(text)
        assert [e.message for e in schema.iter_errors(document)] == []
        for path, table in tables_in(document):
            if path == ("materials",) or "parts" in path:
                continue  # keys are names of the file's own; items of inline lists are loose on purpose
            table["xyzzy"] = 1
            assert list(schema.iter_errors(document)), f"{file.name}: {table}"
            del table["xyzzy"]


def test_bounds_and_choices_are_part_of_it():
    platform = jsonschema.Draft7Validator(schema_of("platform"))
    good = {"schema": 1, "job": "platform", "platform": {"model": "trepa_like"}}
    platform.validate(good)
    for table, key, bad in [
        ("payload", "mass", -1),
        ("path", "kind", "spine"),
        ("map", "points", [1, 2]),
        ("sampling", "chunk", 1000),
        ("sampling", "max_unsolved", 2),
        ("allowed", "force", 0),
        ("friction", "coulomb", {"normal": [1, 2], "uniform": [1, 2]}),
        ("output", "keep", "everything"),
    ]:
        assert list(platform.iter_errors({**good, table: {key: bad}})), f"{table}.{key}"
    assert list(platform.iter_errors({**good, "job": "grasp"}))
    assert list(platform.iter_errors({"schema": 1, "job": "platform"})), "[platform] is required"


@pytest.mark.parametrize(
    "job, path, bad",
    [
        ("grasp", ("hand", "finger", 0, "tool"), "wide"),
        ("grasp", ("hand", "finger", 0, "branch"), "ldx"),
        ("grasp", ("hand", "finger", 0, "ik"), "closed"),
        ("grasp", ("hand", "finger", 0, "base"), {"positon": [0, 0, 0]}),
        ("grasp", ("hand", "finger", 0, "torque_limit"), "files"),
        ("grasp", ("contact", 0, "face"), "+w"),
        ("grasp", ("contact", 0, "at"), [1, 2, 3]),
        ("grasp", ("contact", 0, "angle_sign"), 2),
        ("singularity", ("joints", "1"), {"uniform": [0]}),
        ("singularity", ("joints", "1"), {"grid": [0, 1], "points": 1}),
        ("singularity", ("slice", 0, "x"), {"joint": 1, "from": 0, "till": 1}),
        ("chain", ("sweep", "vary.damping"), []),
        ("chain", ("sweep", "vary.damping"), {"log": [1, 2], "points": 0}),
    ],
)
def test_places_fingers_joints_and_sweeps_are_described(job, path, bad):
    file = {"grasp": "four_finger_box", "singularity": "puma_singularities", "chain": "exoskeleton_damping"}[job]
    document = tomllib.loads((ROOT / f"data/scenarios/{file}.toml").read_text())
    at = document
    for key, following in zip(path, [*path[1:], None]):
        if following is None:
            at[key] = bad
        elif isinstance(at, dict) and key not in at:
            at[key] = [{"x": {"joint": 1, "from": 0, "to": 1}, "y": {"joint": 2, "from": 0, "to": 1}}]
        at = at[key]
    errors = list(jsonschema.Draft7Validator(schema_of(job)).iter_errors(document))
    assert {tuple(e.absolute_path)[: len(path)] for e in errors} == {path}


def test_defaults_stand_in_it():
    platform = schema_of("platform")["properties"]
    assert platform["path"]["properties"]["law"]["default"] == "quintic"
    assert platform["sampling"]["properties"]["samples"]["default"] == 100_000
    drive = schema_of("grasp")["properties"]["simulation"]["properties"]
    assert drive["drop"]["default"] == 0.05
    assert drive["drop_turn"]["default"] == pytest.approx(0.7853981633974483, abs=1e-15)


@pytest.mark.parametrize("job", [*JOBS, "robot_file", "platform_file"])
def test_every_key_is_described(job):
    def undescribed(schema, path=""):
        for name, inner in schema.get("properties", {}).items():
            if "description" not in inner and "anyOf" not in inner:
                yield f"{path}{name}"
            if path.count(".") < 2 and inner.get("additionalProperties") is False and "description" in inner:
                yield from undescribed(inner, f"{path}{name}.")

    inline = {"half_width", "axis", "angle", "force_radius", "torque_radius", "force_magnitude", "torque_magnitude"}
    inline |= {"position", "rpy", "quaternion", "axis_angle", "joint", "from", "to", "force", "torque"}
    missing = [key for key in undescribed(schema_of(job)) if key.split(".")[-1] not in inline]
    assert missing == []


def test_an_unknown_job_is_refused():
    said = garra("check", "--schema", "platfrom", expect=USAGE).stderr
    assert 'Did you mean "platform"?' in said


def test_the_build_wrote_the_scenario_classes_of_this_program(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools/scenario_classes.py", PROGRAM, tmp_path], check=True)
    package = ROOT / "python/garra/scenario"
    wanted = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert {"__init__.py", "schema.json", "renamed.json", *(f"{job}.py" for job in JOBS)} == wanted.keys()
    assert {name: (package / name).read_text() for name in wanted} == wanted


def test_git_has_nothing_that_the_build_writes():
    listed = subprocess.run(["git", "ls-files", "python/garra/scenario"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no Git here")
    assert {file.rpartition("/")[2] for file in listed.stdout.split()} == {"rules.py", "table.py"}


def test_the_pages_are_as_the_program_says():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/scenario_tables", PROGRAM, "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
