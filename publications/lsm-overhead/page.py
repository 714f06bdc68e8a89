#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the page of the LSM overhead paper.

Usage: publications/lsm-overhead/page.py [--lsmeter PATH] [--check]
"""

import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import evidence as e  # noqa: E402
import published as p  # noqa: E402
import stacks  # noqa: E402
from evidence import np  # noqa: E402

MODULES = ["selinux", "apparmor", "smack", "tomoyo"]


# Figures that need more than a number next to a number

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
    """Table 7 against the source: 5.3 if it has a bound, else the next kernel that has one."""
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
    """`own` is of the paper's kernel; `first`, of the first kernel with a bound, decides."""
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
    """Ours with each setting; `=` marks what agrees. Columns: heading, file, setting."""
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


def find(verdicts, name):
    return next(one for one in verdicts if one["figure"]["id"] == name)


def value_of(verdicts, name, file):
    """Our figure of one file."""
    return next((one for one in find(verdicts, name)["answers"] if one["file"] == file), None)


def audit(verdicts, fits):
    """Which rules audit had: the table, and what the first screen says of it."""
    columns = [("5.3: 6 rules", "paper-5.3.json.xz", None),
               ("5.3: audit off", "paper-5.3.json.xz", "audit off"),
               ("6.12: 6 rules", "audit.json.xz", None), ("-a task,never", "audit.json.xz", "audit, -a "
                                                                                            "task,never"),
               ("no rules", "audit.json.xz", "audit, no rules"), ("34 rules", "audit.json.xz", "audit, 34 "
                                                                                               "rules")]
    names, known = settings_table(fits, "default-selinux", columns)
    everything = [of for key, of in fits["fit"].items() if key[0] == "default-selinux"]
    opens, stats = "table1.current-selinux.open", "table1.current-selinux.stat"
    p.require(all(not (of[opens][1] in p.AGREE and of[stats][1] in p.AGREE) for of in everything
                  if opens in of),
              "no setting of audit has both open and stat as published")
    rows = fit_rows(verdicts, known, names)
    first, off = known[0], known[1]
    p.require(first[opens][1] in p.AGREE and off[opens][1] not in p.AGREE,
              "open is as published with six audit rules, and is not without audit")
    agree = [sum(state in p.AGREE for _, state in of.values()) for of in (first, off)]
    p.require(max(sum(state in p.AGREE for _, state in of.values()) for of in everything) < len(names),
              "no set of audit rules fits all rows")
    finding = (f"**The 87 % of `open`: only with audit rules for system calls, and these break other rows.** "
               f"With [six "
               f"rules](../../docs/policies.md#audit) `open` costs {p.percent(first[opens][0]['value'])}, "
               f"and `stat` {p.percent(first[stats][0]['value'])} "
               f"(published: {range_text(find(verdicts, stats)['figure'])}); {agree[0]} of {len(first)} "
               f"figures of the experiment agree. With audit off they are "
               f"{p.percent(off[opens][0]['value'])} and {p.percent(off[stats][0]['value'])}, and {agree[1]} "
               f"agree.")
    return finding, p.markdown(["test", "published", *(name for name, *_ in columns)], rows)


