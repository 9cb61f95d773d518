"""The page of a ranking of candidate grasps: which holds how surely, with how little friction, and how it looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from garra.grasp import figures, outcome_page, ranking_data, ranking_file, ranking_words, trials
from garra.grasp.ranking_file import Found
from garra.page import study_parts, words
from garra.page.html import page

GOOD = 0.95  # a P(held) that the headline counts
BINS = 20
MOST_LISTED = 30  # grasps without a rank, of each kind
PICTURES = 10
MOST_FRICTION = 1.5  # of the axis of friction

Table = dict[str, Any]


SCRIPTS = ["grasp/solids.js", "grasp/candidate.js", "grasp/ranking.js"]


def build(found: Found) -> str:
    """The page as HTML."""
    order = found.order
    data = ranking_data.build(found)
    friction = _friction(found, order)
    page_data = {
        "scripts": SCRIPTS,
        "starts": [("ranking", "Ranking.start")],
        "data": {"ranking": data},
    }
    pictures = data["pictures"] if data["pictures"] and data["pictures"]["count"] else None
    return page(
        "grasp/ranking.html",
        found=found,
        total=len(found.columns["rank"]),
        ranked=len(order),
        facts=_facts(found),
        headline=_headline(found, order) if len(order) else None,
        hand=_hand(found, order),
        friction=friction,
        columns=_columns(data, friction),
        shares=_shares(found, order),
        outcomes=_outcomes(found),
        poses=_poses(found),
        refused=_refused(found),
        unsolved=_unsolved(found, order),
        study=ranking_words.study(found.study, found.grasps.arrays if found.grasps else {}),
        torsion=ranking_words.torsion(found.grasps.arrays if found.grasps else {}),
        source_of_it=_source(found),
        speed=words.count(round(found.drawn / found.seconds)) if found.seconds else words.MISSING,
        contacts=_contacts(found, order),
        best=_best(found, order[: min(PICTURES, pictures["count"])]) if pictures else [],
        radius=data["radius"] is not None,
        drawn_friction=_is_drawn(found.study),
        pictures=pictures,
        names=data["names"],
        carried=data["count"],
        styles=["page/motion.css", "grasp/ranking.css"],
        **(page_data if len(order) else {}),
    )


def _columns(data: Table, friction: Any) -> list[tuple[str, str]]:
    """Keys of the ranking's columns, as ranking.js names them, and their heads."""
    rows = [
        ("rank", "rank", True),
        ("grasp", "grasp", True),
        ("p", f"P(held), 95{words.NARROW}% interval", True),
        ("difference", "less than the best", True),
        ("friction", f"friction needed 5 · 50 · 95{words.NARROW}%", friction),
        ("radius", "resisted force radius [N]", data["radius"] is not None),
        ("contacts", "contacts", "contacts" in data),
        ("unsolved", "unsolved", True),
    ]
    return [(key, label) for key, label, there in rows if there]


def _source(found: Found) -> list[tuple[str, str] | tuple[()]]:
    study = found.study
    most = "up to " if found.best else ""
    asked = ""
    if "friction_samples" in study:
        asked = f", {words.count(study['friction_samples'])} of them asked for the friction they need"
    rows = [
        ("samples", f"{most}{words.count(found.samples)} of each grasp{asked}"),
        ("seed", study.get("seed", "")),
        ("time", "" if found.seconds is None else words.duration(found.seconds)),
        ("device", found.device),
        ("set", found.set_file),
        ("ranking", found.file),
    ]
    return [row for row in rows if row[1] != ""]


def _facts(found: Found) -> list[str]:
    facts = [words.plural(len(found.columns["rank"]), "grasp")]
    if found.grasps and len(found.grasps.first) > 1:
        numbers = np.diff(found.grasps.first)
        low, high = int(numbers.min()), int(numbers.max())
        facts.append(words.plural(high, "contact") + " each" if low == high else f"{low} to {high} contacts")
    most = words.plural(found.samples, "sample")
    facts.append(f"up to {most} of each, {words.count(found.drawn)} in all" if found.best else f"{most} of each")
    if found.seconds is not None:
        facts.append(words.duration(found.seconds) + (f" on {found.device}" if found.device else ""))
    return facts


