# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of modules (section 5.1.2), denials (Figure 5) and prices (section 6), for stacks.py."""

import re
from collections import Counter

import evidence as e
import published as p

BARE = ("none", "", "none", "")
BASE = ("capability", "", "none", "")


# Counts of operations with a dominant path

def by_setup(file):
    """(stack, integrity, policy, settings) to rows by operation, in the order of the result file."""
    found = {}
    for (name, *setup, metric), rows in file["rows"].items():
        if metric == "instructions" and rows[0]["exact"]:
            found.setdefault(tuple(setup), {})[name] = rows[0]
    return found


def cost(row):
    return int(row["value"])


def hooks_of(row):
    return (row["hooked"] or {}).get("hooks", [])


def in_hooks(*signed, figure="outermost"):
    """Instructions by hook, added up over (row, factor)."""
    total = Counter()
    for row, times in signed:
        for hook in hooks_of(row):
            total[hook["hook"]] += times * hook[figure]
    return total


def hook_text(differences, most=3):
    """The largest first: `inode_permission +12, 3 others -4`."""
    hooks = sorted(((name, n) for name, n in sorted(differences.items()) if n), key=lambda one: -abs(one[1]))
    parts = [f"{name} {n:+,}" for name, n in hooks[:most]]
    if hooks[most:]:
        others = "1 other" if len(hooks) == most + 1 else f"{len(hooks) - most} others"
        parts.append(f"{others} {sum(n for _, n in hooks[most:]):+,}")
    return ", ".join(parts)


def title(setup):
    stack, integrity, policy, settings = setup
    named = {"stack": stack.removeprefix("capability,"), "policy": policy, "settings": settings}
    return e.title(named | {"integrity": integrity.split(",") if integrity else []})


# Whether a stack's cost is the sum of its modules' costs

def sums(file):
    """Each operation of each stack over capability, in the first of several orders of the same modules."""
    found, seen, cases = by_setup(file), set(), []
    for setup, rows in found.items():
        modules = setup[0].split(",")[1:]
        if len(modules) < 2 or frozenset(modules) in seen:
            continue
        seen.add(frozenset(modules))
        alone = [found[f"capability,{module}", *setup[1:]] for module in modules]
        for name, row in rows.items():
            base, parts = found[BASE].get(name), [of.get(name) for of in alone]
            if base and all(parts):
                added = [cost(of) - cost(base) for of in (row, *parts)]
                hooks = in_hooks((row, 1), (base, len(parts) - 1), *((part, -1) for part in parts))
                cases.append({"stack": title(setup), "operation": name, "adds": added[0],
                              "sum": sum(added[1:]), "apart": added[0] - sum(added[1:]), "hooks": hooks})
    return cases


def furthest(cases, sign):
    """The case of each stack that is furthest from the sum on one side."""
    most = {}
    for case in cases:
        if sign * case["apart"] > 0 and sign * case["apart"] >= sign * most.get(case["stack"], case)["apart"]:
            most[case["stack"]] = case
    return most


# Which module denies first

MODULES = ["apparmor", "tomoyo", "landlock"]
FILES = ["by-tomoyo-landlock", "allowed", "by-landlock", "by-apparmor-landlock"]


def opens(file):
    """Each open under modules that decide: the hook that decided, and the modules that it called."""
    found = []
    for setup, rows in by_setup(file).items():
        for name, row in rows.items():
            if setup[2] == "enforcing" and name.startswith("denied-open:"):
                called = {hook["hook"]: hook for hook in hooks_of(row) if hook["calls"]}
                hook = called.get("file_open") or called["inode_permission"]
                modules = [one["module"] for one in hook["implementations"]]
                found.append({"result": file["name"], "order": title(setup[:1] + BASE[1:]), "row": row,
                              "file": name.partition(":")[2], "cost": cost(row), "hook": hook["hook"],
                              "in hook": hook["inclusive"],
                              "called": [of for of in setup[0].split(",") if of in modules]})
    return found


def extremes(found):
    """(file, modules) to the cheapest and the most expensive order, if there are several."""
    groups = {}
    for of in found:
        groups.setdefault((",".join(sorted(of["order"].split(","))), of["file"]), []).append(of)
    ranked = {key: [pick(group, key=lambda of: of["cost"]) for pick in (min, max)]
              for key, group in groups.items() if len(group) > 1}
    return dict(sorted(ranked.items(), key=lambda one: list(groups).index(one[0])))


def replays(found):
    """Order to its opens of the paper's four files."""
    orders = {}
    for of in found:
        if set(of["order"].split(",")) == set(MODULES) and of["file"] in FILES:
            orders.setdefault(of["order"], {})[of["file"]] = of
    return {order: [by[name] for name in FILES] for order, by in orders.items()}