def tomoyo(verdicts, fits):
    name = "tomoyo-entries.json.xz"
    columns = [("5.3: none", "paper-5.3.json.xz", None), ("5.3: policy", "paper-5.3.json.xz", "TOMOYO "
                                                                                              "enforcing"),
               ("6.12: none", name, None), ("6.12: policy", name, "TOMOYO enforcing"),
               ("1,000 entries", name, "TOMOYO enforcing, 1,000 entries"),
               ("2,000 entries", name, "TOMOYO enforcing, 2,000 entries")]
    names, known = settings_table(fits, "figure7-tomoyo", columns)
    largest, opens = "figure7.largest.tomoyo", "figure7.tomoyo-others.open"
    p.require(known[0][largest][0]["value"] < 1, "without a policy no operation costs twice as much under "
                                                 "TOMOYO")
    p.require(known[5][largest][1] in p.AGREE and known[5][opens][1] not in p.AGREE,
              "2,000 entries give 45 times, and break open")
    p.require(largest not in fits["shown"], "no policy explains the 45 times without breaking other rows")
    fitting = sum(state in p.AGREE for _, state in known[5].values())
    finding = (f"**45 times for TOMOYO: not without a policy.** Without one, as in the paper, the most "
               f"expensive operation "
               f"costs {p.percent(known[0][largest][0]['value'])}. 2,000 policy entries give "
               f"{p.percent(known[5][largest][0]['value'], 0)} and fit {fitting} of {len(known[5])} rows, "
               f"but `open`, which the paper "
               f"has below 100 %, then costs {p.percent(known[5][opens][0]['value'], 0)}.")
    return finding, p.markdown(["test", "published", *(head for head, *_ in columns)],
                               fit_rows(verdicts, known, names))


def own_overheads(one):
    figure = one["figure"]
    judged = one["state"] in p.AGREE + p.DIFFER and not figure.get("elsewhere")
    return figure["quantity"] in p.OVERHEADS and judged


def overhead_finding(verdicts):
    own = [one for one in verdicts if own_overheads(one)]
    agree = sum(one["state"] in p.AGREE for one in own)
    implied = sum(one["state"] in p.AGREE and "follows from" in one["figure"].get("note", "") for one in own)
    points = [one for one in own if "value" in one["figure"]]
    near = sum(one["state"] in p.AGREE for one in points)
    p.require(agree < len(own) / 2, "most overheads differ")
    return (f"**Overheads: {agree} of {len(own)} agree.** Among {len(points)} that are published as a number "
            f"{near} agree; {implied} of the {agree} are bounds that the text only implies. Theirs are "
            "times, ours instructions of Linux 5.3.1 on ext4.")


def orders(files, above):
    """Pairs of orders in a kernel built to accept them: compared operations, and those that differ."""
    file = next(file for file in files if file["name"] == "paper-orders.json.xz")
    compared, differing, inexact = 0, [], 0
    for module in MODULES:
        for key, rows in file["rows"].items():
            if key[1] == f"capability,{module}":
                for other in file["rows"].get((key[0], f"{module},capability", *key[2:]), []):
                    if not (rows[0]["exact"] and other["exact"]):
                        inexact += 1
                    else:
                        compared += 1
                        differing += [(key[0], module)] * (rows[0]["value"] != other["value"])
    frame = next(file for file in files if file["name"] == "paper-5.3.json.xz")["frame"]
    refused = frame[frame["stack"].isin([f"{module},capability" for module in MODULES])]
    p.require(len(refused) and (refused.status == "unsupported").all(), "5.3.1 refuses capability at the end")
    release = next(iter(file["rows"].values()))[0]["release"]
    p.require(not differing, f"the order of two modules changes no operation: {differing[:3]}")
    return ("**Order of modules: no difference unless one denies.** In a kernel that starts capability last "
            f"as well ({release}), {len(differing)} of {compared} exact counts differ between the two orders "
            f"of a pair; the other {inexact} of {compared + inexact} have intervals only. "
            f"Linux 5.3.1 itself refuses the paper's order. A stack costs at most {above} instructions more "
            "than [the sum of its modules](stacks.md).")


def totals(verdicts):
    own = [one for one in verdicts if one["figure"]["id"].startswith("table2.hooks.all.")
           and not one["figure"]["id"].endswith("integrity")]
    equal = [one for one in own if one["state"] == "exact"]
    names = {"selinux": "SELinux", "framework": "the framework"}
    other = [f"{names.get(one['figure']['modules'][0], one['figure']['modules'][0])} "
             f"{one['answers'][0]['value']:.0f} for "
             f"{one['figure']['value']:.0f}"
             for one in own if one["state"] != "exact"]
    p.require(own[0]["answers"][0]["release"].startswith("5.3"), "hooks are counted in the source of 5.3")
    return (f"**Hooks of each module on the paper's own kernel: {len(equal)} of {len(own)} totals are "
            f"equal.** The others: "
            f"{', '.join(other)}. Of IMA and EVM the paper counts other functions.")