def name_of(found: Found, grasp: int) -> str:
    return ranking_file.name_of(found.grasps.names if found.grasps else None, grasp)


def contact_of(found: Found, grasp: int, contact: int) -> str:
    grasps = found.grasps
    names, first = (grasps.contact_names, grasps.first) if grasps else (None, None)
    return ranking_file.find_contact_name(names, first, grasp, contact) if contact >= 0 else "none"


def _headline(found: Found, order: np.ndarray) -> Table:
    c = found.columns
    best = int(order[0])
    p = float(c["p_held"][best])
    same = c["difference_high"][order] >= 0
    # A grasp that was dropped early has few samples: its figures are not comparable with the others'.
    whole = order[c["samples"][order] == found.samples] if found.best else order
    return {
        "counted": len(whole),
        "good": int((c["p_held"][whole] >= GOOD).sum()),
        "sure": int((c["low"][whole] >= GOOD).sum()),
        "always": int((c["held"][whole] == c["samples"][whole]).sum()),
        "never": int((c["held"][order] + c["unsolved"][order] == 0).sum()),
        "best": name_of(found, best),
        **study_parts.interval({"probability": p, **{key: float(c[key][best]) for key in ("low", "high")}}),
        "same": int(same.sum()),
        "error": "" if found.best else _largest_error(p, found.samples, len(order)),
        "race": _race(found, len(order)),
        "needed": words.number(float(c["required_friction"][best, 2])),
    }


def _race(found: Found, ranked: int) -> str:
    """Result of a search for the best; "" without a search."""
    if not found.best:
        return ""
    confidence = words.percent(float(found.study.get("confidence", 0.95)), 0)
    given_up = ranked - int((found.columns["samples"] == found.samples).sum())
    if found.decided:
        return (
            f"The best {words.count(found.best)} are found: with a confidence of {confidence} none of the true ones was "
            f"given up, at any time. {words.count(given_up)} grasps were given up before the end."
        )
    return (
        f"The best {words.count(found.best)} were not told apart from the others within these samples: "
        f"{words.count(ranked - given_up)} grasps are left. With a confidence of {confidence} the true ones are among them."
    )


def _best(found: Found, order: np.ndarray) -> list[tuple[str, str]]:
    """Captions of the small pictures."""
    c, names = found.columns, found.grasps.names if found.grasps else None
    rows = []
    for g in order:
        p, needed = (float(x) for x in (c["p_held"][g], c["required_friction"][g, 1]))
        told = words.percent(p, words.decimals_for(float(c["low"][g]), float(c["high"][g]))) + " held"
        if math.isfinite(needed):
            told += f", friction {words.number(needed)}"
        if math.isfinite(radius := float(c["resisted_force_radius"][g])):
            told += f", every push below {words.number(radius)} N"
        rows.append(((names and names[g]) or f"grasp {g}", told))
    return rows


def _hand(found: Found, order: np.ndarray) -> Table | None:
    """Additional data of a hand with a command: outcomes of all samples, and causes for the best grasp."""
    if found.hand == "ideal":
        return None
    sums = found.columns["outcomes"][order].sum(axis=0)
    labels = [kind.label for kind in found.outcomes.values()]
    rows = []
    for g in order[:PICTURES]:
        margin, fails = found.columns["margin"][g], int(found.columns["limiting_contact"][g])
        rows.append([
            name_of(found, int(g)),
            *(_share(float(found.columns[key][g])) for key in ("p_held", "p_no_slip", "p_resisted")),
            " · ".join(words.number(float(x)) for x in margin),
            words.number(float(found.columns["resisted_force_radius"][g])),
            contact_of(found, int(g), fails),
        ])  # fmt: skip
    counted = [(label, int(n)) for label, n in zip(labels, sums, strict=True) if n]
    return {
        "outcomes": [(label, f"{words.count(n)} ({_share(n / max(sums.sum(), 1))})") for label, n in counted],
        "rows": rows,
    }


def _share(p: float) -> str:
    return words.percent(p, 2) if math.isfinite(p) else words.MISSING


def _is_drawn(study: Table) -> bool:
    return any(ranking_words.is_drawn(study.get(key, 1)) for key in ("friction", "per_contact_friction_factor"))


