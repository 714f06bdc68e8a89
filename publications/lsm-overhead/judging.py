# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on figures of the LSM overhead paper for which comparing two numbers is not enough."""

import re
from pathlib import Path

import evidence as e
import published as p
from evidence import np

MODULES = ["selinux", "apparmor", "smack", "tomoyo"]


# Figures for which comparing two numbers is not enough

# System calls of Table 7 that walk no path.
WITHOUT_PATH = {"fchmod", "read", "write", "sendfile", "close"}


def polynomial(text):
    """Calls at one and at eight components; None if they have no bound."""
    if text == "unbounded":
        return None
    values = []
    for depth in (1, 8):
        terms = [re.fullmatch(r"(\d*)([DS]?)", term).groups() for term in text.split("+")]
        values.append(sum(int(n or 1) * {"": 1, "D": depth, "S": 0}[by] for n, by in terms))
    return values


def upper_bound(figure, ours, files):
    """Compares Table 7 with the source of 5.3 if that has a bound, or else of the next kernel that has one."""
    system_call, hook, module = figure["theirs"], figure["hooks"][0], figure["modules"][0]
    case = "new" if system_call == "creat" else ""
    for file in files:
        if file["kind"] != "placement":
            continue
        frame = file["frame"]
        found = frame[(frame.level == "hook") & (frame.syscall == system_call) & (frame.hook == hook)
                      & (frame.fs == "ext4")]
        row = found[found.case.isin([case])].head(1) if case in list(found.case) else found.head(1)
        if row.empty:
            continue
        implements = module in row.module.iloc[0].split(",")
        text = row.upper_bound.iloc[0] if implements else "0"
        ours.append(e.answer(file, {"release": row.version.iloc[0]}, {"stack": "source"}, f"{system_call}, "
                                                                                          f"{hook}",
                             np.nan) | {"text": text, "implements": implements,
                                        "success": row.success_path.iloc[0] if implements else "0"})
    if not ours:
        return "not measured", ""
    own = ours[0]
    ours.sort(key=lambda one: one["text"] == "unbounded")
    return bound_verdict(figure, ours[0], own, most_calls(figure, files))


def most_calls(figure, files):
    """Measured calls of the module for each operation of the row, in the oldest kernel."""
    setup, most = {"stack": f"capability,{figure['modules'][0]}"}, {}
    for name in figure["ours"]:
        rows = [row for file in files if file["kind"] == "run" for row in e.rows_of(file, name, setup)
                if row["hooked"]]
        if rows:
            hooks = e.hook_calls(rows[0]["hooked"]["hooks"], figure["hooks"])
            most[name] = e.of_module(hooks, figure["modules"][0]), rows[0]["release"]
    return most


def bound_verdict(figure, first, own, measured):
    """`own` is from the paper's kernel; `first`, from the first kernel with a bound, decides."""
    theirs, text = p.bound_text(figure), first["text"]
    if theirs == text and own["success"] != first["success"]:
        return "no verdict", (f"{own['release']} has no bound, and {own['success']} calls on the success "
                              f"path; the bound is of {first['release']}")
    if theirs == text:
        return ("zero" if theirs == "0" else "exact"), ""
    factor = e.components if figure.get("per_component") else lambda name: 1
    above = [(name, *most) for name, most in measured.items() if most[0] > figure["value"] * factor(name)]
    if above:
        name, calls, release = above[0]
        text = f"measured on {release}: {calls} calls in {name}, more than the published worst case"
        return "differs: shown", text
    if not first["implements"]:
        return "differs: shown", f"{figure['modules'][0]} does not implement the hook"
    if theirs == "0":
        return "differs: shown", f"{figure['modules'][0]} implements the hook"
    ours, at = polynomial(text), [figure["value"] * depth if figure.get("per_component") else figure["value"]
                                  for depth in (1, 8)]
    if (ours is None or (ours[0] >= at[0] and ours[1] >= at[1])) and figure["theirs"] not in WITHOUT_PATH:
        cause = "the last component, symbolic links, repeated lookups or O_CREAT are left out"
        return "differs: possible", cause
    if figure.get("per_component") and "D" not in text:
        return "differs: possible", "the hook is called for the last component only, not for each"
    return "differs: unexplained", ""


def order(figure, ours, files):
    """Overheads of operations, or medians of stacks, each above the next."""
    runs = [file for file in files if file["kind"] == "run"]
    values = []
    for item in figure["order"]:
        if figure["ours"]:
            setup = {"tested": [{"stack": item}], "over": "median"}
        else:
            setup = {"tested": figure["tested"], "ours": [item]}
        found = e.answers(figure | setup | {"quantity": "overhead"}, runs)
        if not found:
            return "not measured", ""
        values.append(found[0])
    text = " > ".join(f"{100 * one['value']:.1f}" for one in values)
    ours.append(values[0] | dict.fromkeys(("value", "low", "high"), np.nan)
                | {"text": text, "benchmark": " > ".join(figure["order"])})
    if all(one["low"] > other["high"] for one, other in zip(values, values[1:])):
        return "bound", ""
    return "differs: unexplained", ""


