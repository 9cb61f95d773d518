#!/usr/bin/env python3
"""Brings the reference numbers the tests need into data/reference/.

usage: tools/copy_reference.py [REFERENCE_SET]     (default ../shared/reference)

Needs numpy and h5py. Arrays become HDF5 under the names of garra's own files, so that a test reads a reference and
the program's answer in the same way; JSON documents are copied as they are. What the numbers mean stands in
data/reference/README.md.
"""

import json
import shutil
import sys
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "data" / "reference"
JSON_LIMIT = 1 << 20  # larger documents are written without white space
PLATFORM_NAMES = (
    "params_trepa_like", "params_irregular", "ik_fk_trepa_like", "fk_seed_paths", "invdyn_trepa_like", "fwddyn",
    "assembly91_trepa_like",
)

# name in the reference set -> name in our files
CONTACT_NAMES = {"W": "A", "q": "b", "mu": "mu", "r": "c", "u": "a", "lcp_z": "lcp_z", "lcp_w": "lcp_w"}


def write_arrays(path, arrays):
    """Writes float64 datasets, compressed without loss."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without time stamps the same input gives the same bytes, so a second run shows no difference in git.
    with h5py.File(path, "w", track_order=False) as out:
        for name in sorted(arrays):
            out.create_dataset(
                name, data=np.asarray(arrays[name], np.float64), compression="gzip", compression_opts=9, shuffle=True,
                track_times=False,
            )


def copy_contact(source):
    for contacts in (3, 4, 8):
        with np.load(source / "contact" / f"random_n{contacts}.npz") as data:
            arrays = {ours: data[theirs] for theirs, ours in CONTACT_NAMES.items()}
        write_arrays(TARGET / "contact" / f"random_n{contacts}.h5", arrays)


def copy_chain(source):
    for robot in ("puma560", "iiwa14"):
        with np.load(source / "chain" / f"{robot}.npz") as data:
            write_arrays(TARGET / "chain" / f"{robot}.h5", {name: data[name] for name in data.files})
    for name in ("params", "static"):
        copy_json(source / "chain" / f"exoskeleton_{name}.json", TARGET / "chain" / f"exoskeleton_{name}.json")


def copy_json(source, target, compact=False):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.stat().st_size <= JSON_LIMIT and not compact:
        shutil.copyfile(source, target)
    else:
        target.write_text(json.dumps(json.loads(source.read_text()), separators=(",", ":")) + "\n")


def main():
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "reference"
    if not (source / "contact" / "random_n3.npz").is_file():
        sys.exit(f"{source} is not the reference set (contact/random_n3.npz is missing)\n{__doc__}")
    copy_contact(source)
    copy_chain(source)
    for name in ("chain", "problems", "hold_metrics", "lcp_nonunique"):
        copy_json(source / "grasp" / f"{name}.json", TARGET / "grasp" / f"{name}.json")
    for name in ("examples", "arms", "maps"):
        copy_json(source / "singularity" / f"{name}.json", TARGET / "singularity" / f"{name}.json")
    for name in PLATFORM_NAMES:
        document = f"platform/{name}.json"
        copy_json(source / document, TARGET / document, compact=True)
    for path in sorted(p for p in TARGET.rglob("*") if p.is_file()):
        print(f"{path.stat().st_size:>9} {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
