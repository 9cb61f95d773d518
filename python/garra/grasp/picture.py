"""The pictures of a grasp at an instant: the nominal grasp and stored samples, from grasp.h5 of the run folder."""

from __future__ import annotations

import shlex
from typing import Any

from garra.grasp import scene as grasp_scene
from garra.page import outcomes
from garra.page.run_folder import Run

Table = dict[str, Any]


def picture(run: Run) -> Table | None:
    """Fields of picture.html, with the data of its scripts in `data`; None without grasp.h5. `shown`: sample:
    its place in the list. Raises RunError if the file is damaged."""
    found = grasp_scene.read_pictures(run.folder)
    if found is None:
        return None
    runs = found["runs"]
    kinds = [outcomes.outcome(run.summary, sample["outcome"]) for sample in runs]
    titles = [sample["title"][:1].upper() + sample["title"][1:] for sample in runs]
    again = [run.replay(sample["sample"]) if sample["sample"] is not None else "" for sample in runs]
    data = found | {
        "outcomes": [
            f"{title}: {kind.label}" + (f" ({kind.meaning})" if kind.meaning else "")
            for title, kind in zip(titles, kinds, strict=True)
        ],
        "commands": again,
    }
    folder = shlex.quote(run.folder)
    return {
        "data": data,
        "names": [f"{title}, {kind.label}" for title, kind in zip(titles, kinds, strict=True)],
        "shown": {sample["sample"]: k for k, sample in enumerate(runs) if sample["sample"] is not None},
        "loaded": any(any(sample["load"][0]) for sample in runs),
        "add": f"garra replay {folder} --sample N -o {shlex.quote(run.folder + '/samples/N.h5')} && garra report {folder}",
    }