def quoted(figure, ours):
    """A statement about another publication, compared with that publication's own figures."""
    source = p.load(Path(__file__).resolve().parent.parent / "freenix01")
    own = [one for one in source["figures"] if one["id"] == "table10.null-io"][0]
    ours.append({"value": own["value"], "low": own["value"], "high": own["value"], "release": "2.4.2",
                 "benchmark": "null I/O in its Table 10", "configuration": "",
                 "file": "../freenix01/published.toml"})
    state = p.judge(figure, ours[0])
    cause = "the quoted table has more, if its null I/O is one of the tests: a read and a write of one byte"
    return ("differs: possible", cause) if state == "differs" else (state, "")


def explain(files, times):
    def own(figure, ours):
        quantity = figure["quantity"]
        if quantity == "upper-bound":
            return upper_bound(figure, ours, files)
        if quantity == "order":
            return order(figure, ours, files)
        if quantity in ("latency", "added-latency"):
            add_times(figure, ours, times)
            return None
        if quantity == "quoted":
            return quoted(figure, ours)
        if quantity == "module-calls" and ours and ours[0]["value"] > figure["value"]:
            return "differs: shown", freed(ours[0], figure, files)
        if quantity == "nested-calls" and ours and ours[0]["value"] == 0:
            return "differs: shown", "by the call tree fs/namei.c calls it; the module's hook does not"
        if quantity == "text" and figure["id"].startswith("text."):
            return "not measured", "lsmeter does not count system calls or whole kernels"
        if figure["id"].startswith("text.lines.kernel-5.3"):
            return "not measured", "lsmeter does not count system calls or whole kernels"
        return None
    return own


def freed(first, figure, files):
    file = next(file for file in files if file["name"] == first["file"])
    row = e.rows_of(file, first["benchmark"], figure["tested"][0])[0]
    names = [hook["hook"] for hook in row["hooked"]["hooks"] if e.of_module([hook], figure["modules"][0])]
    p.require(set(names) <= {"file_free_security", "file_release"}, "closing a file only frees and releases "
                                                                    "it")
    return f"{', '.join(names)}: it frees what the module keeps with the file, and checks nothing"


# The page

def range_text(figure):
    low, high = (None if key not in figure else f"{100 * figure[key]:g}" for key in ("low", "high"))
    if "value" in figure:
        return f"{100 * figure['value']:g} %"
    return f"{low} to {high} %" if low and high else (f"above {low} %" if low else f"at most {high} %")


def settings_table(fits, experiment, columns):
    """Our figures with each setting; `=` marks those that agree. Columns: heading, file, setting."""
    known = [fits["fit"].get((experiment, file, setting), {}) for _, file, setting in columns]
    names = list(dict.fromkeys(name for of in known for name in of))
    return names, known


def fit_rows(verdicts, known, names):
    figures = {one["figure"]["id"]: one["figure"] for one in verdicts}
    rows = []
    for name in names:
        cells = []
        for of in known:
            ours, state = of.get(name, (None, ""))
            cells.append("-"
                         if ours is None else p.percent(ours["value"]) + (" =" if state in p.AGREE else ""))
        rows.append([figures[name]["theirs"], range_text(figures[name]), *cells])
    agree = [sum(state in p.AGREE for _, state in of.values()) for of in known]
    rows.append(["**agree**", "", *(f"{n} of {len(of)}" for n, of in zip(agree, known))])
    return rows


# Times

def stack_of(figure, times):
    """UML kernels have no audit, and capability comes first."""
    for setup in figure.get("tested", []):
        for stack in (setup["stack"], f"capability,{setup['stack']}"):
            if any(key[1] == stack for key in times):
                return stack
    return None


def time_of(figure, times):
    """Overhead in UML kernels by estimator; None for medians and maxima."""
    stack = stack_of(figure, times)
    if figure["quantity"] not in p.OVERHEADS or figure.get("over") or not stack or not figure["ours"]:
        return None
    return e.timed(times, figure["ours"][0], stack)


def depends(found):
    """Whether another estimator lies outside the median's interval."""
    _, low, high = found["median"]
    return any(not low <= of[0] <= high for of in found.values())


def time_cells(times):
    def cells(one):
        found = time_of(one["figure"], times)
        if found is None:
            return [""] * 6
        values = [f"{100 * of:.2f}" for of in (found["minimum"][0], *found["median"], found["mean"][0])]
        return [*values, "yes" if depends(found) else "no"]
    return cells


def add_times(figure, ours, times):
    """Latencies in µs, next to ours from a UML kernel."""
    stack, name = stack_of(figure, times), (figure["ours"] or [None])[0]
    if (name, stack) not in times:
        return
    if figure["quantity"] == "latency":
        found = e.centre([float(np.median(rounds)) for rounds in times[name, stack].values()])
    else:
        found = e.timed(times, name, stack, absolute=True)["median"]
    ours.append({"file": "nanoseconds-6.12.json.xz", "release": "6.12.118", "benchmark": name,
                 "why": "UML, tmpfs, no audit",
                 "configuration": stack, **dict(zip(("value", "low", "high"), (of / 1000 for of in found)))})