def checks(replay):
    """Files that each module checked, in call order."""
    return {module: sum(module in of["called"] for of in replay)
            for module in replay[0]["order"].split(",")}


# The proposals of section 6

def prices(file):
    """The operations, overhead and hooks of each setup, sorted by the cost added to a kernel without LSMs."""
    found = by_setup(file)
    stacks = {}
    for setup, rows in found.items():
        pairs = [(row, found[BARE][name]) for name, row in rows.items() if name in found[BARE]]
        if setup == BARE:
            continue
        adds, inclusive, calls, implemented = Counter(), Counter(), Counter(), set()
        for row, base in pairs:
            for hook in hooks_of(row):
                calls[hook["hook"]] += hook["calls"]
                implemented |= {hook["hook"]} if hook["implementations"] else set()
            adds.update(in_hooks((row, 1), (base, -1)))
            inclusive.update(in_hooks((row, 1), (base, -1), figure="inclusive"))
        hooks = [{"hook": name, "calls": calls[name], "adds": adds[name], "inclusive": inclusive[name],
                  "implemented": name in implemented}
                 for name in sorted(sorted(calls), key=lambda name: -adds[name])]
        whole, held = sum(max(hook["adds"], 0) for hook in hooks), 0
        for hook in hooks:
            held += max(hook["adds"], 0)
            hook |= {"part": hook["adds"] / whole, "held": held / whole, "nine": 10 * held >= 9 * whole}
        stacks[setup] = {"operations": len(pairs), "hooks": hooks, "in hooks": whole,
                         "overhead": sum(cost(row) - cost(base) for row, base in pairs)}
    return stacks


def holding(stack):
    return 1 + sum(not hook["nine"] for hook in stack["hooks"])


def walks(file):
    """(setup, benchmark) to a point for each number of path components."""
    found, paths = by_setup(file), {}
    for setup, rows in found.items():
        for name, row in rows.items():
            benchmark, _, path = name.partition(":")
            needed = [found[BARE].get(name), rows.get(f"stat:{path}"), found[BARE].get(f"stat:{path}")]
            if setup == BARE or benchmark not in ("open", "stat") or not all(needed) \
                    or not re.fullmatch(r"[A-Z]{2}(/[A-Z]{2})*", path):
                continue
            base, stat, bare = needed
            overhead = cost(row) - cost(base)
            directories = in_hooks((stat, 1), (bare, -1))["inode_permission"]
            calls = sum(hook["calls"] for hook in e.hook_calls(hooks_of(stat), ["inode_permission"]))
            outside = overhead - sum(in_hooks((row, 1), (base, -1)).values())
            paths.setdefault((setup, benchmark), []).append(
                {"depth": e.components(name), "overhead": overhead, "calls": calls,
                 "directories": directories, "left": overhead - directories, "outside": outside})
    return {key: sorted(points, key=lambda point: point["depth"]) for key, points in paths.items()}


# CSV files

def csv_texts(cases, found, stacks, paths):
    figure5 = {name: at for at, name in enumerate(FILES, 1)}
    hooks = ["calls", "adds", "part", "held", "implemented"]
    points = ["depth", "calls", "overhead", "directories", "left", "outside"]
    return {
        "sums.csv": p.csv_text(
            ["stack", "operation", "stack adds", "sum of modules", "difference", "difference by hook"],
            [[*(case[key] for key in ("stack", "operation", "adds", "sum", "apart")),
              hook_text(case["hooks"], 99)] for case in cases]),
        "denials.csv": p.csv_text(
            ["result file", "order", "file", "file of Figure 5", "instructions", "decided in",
             "instructions of that hook", "modules called"],
            [[of["result"], of["order"], of["file"], figure5.get(of["file"]), of["cost"], of["hook"],
              of["in hook"], " ".join(of["called"])] for of in found]),
        "prices.csv": p.csv_text(
            ["stack", "rank", "hook", "calls", "adds", "part", "cumulative", "implemented", "adds per call"],
            [[title(setup), at, hook["hook"],
              *(round(hook[key], 4) if key != "implemented" else hook[key] for key in hooks),
              round(hook["adds"] / hook["calls"], 1)]
             for setup, of in stacks.items() for at, hook in enumerate(of["hooks"], 1)]),
        "walks.csv": p.csv_text(
            ["stack", "benchmark", "components", "checks of directories", "adds", "checks add",
             "adds without checks", "outside hooks"],
            [[title(setup), benchmark, *(point[key] for key in points)]
             for (setup, benchmark), of in paths.items() for point in of])}