def checks_finding(verdicts):
    own = [one for one in verdicts if one["figure"]["id"].startswith("table6.")]
    agree = [one for one in own if one["state"] in p.AGREE]
    near = [(f"{one['figure']['value']:g}", f"{one['answers'][0]['value']:.0f}") for one in own
            if one["state"] == "tolerance"]
    p.require(len(agree) == len(own), "all slopes of Table 6 are our counts of checks")
    return (f"**Table 6: {len(agree)} of {len(own)}.** The slopes are the permission checks of each `open` "
            f"and `stat`: {len(own) - len(near)} to the digit, and {', '.join(one for one, _ in near)} for "
            f"{', '.join(other for _, other in near)}.")


def kernels_table(verdicts):
    rows = []
    for module in ["capability", *MODULES, "integrity", "framework"]:
        row = [module]
        for kind in ("hooks.all", "lines.all"):
            one = find(verdicts, f"table2.{kind}.{module}")
            by = {ours["release"].rpartition(".")[0]: f"{ours['value']:,.0f}" for ours in one["answers"]}
            row += [f"{one['figure']['value']:,.0f}", by.get("5.3", "-"), by.get("5.10", "-")]
        rows.append(row)
    return p.markdown(["module", "hooks", "5.3.1", "5.10", "lines", "5.3.1", "5.10"], rows)


def table7(verdicts):
    """Rows of Table 7 are compared once; modules that do not implement the hook aside."""
    own = [one for one in verdicts if one["figure"]["quantity"] == "upper-bound"]
    rows = {}
    for one in own:
        if one["figure"]["value"]:
            rows.setdefault((one["figure"]["theirs"], one["figure"]["hooks"][0]), []).append(one)
    equal = [key for key,
             of in rows.items()
             if all(one["state"] == "exact" for one in of if one["answers"][0]["implements"])]
    above = [one for one in own if one["cause"].startswith("measured")]
    absent = sorted({f"{one['figure']['modules'][0]} {one['figure']['hooks'][0]} in {one['figure']['theirs']}"
                     for one in own if "does not implement" in one["cause"]})
    decided = Counter(one["answers"][0]["release"].rpartition(".")[0] for one in own)
    newer = [one for one in own if one["state"] == "no verdict"]
    p.require({one["figure"]["theirs"] for one in newer} == {"sendfile"}, "only sendfile has no verdict")
    p.require(set(decided) == {"5.3", "5.10", "6.12"} and decided["6.12"] == len(newer),
              "three kernels decide, and 6.12 the figures without a verdict")
    return (f"Its bounds are the source's in {len(equal)} of {len(rows)} rows "
            f"({', '.join(f'`{a}`' for a, _ in equal)}). "
            f"{len(above)} published worst cases are below what was measured. {len(absent)} name a hook that "
            f"the module does "
            f"not implement: {', '.join(absent)}. 5.3.1 decides {decided['5.3']} of {len(own)} figures, 5.10 "
            f"{decided['5.10']} and 6.12 {decided['6.12']}: `lsmeter placement` finds no bound for the "
            f"others in 5.3's source. The {decided['6.12']} are `sendfile`'s. Only 6.12 has the published "
            f"bound of {newer[0]['figure']['value']:g}; 5.3 and 5.10 have none, and "
            f"{newer[0]['answers'][1]['success']} calls on the success path, so that there is no verdict. "
            f"`figures.csv` has the source's bound and the most calls measured.")