def _largest_error(p: float, samples: int, grasps: int) -> str:
    """By how much the luckiest of so many equal grasps would be estimated too well, at the most: their errors are
    taken as independent, the expected largest of G normal errors as sqrt(2 ln G) of them."""
    if grasps < 2 or not 0 < p < 1 or not samples:
        return ""
    error = math.sqrt(p * (1 - p) / samples) * math.sqrt(2 * math.log(grasps))
    return f"{words.number(100 * min(error, 1 - p), 2)} percentage points"


def _friction(found: Found, order: np.ndarray) -> Table | None:
    """Curves of the fraction of grasps that hold over friction, or None if it was not computed."""
    needed = found.columns["required_friction"][order]
    if not len(order) or np.isnan(needed).all():
        return None
    finite = needed[np.isfinite(needed)]
    # A few grasps need more friction than any surface has: they do not extend the axis.
    right = min(max(1.15 * float(np.quantile(finite, 0.99)), 0.1), MOST_FRICTION) if len(finite) else 1.0
    friction = np.linspace(0, right, 301)
    shares = [np.searchsorted(np.sort(needed[:, q]), friction, "right") / len(order) for q in range(3)]
    curves = [("muted", "4 3", shares[0]), ("accent", "", shares[1]), ("held", "", shares[2])]
    return {
        "figure": figures.share_against_friction(friction.tolist(), [(c, d, s.tolist()) for c, d, s in curves]),
        "never": int(np.isinf(needed[:, 2]).sum()),
        "beyond": int(((needed[:, 2] > right) & np.isfinite(needed[:, 2])).sum()),
        "right": words.number(right),
        "samples": int(found.study.get("friction_samples", 0)) or None,
    }


def _shares(found: Found, order: np.ndarray) -> str:
    if not len(order):
        return ""
    counts = np.histogram(found.columns["p_held"][order], BINS, (0, 1))[0]
    return figures.held_of_grasps(counts.tolist())


def _refused(found: Found) -> list[list[str]]:
    rows = []
    for k, (name, kind) in enumerate(found.statuses.items()):
        every = np.flatnonzero(found.columns["status"] == k) if k else []
        parts = {kind.label: every}
        if name == "no_contact" and found.grasps and "status" in found.grasps.touch:  # why the hand does not touch
            of = found.grasps.touch["status"].astype(int)[every]
            parts = {f"{kind.label}: {found.grasps.touch_names[s].replace('_', ' ')}": every[of == s] for s in np.unique(of)}
        for label, where in parts.items():
            if not len(where):
                continue
            listed = ", ".join(name_of(found, int(g)).removeprefix("grasp ") for g in where[:MOST_LISTED])
            more = f" and {words.count(len(where) - MOST_LISTED)} more" if len(where) > MOST_LISTED else ""
            rows.append([label, words.count(len(where)), kind.meaning, listed + more])
    return rows


def _outcomes(found: Found) -> Table | None:
    """P(held) against the outcomes of trials, where the set has them."""
    if not trials.has_outcomes(found):
        return None
    return outcome_page.parts(trials.compare_trials(trials.find_trials(found)))


def _poses(found: Found) -> list[list[str]]:
    """The best poses: number, P(held) over the draws, draws; none where no pose has several."""
    arrays = found.grasps.arrays if found.grasps else {}
    if "pose_number" not in arrays:
        return []
    number, pose = np.unique(arrays["pose_number"], return_inverse=True)
    counted = arrays.get("load_case", np.zeros(len(pose))) == 0
    draws = np.bincount(pose[counted], minlength=len(number))
    if not (draws > 1).any():
        return []
    p = trials.p_of_poses(pose, found.columns["p_held"], found.columns["samples"], counted)
    best = np.argsort(-p, kind="stable")[:MOST_LISTED]
    return [[f"{number[k]:g}", words.percent(float(p[k]), 2), words.count(int(draws[k]))] for k in best]


def _unsolved(found: Found, order: np.ndarray) -> Table:
    unsolved = found.columns["unsolved"][order]
    return {"samples": int(unsolved.sum()), "grasps": int((unsolved > 0).sum())}


def _contacts(found: Found, order: np.ndarray) -> list[int]:
    """Numbers of contacts that ranked grasps have."""
    return np.unique(np.diff(found.grasps.first)[order]).tolist() if found.grasps else []
