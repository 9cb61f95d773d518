"""What a value of a scenario may be: the part of JSON Schema that `garra check --schema` uses."""

from __future__ import annotations

import re
from typing import Any

_KINDS = {
    "number": (lambda v: isinstance(v, int | float) and not isinstance(v, bool), "a number"),
    "integer": (lambda v: isinstance(v, int) and not isinstance(v, bool), "a whole number"),
    "string": (lambda v: isinstance(v, str), "a text"),
    "boolean": (lambda v: isinstance(v, bool), "True or False"),
    "array": (lambda v: isinstance(v, list), "a list"),
    "object": (lambda v: isinstance(v, dict), "a table"),
}
_BOUNDS = {
    "minimum": (lambda v, x: v >= x, ">= {}"),
    "exclusiveMinimum": (lambda v, x: v > x, "> {}"),
    "maximum": (lambda v, x: v <= x, "<= {}"),
    "multipleOf": (lambda v, x: v % x == 0, "a multiple of {}"),
}
_LENGTHS = {"minItems": (lambda n, x: n >= x, "at least {}"), "maxItems": (lambda n, x: n <= x, "at most {}")}


def fault(rule: dict[str, Any], value: Any, definitions: dict[str, Any]) -> str:
    """What `value` should be and is not; "" where it is."""
    return "" if _fits(rule, value, definitions) else _words(rule, definitions)


def _fits(rule: dict[str, Any], value: Any, definitions: dict[str, Any]) -> bool:
    if "$ref" in rule:
        return _fits(definitions[rule["$ref"].rsplit("/", 1)[1]], value, definitions)
    kinds = rule.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return (
        (not kinds or any(_KINDS[kind][0](value) for kind in kinds))
        and ("const" not in rule or value == rule["const"])
        and ("enum" not in rule or value in rule["enum"])
        and ("anyOf" not in rule or (any(_fits(one, value, definitions) for one in rule["anyOf"]) and _is_above(rule, value)))
        and ("oneOf" not in rule or sum(_fits(one, value, definitions) for one in rule["oneOf"]) == 1)
        and ("pattern" not in rule or not isinstance(value, str) or re.search(rule["pattern"], value) is not None)
        and (
            not _KINDS["number"][0](value)
            or all(holds(value, rule[k]) for k, (holds, _) in _BOUNDS.items() if k in rule)
        )
        and (not isinstance(value, list) or _list_fits(rule, value, definitions))
        and (not isinstance(value, dict) or _table_fits(rule, value, definitions))
    )


def _is_above(rule: dict[str, Any], value: Any) -> bool:
    """Of a distribution: whether it begins, or has its mean, where numbers may be; only of those that must not be
    negative, so that units do not count."""
    bounds = [one for one in rule["anyOf"] if one.get("type") == "number"]
    if not isinstance(value, dict) or not bounds or bounds[0].get("minimum", bounds[0].get("exclusiveMinimum")) != 0:
        return True
    for key in ("uniform", "normal"):
        if isinstance(value.get(key), list) and value[key]:
            number = re.match(r"\s*([-+]?[\d.]+([eE][-+]?\d+)?)", str(value[key][0]))
            return number is None or float(number[1]) >= 0
    return True


def _list_fits(rule: dict[str, Any], value: list[Any], definitions: dict[str, Any]) -> bool:
    lengths = all(holds(len(value), rule[k]) for k, (holds, _) in _LENGTHS.items() if k in rule)
    return lengths and ("items" not in rule or all(_fits(rule["items"], item, definitions) for item in value))


def _table_fits(rule: dict[str, Any], value: dict[str, Any], definitions: dict[str, Any]) -> bool:
    if any(key not in value for key in rule.get("required", ())):
        return False
    others = rule.get("additionalProperties", True)
    for key, item in value.items():
        inner = rule.get("properties", {}).get(key, others)
        if inner is False or (inner is not True and not _fits(inner, item, definitions)):
            return False
    return True


def _words(rule: dict[str, Any], definitions: dict[str, Any]) -> str:
    if "$ref" in rule:
        return f"a {rule['$ref'].rsplit('/', 1)[1]}"
    if "anyOf" in rule:
        return " or ".join(dict.fromkeys(_words(one, definitions) for one in rule["anyOf"]))
    if "enum" in rule or "const" in rule:
        return " or ".join(repr(x) for x in rule.get("enum", [rule.get("const")]))
    if "pattern" in rule:
        return 'a text such as "50 mm"' if r"\d" in rule["pattern"] else f"a text like {rule['pattern']}"
    kinds = rule.get("type", "value")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    said = " or ".join(_KINDS[kind][1] if kind in _KINDS else "that" for kind in kinds)
    limits = [text.format(rule[k]) for k, (_, text) in {**_BOUNDS, **_LENGTHS}.items() if k in rule]
    items = f" of {_words(rule['items'], definitions)}" if "items" in rule else ""
    return f"{said} {' and '.join(limits)}".strip() + items
