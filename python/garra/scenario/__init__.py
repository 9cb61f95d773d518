"""Scenarios as classes (docs/start/python.md): one module a job, generated from the one list of fields.

scenario = garra.scenario.Grasp(
    hand=garra.scenario.grasp.Hand(model="three_puma"),
    object=garra.scenario.grasp.Object(shape="sphere", radius="50 mm", mass=garra.normal(0.5, 0.02)),
    load=garra.scenario.grasp.Load(squeeze="8 N"),
)
garra.run(scenario, samples=10_000)
"""

from garra.scenario import chain, grasp, grasp_set, platform, platform_experiment, singularity
from garra.scenario.chain import Chain
from garra.scenario.grasp import Grasp
from garra.scenario.grasp_set import GraspSet
from garra.scenario.platform import Platform
from garra.scenario.platform_experiment import PlatformExperiment
from garra.scenario.singularity import Singularity
from garra.scenario.table import Scenario

__all__ = [
    "Chain",
    "Grasp",
    "GraspSet",
    "Platform",
    "PlatformExperiment",
    "Scenario",
    "Singularity",
    "chain",
    "grasp",
    "grasp_set",
    "platform",
    "platform_experiment",
    "singularity",
]