def equation(files):
    file = next(file for file in files if file["name"] == "paper-5.3.json.xz")
    points = {}
    for (name, stack, integrity, policy, _, _), rows in file["rows"].items():
        hooking = stack.startswith("capability") and not integrity and policy == "none"
        if hooking and rows[0]["exact"] and rows[0]["hooked"]:
            hooked = rows[0]["hooked"]
            points.setdefault(name, []).append((hooked["hooked"], hooked["total"], "smack" in stack))
    def beta(of):
        return float(np.polyfit([one[0] for one in of], [one[1] for one in of], 1)[0])
    most = {name: of for name, of in points.items() if len(of) == 5}
    three = [beta([one for one in of if not one[2]]) for of in most.values()]
    all_ = [beta(of) for of in most.values()]
    p.require(max(abs(one - 1) for one in three) < 0.005, "beta1 is 1 without Smack")
    p.require(max(all_) > 1.1, "Smack costs outside of its hooks")
    walks = [sum(hook["calls"] for hook in e.hook_calls(
        e.rows_of(file, "stat:AA", {"stack": stack})[0]["hooked"]["hooks"], ["inode_permission"]))
        for stack in ("capability", "capability,smack")]
    p.require(walks[1] == walks[0] + 1, "under Smack a walk has one inode_permission more")
    return (f"Equation 1 has T_fop = b1 T_hook + b2 T_policy + e, and publishes b2 only (Table 6). In "
            f"instructions b1 is "
            f"{np.median(three):.3f} for each of {len(three)} operations over capability, SELinux, AppArmor "
            f"and TOMOYO: what they "
            f"cost, they cost inside their hooks. With Smack it is up to {max(all_):.2f}, because Smack "
            f"refuses lookups under "
            f"RCU and the walk starts again outside of hooks.")


def openat(verdicts, files):
    file = next(file for file in files if file["name"] == "paper-5.3.json.xz")
    hooks = e.rows_of(file, "openat:random", {"stack": "capability"})[0]["hooked"]["hooks"]
    calls = {name: sum(hook["calls"] for hook in e.hook_calls(hooks, [name]))
             for name in ("inode_permission", "file_permission", "file_fcntl")}
    p.require(calls["file_permission"] == calls["file_fcntl"] == 0, "openat calls neither file_permission "
                                                                    "nor file_fcntl")
    rename = find(verdicts, "figure4.rename")
    p.require(rename["state"] == "differs: shown", "rename's 6.0 is that of two components")
    return (f"`openat` 3.0: section 6 explains it by the parent directory, `file_permission` and "
            f"`file_fcntl`. On 5.3.1 `openat` "
            f"calls `inode_permission` {calls['inode_permission']} times and the other two not at all, so "
            f"this reason does not hold. "
            f"A path of two components would give 3. `rename` 6.0 is that of two components: ours is "
            f"{rename['answers'][0]['value']:.0f} for one, and 6 for two, although the text says that paths "
            f"do not matter.")


RANKS = [("overheads, Table 1, current SELinux",
          lambda figure: figure["id"].startswith("table1.current-selinux.")
          and figure["quantity"] == "overhead"),
         ("checks, Table 6 and Figure 4", lambda figure: figure["quantity"] == "slope"),
         ("hooks of modules, Tables 2 and 5", lambda figure: figure["quantity"] == "module-hooks"),
         ("lines, Table 2", lambda figure: figure["id"].startswith("table2.lines.all")),
         ("shares of hooks, section 5.1.1", lambda figure: figure["quantity"] == "hook-share")]


def ranks(verdicts):
    rows = []
    for name, keep in RANKS:
        found = p.correlation(p.value_pairs(verdicts, keep))
        rows.append([name,
                     *(["-"] * 3 if found is None else [found[0], f"{found[1]:.2f}", f"{found[2]:.2f}"])])
    return p.markdown(["quantity", "n", "rank correlation", "median of ours / theirs"], rows)


# Times

