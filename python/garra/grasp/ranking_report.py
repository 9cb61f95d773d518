"""The page of a ranking of candidate grasps: which holds how surely, with how little friction, and how it looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from garra.grasp import figures, ranking_data, ranking_file, ranking_words
from garra.grasp.ranking_file import Found
from garra.page import words
from garra.page.html import dumps, page

GOOD = 0.95  # a P(held) that the headline counts
BINS = 20
MOST_LISTED = 30  # grasps without a rank, of each kind
PICTURES = 10
MOST_FRICTION = 1.5  # of the axis of friction

Table = dict[str, Any]


def build(found: Found) -> str:
    """The page as HTML."""
    order = found.order
    data = ranking_data.build(found)
    return page(
        "grasp/ranking.html",
        found=found,
        count=len(found.columns["rank"]),
        ranked=len(order),
        facts=_facts(found),
        headline=_headline(found, order) if len(order) else None,
        hand=_hand(found, order),
        friction=_friction(found, order),
        shares=_shares(found, order),
        refused=_refused(found),
        unsolved=_unsolved(found, order),
        study=ranking_words.study(found.study, found.grasps.arrays if found.grasps else {}),
        speed=found.drawn / found.seconds if found.seconds else None,
        pictured=data["pictures"]["count"] if data["pictures"] else 0,
        contacts=_contacts(found, order),
        pictures=min(PICTURES, data["pictures"]["count"]) if data["pictures"] else 0,
        best=_best(found, order[:PICTURES]),
        radius=data["radius"] is not None,
        drawn_friction=_is_drawn(found.study),
        mesh=data["pictures"]["mesh"] if data["pictures"] else None,
        data=data,
        data_json=dumps(data),
    )


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
    p, low, high = (float(c[key][best]) for key in ("p_held", "low", "high"))
    decimals = words.decimals_for(low, high)
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
        "p": words.percent(p, decimals),
        "low": words.percent(low, decimals),
        "high": words.percent(high, decimals),
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


def _best(found: Found, order: np.ndarray) -> list[Table]:
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
        rows.append({"name": (names and names[g]) or f"grasp {g}", "told": told})
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
        rows.append({
            "name": name_of(found, int(g)),
            "p": [_share(float(found.columns[key][g])) for key in ("p_held", "p_no_slip", "p_resisted")],
            "margin": " · ".join(words.number(float(x)) for x in margin),
            "radius": words.number(float(found.columns["resisted_force_radius"][g])),
            "fails": contact_of(found, int(g), fails),
        })  # fmt: skip
    return {
        "name": found.hand,
        "outcomes": [
            (label, int(n), _share(n / max(sums.sum(), 1))) for label, n in zip(labels, sums, strict=True) if n
        ],
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


def _refused(found: Found) -> list[Table]:
    rows = []
    for k, kind in enumerate(found.statuses.values()):
        where = np.flatnonzero(found.columns["status"] == k)
        if k and len(where):
            listed = ", ".join(name_of(found, int(g)).removeprefix("grasp ") for g in where[:MOST_LISTED])
            rows.append({"label": kind.label, "meaning": kind.meaning, "count": len(where), "listed": listed,
                         "more": max(len(where) - MOST_LISTED, 0)})  # fmt: skip
    return rows


def _unsolved(found: Found, order: np.ndarray) -> Table:
    unsolved = found.columns["unsolved"][order]
    return {"samples": int(unsolved.sum()), "grasps": int((unsolved > 0).sum()), "all": found.drawn}


def _contacts(found: Found, order: np.ndarray) -> list[int]:
    """Numbers of contacts that ranked grasps have."""
    return np.unique(np.diff(found.grasps.first)[order]).tolist() if found.grasps else []
