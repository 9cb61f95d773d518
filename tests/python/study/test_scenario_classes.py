"""garra.scenario: the classes that come from the list of fields."""

from __future__ import annotations

import tomllib

import garra
import numpy as np
import pytest
from garra import scenario as classes
from garra.scenario import Grasp, grasp
from program import ROOT

CLASSES = {kind._job: kind for kind in vars(classes).values() if hasattr(kind, "_job")}
SCENARIOS = sorted((ROOT / "data/scenarios").glob("*.toml"))
HAND = grasp.Hand(model="three_puma")
SPHERE = grasp.Object(shape="sphere", radius="50 mm", mass=0.5)
CONTACTS = grasp.Contacts(angle="30 deg", friction=garra.uniform(0.3, 0.8))


def absolute(value):
    """Files that a scenario names, from wherever it is read."""
    if isinstance(value, dict):
        return {k: str(ROOT / "data/scenarios" / v) if k == "file" else absolute(v) for k, v in value.items()}
    return [absolute(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda f: f.stem)
def test_every_scenario_that_ships_is_one_and_comes_back_as_it_was(file):
    document = absolute(tomllib.loads(file.read_text()))
    keys = {f"{key}_" if key in ("from", "lambda") else key: value for key, value in document.items()}
    scenario = CLASSES[keys.pop("job")](**{key: value for key, value in keys.items() if key != "schema"})
    assert tomllib.loads(scenario.to_toml()) == document


def test_it_runs_as_its_file_does(tmp_path):
    scenario = Grasp(hand=HAND, object=SPHERE, contacts=CONTACTS, load=grasp.Load(grip_force="8 N"))
    (tmp_path / "same.toml").write_text(scenario.to_toml())
    from_class, from_file = (garra.run(one, samples=2048) for one in (scenario, tmp_path / "same.toml"))
    assert from_class.summary == from_file.summary


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: grasp.Hand(model="four"), "hand.model = 'four': not 'three_puma' or 'fingers'"),
        (lambda: grasp.Hand(), "Hand without model"),
        (lambda: grasp.Hand(model="three_puma", base_distance=-1), "hand.base_distance = -1: not a number > 0"),
        (lambda: grasp.Held(imbalance="much"), "held.imbalance = 'much'"),
        (lambda: grasp.Sampling(samples=0), "sampling.samples = 0: not a whole number >= 1"),
        (lambda: grasp.Sampling(samples=True), "sampling.samples = True"),
        (lambda: grasp.Object(shape="box", size=(1, 2), mass=1), "object.size = [1, 2]"),
        (lambda: grasp.Simulation(duration=1, load=[{"kind": "ramp", "form": 1}]), "simulation.load.form: no such key"),
        (lambda: grasp.Contacts(friction=garra.uniform(0, 1, common=True)), "no such distribution"),
        (lambda: grasp.Object(shape="sphere", radius=-1, mass=0.5), "object.radius = -1: not "),
        (lambda: grasp.Object(shape="sphere", radius="-5 mm", mass=0.5), "object.radius = '-5 mm': not "),
        (lambda: grasp.Object(shape="sphere", radius=0.05, mass="-1 kg"), "object.mass = '-1 kg': not "),
        (lambda: grasp.Object(shape="sphere", radius=0.05, mass=garra.normal(-1, 0.1)), "object.mass = "),
        (lambda: grasp.Contacts(friction=-0.5), "contacts.friction = -0.5: not "),
        (lambda: grasp.Contacts(friction={"uniform": ["-0.1", 0.5]}), "contacts.friction = "),
    ],
)
def test_a_key_is_checked_when_its_table_is_made(made, said):
    with pytest.raises(garra.UsageError) as refused:
        made()
    assert said in str(refused.value)


def test_keys_are_given_by_name_and_misspelt_ones_refused():
    with pytest.raises(TypeError, match="modell"):
        grasp.Hand(modell="three_puma")
    with pytest.raises(TypeError, match="positional"):
        grasp.Hand("three_puma")


def test_what_keys_have_to_do_with_one_another_is_the_programs_to_say():
    with pytest.raises(garra.FileError) as refused:
        Grasp(hand=HAND, object=grasp.Object(shape="box", mass=1), contacts=CONTACTS, load=grasp.Load())
    assert "object.size: missing" in str(refused.value) and "Give the edges" in str(refused.value)


def test_arrays_and_words_of_python_are_taken():
    load = grasp.SimulationLoad(kind="ramp", force=np.array([0.0, 0, 1]), from_=0.1)
    assert load.to_dict() == {"kind": "ramp", "force": [0, 0, 1], "from": 0.1}