def stack_of(figure, times):
    """UML kernels have no audit, and capability comes first."""
    for setup in figure.get("tested", []):
        for stack in (setup["stack"], f"capability,{setup['stack']}"):
            if any(key[1] == stack for key in times):
                return stack
    return None


def time_of(figure, times):
    """Of UML kernels: overhead by estimator; None for medians and maxima."""
    stack = stack_of(figure, times)
    if figure["quantity"] not in p.OVERHEADS or figure.get("over") or not stack or not figure["ours"]:
        return None
    return e.timed(times, figure["ours"][0], stack)


def depends(found):
    """Does another estimator lie outside the median's interval?"""
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
    """Latencies, next to ours of a UML kernel, in µs."""
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


def selinux_2001(verdicts):
    """No audit in 2.4.2; the verdict is that of the quoted publication."""
    items = []
    for test in ("open", "stat", "creat"):
        one = find(verdicts, f"table1.selinux-2001.{test}")
        here = [p.text_of(value_of(verdicts, one["figure"]["id"], file))
                for file in ("paper-5.3.json.xz", "paper.json.xz")]
        items.append(f"`{test}` {range_text(one['figure'])} (ours {' and '.join(here)})")
    return (f"SELinux of 2001, without audit, which 2.4.2 did not have: {', '.join(items)}. These are "
            "quoted, and get their verdict [where they were published](../freenix01/README.md). The baseline "
            "is no LSM here, as in all of Table 1, and capability there, because 2.4.2 had capabilities "
            "built in.")


def stated_orders(verdicts):
    own = [one for one in verdicts if one["figure"]["quantity"] == "order"]
    wrong = [f"{one['figure']['theirs']} (ours: {one['answers'][0]['text'].replace(' > ', ' and ')} %)"
             for one in own
             if one["state"] in p.DIFFER]
    right = len(own) - len(wrong)
    return f"{right} of {len(own)} orders that the text states hold. The others: {'; '.join(wrong)}."


def fsnotify(files):
    """On 5.3 the framework's file_permission also sends the event of reading."""
    file = next(file for file in files if file["name"] == "paper-5.3.json.xz")
    row, base = (e.rows_of(file, "read:0KB", {"stack": stack})[0] for stack in ("capability", "none"))
    measurement = next(one for one in file["json"]["measurements"] if one["key"]["stack"] == ["capability"]
                       and e.operation(one["key"]) == "read:0KB")
    tree = measurement["evidence"]["counted"]["tree"]
    own = sum(n for caller, function, _, n in tree["nodes"] if "fsnotify" in tree["functions"][function]
              and tree["functions"][tree["nodes"][caller][1]] == "security_file_permission")
    more = row["value"] - base["value"]
    p.require(own > more / 2, "most of what reading 0 bytes costs more is fsnotify, called by "
                              "security_file_permission")
    return (f"Figure 6 has no operation above 15 % with one module. Ours that exceed it most are reads of 0 "
            f"bytes: capability "
            f"alone adds {more:.0f} instructions to {base['value']:.0f}. {own:.0f} of them are `fsnotify`, "
            f"which 5.3's "
            f"`security_file_permission` calls, and which a kernel without LSMs leaves out.")


def times_text(verdicts, times):
    own = [(one, time_of(one["figure"], times)) for one in verdicts]
    own = [(one, found) for one, found in own if found]
    bad = [one for one, found in own if depends(found)]
    mkdir = e.timed(times, "mkdir:one", "capability,selinux")
    return (f"The same operations in nanoseconds, in 8 layouts of a UML kernel (6.12.118, tmpfs, no audit) "
            f"on an AMD EPYC, stand in "
            f"`figures.csv` without a verdict: tmpfs does not do what ext4 does, and {len(bad)} of "
            f"{len(own)} overheads depend on the "
            f"estimator. `mkdir` under SELinux is {p.percent(mkdir['minimum'][0], 0)}, "
            f"{p.percent(mkdir['median'][0], 0)} or "
            f"{p.percent(mkdir['mean'][0], 0)} by minimum, median or mean of its quiet rounds.")


