"""The program on a simulated GPU: the bytes of the processor's answers, and what it says when the GPU fails."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
import tomli_w
from program import PROGRAM, ROOT, STOPPED, garra

SIMULATED = Path(PROGRAM).parent / "garra-sim"
if not SIMULATED.is_file():
    pytest.skip("no program with a simulated GPU was built", allow_module_level=True)

NO_DEVICE = 6
SCENARIOS = ROOT / "data" / "scenarios"


def on_gpu(*arguments, expect=0, **environment):
    command = [SIMULATED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run(scenario, device, *more):
    return ("run", SCENARIOS / f"{scenario}.toml", "--no-report", "--device", device, *more)


def assert_same_bytes(scenario, samples, folder):
    """On a GPU and on the processor; keeps all samples."""
    folder.mkdir()
    (folder / "scenario.toml").write_text(tomli_w.dumps(scenario))
    keep = ("--samples", samples, "--no-report", "--set", "output.keep=all", "-o")
    on_gpu("run", folder / "scenario.toml", *keep, folder / "gpu", "--device", "cuda")
    garra("run", folder / "scenario.toml", *keep, folder / "cpu", "--device", "cpu")
    for name in ("summary.json", "results.h5"):
        assert (folder / "gpu" / name).read_bytes() == (folder / "cpu" / name).read_bytes()


@pytest.mark.parametrize(
    "scenario, samples",
    [
        ("three_puma_sphere", 3000),
        ("four_finger_box", 500),
        ("three_puma_pull", 64),
        ("papers_hand", 500),
        ("puma_singularities", 500),
        ("platform_climb", 64),
        ("platform_climb_trunk", 2),
        ("papers_sliding", 200),
    ],
)
def test_a_run_has_the_bytes_of_the_processor(scenario, samples, tmp_path):
    done = on_gpu(*run(scenario, "cuda", "--samples", samples, "-o", tmp_path / "gpu"))
    assert "simulated GPU (cuda:0)" in done.stdout
    garra(*run(scenario, "cpu", "--samples", samples, "-o", tmp_path / "cpu"))
    assert (tmp_path / "gpu" / "summary.json").read_bytes() == (tmp_path / "cpu" / "summary.json").read_bytes()
    device = json.loads((tmp_path / "gpu" / "manifest.json").read_text())["device"]
    assert device == "simulated GPU (cuda:0)"


@pytest.mark.parametrize(
    "scenario, samples, settings",
    [
        ("two_spheres", 200, ["duration=50 ms", "friction=[0.01, 0.1]", "restitution=0.3"]),
        ("lean_on_table", 70, ["duration=30 ms", "slip=1 um", "drop=0.1 mm"]),
        ("three_boxes", 40, ["duration=3 ms"]),  # redundant: the search for forces at rest runs on the GPU, too
    ],
)
def test_a_group_in_time_has_the_bytes_of_the_processor(scenario, samples, settings, tmp_path):
    words = [word for x in settings for word in ("--set", f"simulation.{x}")]
    options = ("--samples", samples, "--set", "output.keep=all", *words, "-o")
    on_gpu(*run(scenario, "cuda", *options, tmp_path / "gpu"))
    garra(*run(scenario, "cpu", *options, tmp_path / "cpu"))
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "cpu" / name).read_bytes()


@pytest.mark.parametrize(
    "scenario, samples, settings",
    [
        ("two_spheres", 1500, []),
        ("two_spheres", 300, ["solver.method=nsgs", "solver.check_uniqueness=false"]),
        ("lean_on_table", 500, []),
        ("three_boxes", 40, []),  # 16 contacts: the certificate on the host
    ],
)
def test_a_group_at_one_instant_has_the_bytes_of_the_processor(scenario, samples, settings, tmp_path):
    words = [word for x in ("output.keep=all", *settings) for word in ("--set", x)]
    options = ("--samples", samples, *words, "-o")
    on_gpu(*run(scenario, "cuda", *options, tmp_path / "gpu"), GARRA_SIMULATED_GPU_COUNTS=str(tmp_path / "counts.json"))
    garra(*run(scenario, "cpu", *options, tmp_path / "cpu"))
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "cpu" / name).read_bytes()
    ran = (tmp_path / "counts.json").read_text()
    for body in ("GroupDraw", "GroupStand", "GroupBuild", "GroupSettle"):
        assert f"{body}Kernel" in ran
    assert ("GroupCheckKernel" in ran) == (scenario != "three_boxes")


@pytest.mark.parametrize("joints", [5, 9])
def test_fingers_of_a_group_have_kernels_for_any_number_of_joints(joints, tmp_path):
    scenario = tomllib.loads((SCENARIOS / "two_spheres.toml").read_text())
    for finger in scenario["hand"]["finger"]:
        for k in range(joints - 3):
            finger["dh"].append([0.01 * (k + 1), 0, "90 deg" if k % 2 else "-90 deg", 0])
            finger["inertia"].append([1e-5, 2e-5, 1e-5])
            for key, value in (("prismatic", False), ("mass", 0.02), ("com", [0.002, 0.001, 0]), ("start", 0.3)):
                finger[key].append(value)
    assert_same_bytes(scenario, 20, tmp_path / "instant")
    drive = {"kind": "controller", "torque_limit": [[6.5] * joints] * 2}
    scenario["simulation"] = {"duration": 0.01, "step": 1e-3, "drive": drive}
    assert_same_bytes(scenario, 20, tmp_path / "time")


@pytest.mark.parametrize("contacts, model", [(4, "hard"), (7, "hard"), (8, "hard"), (12, "hard"), (4, "soft"), (6, "soft")])
def test_a_group_has_kernels_for_any_number_of_contacts(contacts, model, tmp_path):
    scenario = tomllib.loads((SCENARIOS / "three_boxes.toml").read_text())
    points = scenario["contact"]  # four on each of four faces
    scenario["contact"] = [points[4 * (k % 4) + k // 4] for k in range(contacts)]
    for contact in scenario["contact"]:
        contact["model"] = model
        if model == "soft":
            contact["torsion_radius"] = 0.003
    assert_same_bytes(scenario, 20, tmp_path / "instant")
    scenario["simulation"] = {"duration": 0.003, "step": 1e-3}
    assert_same_bytes(scenario, 20, tmp_path / "time")


def test_a_group_with_a_puma_and_a_contact_without_friction_has_the_bytes_of_the_processor(tmp_path):
    scenario = tomllib.loads(garra("check", SCENARIOS / "three_puma_sphere.toml").stdout)
    del scenario["held"], scenario["solver"]
    scenario["contact"][0]["model"] = "frictionless"
    assert_same_bytes(scenario, 20, tmp_path / "instant")
    scenario["simulation"] = {"duration": 0.01, "step": 1e-3}
    assert_same_bytes(scenario, 20, tmp_path / "time")


def test_a_group_goes_to_a_gpu_if_that_is_asked_for(tmp_path):
    on_gpu(*run("two_spheres", "auto", "--samples", 10, "--set", "simulation.duration=2 ms", "-o", tmp_path / "run"))
    assert "not measured on a GPU" in json.loads((tmp_path / "run" / "manifest.json").read_text())["why_not_gpu"]


def test_soft_contacts_of_a_group_have_the_bytes_of_the_processor(tmp_path):
    scenario = tomllib.loads((SCENARIOS / "two_spheres.toml").read_text())
    for contact in scenario["contact"]:
        contact |= {"model": "soft", "torsion_radius": 0.003}
    assert_same_bytes(scenario, 300, tmp_path / "instant")
    scenario["simulation"] = {"duration": 0.01, "step": 1e-3, "restitution": 0.3}
    assert_same_bytes(scenario, 70, tmp_path / "time")


@pytest.mark.parametrize("keep", ["none", "failures", "all"])
def test_samples_counted_on_the_gpu_batch_by_batch_give_the_bytes_of_the_processor(keep, tmp_path):
    options = ("--samples", 5000, "--set", f"output.keep={keep}", "-o")
    # Beside what counting takes there is room for a thousand samples at once.
    on_gpu(*run("three_puma_sphere", "cuda", *options, tmp_path / "gpu"), GARRA_SIMULATED_GPU_MEMORY="40000000")
    garra(*run("three_puma_sphere", "cpu", *options, tmp_path / "cpu"))
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "cpu" / name).read_bytes()


@pytest.mark.parametrize("devices, of", [("cuda:all", "012"), ("cuda:2,0", "20")])
@pytest.mark.parametrize(
    "scenario, samples, settings",
    [
        ("three_puma_sphere", 3000, ["output.keep=failures"]),
        ("puma_singularities", 1100, ["output.keep=near"]),
        ("three_puma_pull", 1100, ["output.keep=failures", "simulation.duration=5 ms"]),
    ],
)
def test_several_gpus_share_a_run_and_its_bytes_are_the_processors(scenario, samples, settings, devices, of, tmp_path):
    options = ("--samples", samples, *[word for setting in settings for word in ("--set", setting)], "-o")
    on_gpu(*run(scenario, devices, *options, tmp_path / "gpu"), GARRA_SIMULATED_GPU_DEVICES="3")
    garra(*run(scenario, "cpu", *options, tmp_path / "cpu"))
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "cpu" / name).read_bytes()
    device = json.loads((tmp_path / "gpu" / "manifest.json").read_text())["device"]
    assert device == ", ".join(f"simulated GPU (cuda:{k})" for k in of)


def test_each_of_several_gpus_has_a_part_in_the_work(tmp_path):
    def in_chunks(device, name, expect=0, fails="none"):
        arguments = run("three_puma_sphere", device, "--samples", 4096, "--set", "sampling.chunk=2048", "-o", tmp_path / name)
        return on_gpu(*arguments, expect=expect, GARRA_SIMULATED_GPU_DEVICES="2", GARRA_SIMULATED_GPU_FAIL=fails)

    # The second one fails in the second chunk: the first chunk is kept, and whoever comes later goes on with it.
    in_chunks("cuda:0", "alone", fails="kernel:1@1")
    assert "CUDA: " in in_chunks("cuda:0,1", "run", expect=NO_DEVICE, fails="kernel:1@1").stderr
    assert "CUDA: " in in_chunks("cuda:1,0", "other", expect=NO_DEVICE, fails="kernel:1@0").stderr
    on_gpu("resume", tmp_path / "run", "--no-report", "--device", "cuda:all", GARRA_SIMULATED_GPU_DEVICES="2")
    assert (tmp_path / "run" / "summary.json").read_bytes() == (tmp_path / "alone" / "summary.json").read_bytes()
    verified = on_gpu("verify", tmp_path / "run", "--fraction", 1, "--device", "cuda:0,1", GARRA_SIMULATED_GPU_DEVICES="2")
    assert "2 of them computed again" in verified.stdout and "verified" in verified.stdout


@pytest.mark.parametrize(
    "devices, said",
    [
        ("cuda:0,0", "--device cuda:0,0: cuda:0 comes twice"),
        ("cuda:0,x", "--device cuda:x: no such device"),
        ("cuda:0,", "--device cuda:: no such device"),
        ("cuda:0,7", "this machine has 2 GPU(s)"),
    ],
)
def test_a_list_of_gpus_that_is_none_is_refused(devices, said, tmp_path):
    code = NO_DEVICE if "7" in devices else 2
    arguments = run("three_puma_sphere", devices, "-o", tmp_path / "run")
    assert said in on_gpu(*arguments, expect=code, GARRA_SIMULATED_GPU_DEVICES="2").stderr
    assert not (tmp_path / "run").exists()


def test_arrays_are_work_for_one_gpu(tmp_path):
    done = on_gpu("chain", "eval", "puma560", "states.h5", "--device", "cuda:0,1", expect=2, GARRA_SIMULATED_GPU_DEVICES="2")
    assert "one device" in done.stderr and "garra run" in done.stderr


@pytest.mark.parametrize("call", ["copy:3", "launch:4", "kernel:2"])
def test_a_gpu_that_fails_is_named_and_the_run_goes_on_elsewhere(call, tmp_path):
    def in_chunks(device, name):
        options = ("--samples", 4096, "--set", "sampling.chunk=1024", "-o", tmp_path / name)
        return run("three_puma_sphere", device, *options)

    done = on_gpu(*in_chunks("cuda", "run"), expect=NO_DEVICE, GARRA_SIMULATED_GPU_FAIL=call)
    assert "CUDA: " in done.stderr and "use --device cpu" in done.stderr
    garra("resume", tmp_path / "run", "--no-report")
    garra(*in_chunks("cpu", "whole"))
    assert (tmp_path / "run" / "summary.json").read_bytes() == (tmp_path / "whole" / "summary.json").read_bytes()


def test_memory_that_was_free_and_is_not_is_made_up_for_with_less_at_once(tmp_path):
    def samples(count, device, name):
        return run("three_puma_sphere", device, "--samples", count, "-o", tmp_path / name)

    on_gpu(*samples(3000, "cuda", "gpu"), GARRA_SIMULATED_GPU_FAIL="malloc:4")
    garra(*samples(3000, "cpu", "cpu"))
    assert (tmp_path / "gpu" / "summary.json").read_bytes() == (tmp_path / "cpu" / "summary.json").read_bytes()
    # A block is the least that is tried.
    done = on_gpu(*samples(1024, "cuda", "block"), expect=NO_DEVICE, GARRA_SIMULATED_GPU_FAIL="malloc:4")
    assert "out of memory" in done.stderr and "free memory on the GPU" in done.stderr


def test_an_error_that_sticks_says_that_the_process_must_start_again(tmp_path):
    def said(fault):
        arguments = run("three_puma_sphere", "cuda", "--samples", 1024, "-o", tmp_path / fault.partition(":")[0])
        return on_gpu(*arguments, expect=NO_DEVICE, GARRA_SIMULATED_GPU_FAIL=fault).stderr

    assert "start it again" in said("kernel:2")
    assert "start it again" not in said("launch:2")


def many_samples_on_auto(folder, **environment):
    """The manifest of a run that would take a processor seconds, stopped as it begins."""
    how = ("--threads", 1, "--set", "sampling.chunk=1024", "--time-limit", 1e-6)
    on_gpu(*run("three_puma_sphere", "auto", "--samples", 2_000_000, *how, "-o", folder), expect=STOPPED, **environment)
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize(
    "environment, why",
    [
        ({"GARRA_SIMULATED_GPU_CAPABILITY": "75"}, "simulated GPU (cuda:0): compute capability 7.5, below 8.0"),
        ({"GARRA_SIMULATED_GPU_FP64": "64"}, "simulated GPU (cuda:0): double precision at 1/64 of single"),
        ({"GARRA_SIMULATED_GPU_DRIVER": "12020"}, "no usable NVIDIA GPU: its driver knows CUDA 12.2"),
    ],
)
def test_auto_leaves_a_gpu_alone_that_does_not_pay_and_says_why(environment, why, tmp_path):
    assert "--device auto: simulated GPU (cuda:0)\n" in on_gpu("doctor").stdout
    (line,) = [x for x in on_gpu("doctor", **environment).stdout.splitlines() if x.startswith("--device auto: ")]
    assert why in line and "lanes" in line
    manifest = many_samples_on_auto(tmp_path / "run", **environment)
    assert why in manifest["why_not_gpu"] and "lanes" in manifest["device"]


def test_auto_leaves_to_the_processor_what_it_is_through_with_before_a_gpu_begins(tmp_path):
    on_gpu(*run("three_puma_sphere", "auto", "--samples", 512, "-o", tmp_path / "few"))
    few = json.loads((tmp_path / "few" / "manifest.json").read_text())
    assert "lanes" in few["device"] and few["why_not_gpu"].startswith("the processor needs some")
    many = many_samples_on_auto(tmp_path / "many")
    assert many["device"] == "simulated GPU (cuda:0)" and "why_not_gpu" not in many


def test_auto_leaves_few_arrays_to_the_processor():
    few = ROOT / "data" / "reference" / "contact" / "random_n3.h5"
    for device, said in (("auto", "lanes"), ("cuda", "simulated GPU (cuda:0)")):
        assert said in json.loads(on_gpu("contact", "solve", few, "--device", device, "--format", "json").stdout)["device"]


def test_kernels_that_the_driver_must_translate_are_announced_and_can_be_prepared_ahead(tmp_path):
    newer = {"GARRA_SIMULATED_GPU_CAPABILITY": "120"}  # the tests compile for 8.0, and perhaps for 9.0
    note = "preparing kernels for simulated GPU (cuda:0) (once"
    arguments = run("three_puma_sphere", "cuda", "--samples", 512, "-o")
    assert note in on_gpu(*arguments, tmp_path / "newer", **newer).stderr
    assert note not in on_gpu(*arguments, tmp_path / "known").stderr
    for capability in ("80", "86", "89"):
        done = on_gpu("doctor", "--warm", GARRA_SIMULATED_GPU_CAPABILITY=capability)
        assert "preparing" not in done.stdout
    done = on_gpu("doctor", "--warm", GARRA_SIMULATED_GPU_COUNTS=str(tmp_path / "counts.json"), **newer)
    assert note in done.stdout
    ran = (tmp_path / "counts.json").read_text()
    assert ran.count("DeviceSelectSweepKernel") == 2  # CUB's kernels are loaded as they run, one for each type
    (line,) = [x for x in done.stdout.splitlines() if "kernels are ready on simulated GPU" in x]
    assert int(line.split()[0]) > 300


def test_a_gpu_without_kernels_for_it_is_refused_by_name():
    done = on_gpu(*run("three_puma_sphere", "cuda"), expect=NO_DEVICE, GARRA_SIMULATED_GPU_CAPABILITY="75")
    assert "compute capability 7.5: no kernel image is available" in done.stderr
    assert "GARRA_CUDA_ARCHITECTURES" in done.stderr
    done = on_gpu(*run("three_puma_sphere", "cuda"), expect=NO_DEVICE, GARRA_SIMULATED_GPU_DRIVER="12020")
    assert "its driver knows CUDA 12.2, this program needs" in done.stderr
    # A card for graphics is slow, not wrong: asked for, it is taken.
    assert "simulated GPU" in on_gpu("doctor", GARRA_SIMULATED_GPU_FP64="64").stdout


def report(*arguments):
    return subprocess.run([ROOT / "tools" / "gpu_report", *arguments], capture_output=True, text=True, timeout=600)


def test_no_kernel_of_the_default_study_grew_by_more_than_a_tenth(tmp_path):
    budget = ROOT / "kernels" / "budget.json"
    done = report("--budget", budget)
    assert done.returncode == 0, done.stderr
    assert "contact::SymmetricKernel<3>" in done.stdout
    limits = json.loads(budget.read_text())
    kernel = next(name for name in limits if "SymmetricKernel" in name)
    limits[kernel]["instructions"] /= 1.2
    tight = tmp_path / "tight.json"
    tight.write_text(json.dumps(limits))
    done = report("--budget", tight, "--no-assembler")
    assert done.returncode == 1 and f"{kernel}: instructions" in done.stderr


def test_the_empty_kernel_of_cub_is_not_reported_as_one_without_a_test(tmp_path):
    on_gpu("doctor", "--warm", GARRA_SIMULATED_GPU_COUNTS=str(tmp_path / "counts.json"))
    done = report("--not-run-in", tmp_path)
    assert done.returncode == 1 and "FingerKernel" in done.stdout
    assert "cub" not in done.stdout


def test_too_little_memory_is_said_with_its_size(tmp_path):
    arguments = run("three_puma_sphere", "cuda", "-o", tmp_path / "run")
    done = on_gpu(*arguments, expect=NO_DEVICE, GARRA_SIMULATED_GPU_MEMORY="100000")
    assert "not enough free memory on simulated GPU" in done.stderr and "bytes" in done.stderr
