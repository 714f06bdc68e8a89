# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads published figures from a publication's TOML files: `load(folder)`.

A figure is a dict with the keys of FIGURE_KEYS, which it inherits from its column, group and file.
"""

import tomllib
from decimal import Decimal
from fnmatch import fnmatchcase

from evidence import Fault

# The unit in which a quantity is written, and its factor.
UNITS = {quantity: (unit, factor) for unit, factor, quantities in (
    ("%", 100, "overhead throughput-overhead hook-share all-pass quoted order"),
    ("µs", 1, "latency added-latency hook-time hook-total"), ("MB/s", 1, "throughput"),
    ("calls", 1, "hook-count hook-calls module-calls nested-calls calls-at-least checks upper-bound "
                 "system-calls"),
    ("checks", 1, "slope"), ("hooks", 1, "module-hooks"), ("lines", 1, "lines"), ("", 1, "text"),
) for quantity in quantities.split()}

FIGURE_KEYS = set(
    "id place lines kernel quantity theirs note ours over hooks modules of per_component unsigned tested "
    "baseline value low high experiment order by_construction elsewhere except within single of_means "
    "tested_kernel baseline_kernel bytes unit".split())
GROUP_KEYS = FIGURE_KEYS | {"columns", "figures"}
COLUMN_KEYS = (FIGURE_KEYS - {"id"}) | {"name"}
SETUP_KEYS = {"stack", "integrity", "policy", "settings", "why"}
FILE_KEYS = (FIGURE_KEYS - {"id"}) | {"group", "publication", "sets", "setting", "cause", "unavailable"}
TABLE_KEYS = {"publication": {"title", "authors", "cite", "setting", "lines", "results", "times"},
              "setting": {"experiment", "name", "tested", "variant"},
              "cause": {"figures", "larger", "text"}, "unavailable": {"figures", "why", "state"}}


def known(table, keys, name):
    unknown = sorted(set(table) - keys)
    if unknown:
        raise Fault(f"{name}: unknown key `{unknown[0]}`")


def load(folder):
    """The publication: its tables, with `figures` as a list of dicts."""
    paths = sorted(folder.glob("publi*.toml"))
    if not paths:
        raise Fault(f"{folder}: no publication.toml")
    whole = {"sets": {}, "setting": [], "cause": [], "unavailable": [], "figures": []}
    for path in paths:
        try:
            part = tomllib.loads(path.read_text(), parse_float=Decimal)
        except (OSError, tomllib.TOMLDecodeError) as fault:
            raise Fault(f"{path}: {fault}") from None
        known(part, FILE_KEYS, path)
        for key in ("setting", "cause", "unavailable"):
            for table in part.pop(key, []):
                known(table, TABLE_KEYS[key], f"{path}: {key}")
                whole[key].append(table)
        whole["sets"] |= part.pop("sets", {})
        whole |= {"publication": part.pop("publication")} if "publication" in part else {}
        groups = part.pop("group", [])
        whole["figures"] += [(path, figure) for group in groups for figure in members(path, group, part)]
    if "publication" not in whole:
        raise Fault(f"{folder}: no file has [publication]")
    known(whole["publication"], TABLE_KEYS["publication"], f"{folder}: publication")
    whole["figures"] = [complete(path, figure, whole["sets"]) for path, figure in whole["figures"]]
    ids = [figure["id"] for figure in whole["figures"]]
    for name in ids:
        if ids.count(name) > 1:
            raise Fault(f"{folder}: two figures have the id `{name}`")
    return whole


def inside(part, outer):
    """`part` with missing keys from `outer`; ids and notes are joined."""
    values = {"value", "low", "high"}
    kept = {key: of for key, of in outer.items() if not (key in values and values & set(part))}
    joined = {key: f"{outer[key]}{by}{part[key]}" for key, by in (("id", "."), ("note", "; "))
              if key in outer and key in part}
    return kept | part | joined


def members(path, group, outer):
    known(group, GROUP_KEYS, f"{path}: group `{group.get('id')}`")
    columns = group.get("columns")
    head = inside({key: of for key, of in group.items() if key not in ("columns", "figures")}, outer)
    for figure in group["figures"]:
        values = figure.get("values")
        known(figure, FIGURE_KEYS | {"values"}, f"{path}: figure `{figure.get('id')}`")
        row = inside({key: of for key, of in figure.items() if key != "values"}, head)
        if columns is None:
            yield row
            continue
        if values is not None and len(values) != len(columns):
            raise Fault(f"{path}: figure `{row['id']}`: not one value for each column")
        for at, column in enumerate(columns):
            known(column, COLUMN_KEYS, f"{path}: column of `{group['id']}`")
            own = {"id" if key == "name" else key: of for key, of in column.items()}
            if values is not None and values[at] == "-":
                continue
            yield inside(own | ({} if values is None else {"value": values[at]}), row)


def complete(path, figure, sets):
    """The figure with its bounds, rounding and operations."""
    name = f"{path}: figure `{figure.get('id')}`"
    for key in ("id", "place", "quantity"):
        if key not in figure:
            raise Fault(f"{name}: no `{key}`")
    if figure["quantity"] not in UNITS:
        raise Fault(f"{name}: unknown quantity `{figure['quantity']}`")
    for setup in figure.get("tested", []) + figure.get("baseline", []):
        known(setup, SETUP_KEYS, name)
    ours = [one for item in figure.get("ours", []) for one in (sets[item[1:]] if item[0] == "@" else [item])]
    figure["ours"] = [one for one in ours if one.split(":")[0] not in figure.get("except", [])]
    given = [key for key in ("value", "low", "high") if key in figure]
    if figure["quantity"] == "order":
        if given or len(figure.get("order", [])) < 2:
            raise Fault(f"{name}: needs `order` with two entries or more, and no value")
        return figure
    if not given or ("value" in given and len(given) > 1):
        raise Fault(f"{name}: needs a value or bounds")
    factor = UNITS[figure["quantity"]][1]
    digits = [(Decimal(str(figure[key])) * factor).normalize().as_tuple().exponent if factor > 1
              else Decimal(str(figure[key])).as_tuple().exponent for key in given]
    figure["half"] = 0.5 * 10.0 ** min(0, *digits, 0) / factor
    for key in given:
        figure[key] = float(figure[key])
    return figure


def unavailable(whole, figure):
    """The state and the reason, if we can never have a measurement for this figure."""
    fitting = (of for of in whole["unavailable"]
               if any(fnmatchcase(figure["id"], one) for one in of["figures"]))
    return next(((of.get("state", "cannot be had"), of["why"]) for of in fitting), None)