# Figures

def draw(folder, verdicts):
    own = [one for one in verdicts if own_overheads(one) and one["figure"].get("value")
           and one["answers"][0]["value"] > 0]
    series = {(label, marker): p.percents(one for one in own if (one["state"] in p.AGREE) == agree)
              for label, marker, agree in (("agrees", "o", True), ("differs", "x", False))}
    p.scatter(folder, "overheads", series, [0.5, 2000], xscale="log", yscale="log",
              xlabel="published overhead, %", ylabel="ours on Linux 5.3.1, % of instructions",
              title="Overheads published as a number")
    slopes = [one for one in verdicts if one["figure"]["quantity"] == "slope"]
    series = {(name.strip(), marker): [(one["answers"][0]["value"], one["figure"]["value"]) for one in slopes
                                       if one["figure"]["theirs"].startswith(name)]
              for name, marker in (("open ", "o"), ("stat ", "s"), ("openat", "x"), ("rename", "+"))}
    p.scatter(folder, "checks", series, [0, 10], xlabel="permission checks per operation, Linux 5.3.1",
              ylabel="published slope", title="Figure 4 and Table 6")


PAGE = """{first_screen}
Sums of modules, Figure 5 and the proposals of section 6: [stacks.md](stacks.md).

Of 5.3.1, 5.10 and 6.12.118 the first kernel that has a figure decides. An experiment has one
setting. Another setting shows the cause of a difference only if ours then agrees on every kernel of the
result file, and if no other figure of the experiment fits worse, not even one that differs either way. Of
several operations that could stand for a test the first in the TOML file decides, which is section 4.1's.

## What disagrees

### Which rules audit had

The paper has "auditing enabled" and does not state the rules. `=`: agrees. The four columns on the right:
6.12.118.

{audit}

### TOMOYO's 45 times

"Policy" is an enforcing one, "entries" are those of the domain before the one that matches.

{tomoyo}

### Table 1

{table1}

{quoted}

![Overheads](overheads.svg)

### Table 7

{table7}

### Figures 4 and 6, and stated orders

{openat}

{fsnotify}

{orders}

## Counts

{kernels}

{equation}

![Checks](checks.svg)

## Ranks

Spearman's, of single published values and ours, without bounds and pairs of zeros. A number that is
published twice counts once. No rank mixes quantities: Table 1's rows LSM have three overheads of latencies
and three of throughputs each, too few for a rank.

{ranks}

## Times

{times}

## Errors in the publication

{errors}

## Again

`make publications` writes this page from:

{results}

```
lsmeter kernel build 6.12-dac --source linux-source-6.12 --flavour dac
lsmeter kernel build 6.12-all --source linux-source-6.12
lsmeter run paper --with-hooks --output paper.json
lsmeter sensitivity --hooks inode_permission,file_permission --output slopes.json
lsmeter placement linux-source-5.10 --fs ext4 --output placement-5.10.json
```

The presets `paper-calls`, `audit`, `integrity`, `tomoyo-entries`, `paper-orders`, `denials` and
`paper-suite` are run in the same way, and `paper-um --aa` for times. The files of 5.3 are `paper`,
`paper-suite` and `placement` with Linux 5.3.1, the first stable release after the paper's 5.3.0.
"""


# Where the paper contradicts itself

def contradictions(verdicts):
    """Numbers come from the published figures."""
    def of(name):
        figure = find(verdicts, name)["figure"]
        return figure.get("value", figure.get("high", figure.get("low")))

    def base(row, test):
        return of(f"table1.{row}.latency.{test}") / (1 + of(f"table1.{row}.{test}"))
    opens, creats = ([base(f"current-{row}", test) for row in ("lsm", "selinux")]
                     for test in ("open", "creat"))
    added = of("table1.current-selinux.latency.open") - opens[1]
    sums = {module: sum(of(f"table5.{category}.{module}") for category in CATEGORIES)
            for module in ("selinux", "smack")}
    p.require(all(of(f"table5.total.{module}") != n for module, n in sums.items()), "categories do not add "
                                                                                    "up")
    null_io = find(verdicts, "section5.1.no-larger.selinux-2001")["answers"][0]["value"]
    return "\n".join(f"- {item}" for item in (
        f"Table 1 has two baselines. `open` without LSM takes {opens[0]:.2f} µs by the LSM row and "
        f"{opens[1]:.2f} µs by the SELinux "
        f"row, `creat` {creats[0]:.1f} and {creats[1]:.1f} µs.",
        f"Capability alone: Table 1 has `open` {100 * of('table1.current-lsm.open'):g} % and `stat` "
        f"{100 * of('table1.current-lsm.stat'):g} %, section 5.1.1 below 5 % and "
        f"{100 * of('figure6.capability.stat'):g} %.",
        f"SELinux: `open` costs {100 * of('table1.current-selinux.open'):g} % stacked and below 5 % alone, "
        f"`mkdir` and `rmdir` "
        f"below 2 % stacked and 8 to 14 % alone.",
        f"\"From 8 % to 19 %\" for the rest of the tests, but `write` is "
        f"{100 * of('table1.current-selinux.write'):g} % in Table 1.",
        "SELinux adds \"about 1 µs\" to `open` in section 5.1, and "
        f"{of('section6.added.stacked.open'):g} µs "
        f"in section 6; Table 1 "
        f"gives {added:.2f}.",
        "Section 6 swaps terms: capability adds 0.09 µs to `open` and 0.04 to `stat`, the sums that follow "
        "have 0.04 and 0.09.",
        f"SELinux of 2001 \"no larger than 28 % for the tests we evaluate\": its source has "
        f"{100 * null_io:g} % for null I/O, which counts only if it stands for read and write. That source "
        f"measured an enforcing policy; the paper says that calls were short-circuited.",
        "\"copy 21 µs, 10 %\" of SELinux in 2001 is a misprint: "
        "the source has 23.0 and 21.0 MB/s for a file "
        "copied by 256 bytes.",
        "Equation 4 drops the sign, so that an improvement looks like an overhead; the caption of Figure 7 "
        "has \"negative\" overheads.",
        "Orders such as `selinux,capability` do not exist in 5.3: `LSM_ORDER_FIRST` puts capability first, "
        "and SELinux, AppArmor "
        "and Smack exclude each other. A patch is not mentioned.",
        "TOMOYO: 45x in section 1, above 100 % for six tests in section 5.1.2, below 5 % alone in section "
        "5.1.1.",
        "14 tests in Table 3, 16 in section 5; results for `mkstemp` and `link`, which neither describes; 59 "
        "sub-benchmarks, where "
        "the text describes 51, or 63 with throughputs.",
        "Table 3: `read` is open, read, close; section 4.1: each read is one operation.",
        "Slopes of other tests than `open` and `stat` are said not to depend on the path. That of `rename` "
        "does.",
        "Table 7, `stat`: TOMOYO has `inode_permission` and Smack has not; `open` has it the other way "
        "round, as the source does. "
        "`security_path_name` must be `security_path_rename`. Smack has `file_permission` in section 3, and "
        "not in section 5.2.2.",
        f"Lines of LSM 5.3: {of('text.lines.lsm-5.3'):,.0f} in the abstract, "
        f"{of('table2.lines.all.framework'):,.0f} in Table 2. "
        f"29 hooks are of 2.5.15 in Table 1 and of 2.5.29 in section 2; 122 are SELinux's of 2.4.2 or LSM's "
        f"of 2.6.0.",
        f"Table 5 does not add up: SELinux's categories make {sums['selinux']:.0f} of "
        f"{of('table5.total.selinux'):.0f} hooks, Smack's "
        f"{sums['smack']:.0f} of {of('table5.total.smack'):.0f}. `ima_file_mmap` counts as file hook and as "
        f"mmap hook.",
        "Section 4.2 has `security_inode_unlink` and `security_inode_rename` call "
        "`security_inode_permission`; `fs/namei.c` does.",
        "Not stated: the buffer of Figure 6's read, audit's rules, what IMA and EVM covered and with which "
        "keys, and any interval."))


CATEGORIES = ["inode", "dentry", "file", "superblock", "mmap", "path", "bprm", "task", "proc", "ptrace",
              "cap", "seclabel",
              "cred", "audit"]


def build(folder, lsmeter):
    whole = p.load(folder)
    files = e.results(folder, whole["publication"]["results"], lsmeter)
    times = e.quiet_times(e.document(folder / f"{whole['publication']['times']}.json.xz"))
    p.benchmarks(whole, files, lsmeter)
    verdicts, fits = p.judged(whole, files, explain(files, times))
    audit_finding, audit_table = audit(verdicts, fits)
    tomoyo_finding, tomoyo_table = tomoyo(verdicts, fits)
    published = {figure["id"]: figure.get("value") for figure in whole["figures"]}
    of_stacks, above = stacks.texts(folder, files, published, lsmeter)
    findings = [audit_finding, tomoyo_finding, overhead_finding(verdicts), orders(files, above),
                totals(verdicts), checks_finding(verdicts)]
    table1 = [one for one in verdicts if one["figure"]["place"].startswith("Table 1, row")
              and own_overheads(one)]
    rows = [[f"{one['figure']['place'].removeprefix('Table 1, row ')}: {one['figure']['theirs']}",
             range_text(one["figure"]), p.text_of(one["answers"][0]),
             p.text_of(value_of(verdicts, one["figure"]["id"], "paper.json.xz")),
             one["state"].removeprefix("differs: ") if one["state"] in p.DIFFER else one["state"]]
             for one in table1]
    links = ("[figures.csv](figures.csv). Everything of ours that could stand for a figure: "
             "[measurements.csv](measurements.csv). "
             "Each experiment with each setting: [settings.csv](settings.csv). Plots: "
             "[overheads](overheads.pdf), "
             "[checks](checks.pdf)")
    text = PAGE.format(
        first_screen=p.first_screen(whole, findings, verdicts, links), audit=audit_table, tomoyo=tomoyo_table,
        table1=p.markdown(["figure", "published", "ours, 5.3.1", "ours, 6.12.118", "verdict or cause"], rows),
        kernels=kernels_table(verdicts), table7=table7(verdicts), equation=equation(files),
        openat=openat(verdicts, files), quoted=selinux_2001(verdicts),
        fsnotify=fsnotify(files),
        orders=stated_orders(verdicts),
        ranks=ranks(verdicts), times=times_text(verdicts, times), errors=contradictions(verdicts),
        results=p.result_list(folder, files, [whole["publication"]["times"]]))
    names = ["UML minimum", "UML median", "UML low", "UML high", "UML mean", "depends on the estimator",
             "most calls measured"]
    cells = time_cells(times)
    texts = {"README.md": text, "measurements.csv": p.measurements_csv(verdicts),
             "figures.csv": p.figures_csv(verdicts, lambda one: [*cells(one), measured_text(one, files)],
                                          names),
             "settings.csv": p.settings_csv(fits)}
    texts |= of_stacks
    return texts, lambda: draw(folder, verdicts)


def measured_text(one, files):
    if one["figure"]["quantity"] != "upper-bound":
        return ""
    most = most_calls(one["figure"], files)
    return ", ".join(f"{calls} in {name} ({release})" for name, (calls, release) in most.items())


if __name__ == "__main__":
    sys.exit(p.run(p.here(__file__), build))
