# SPDX-License-Identifier: GPL-2.0-or-later
"""The findings and tables of the page of the LSM overhead paper."""

from collections import Counter

import evidence as e
import published as p
from evidence import np
from judging import MODULES, depends, fit_rows, range_text, settings_table, time_of


def find(verdicts, name):
    return next(one for one in verdicts if one["figure"]["id"] == name)


def value_of(verdicts, name, file):
    """Our figure of one file."""
    return next((one for one in find(verdicts, name)["answers"] if one["file"] == file), None)


def audit(verdicts, fits):
    """The audit rules: the table, and its finding on the first screen."""
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
    finding = (f"**45 times for TOMOYO: only with a policy.** Without one, as in the paper, the most "
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
    return (f"**Overheads: {agree} of {len(own)} agree.** {near} of the {len(points)} that are published as "
            f"a number agree. {implied} of the {agree} are bounds that the text only implies. Theirs are "
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
    return ("**Order of modules: no difference unless one denies.** In a kernel that can also start "
            f"capability last ({release}), {len(differing)} of {compared} exact counts differ between the two orders "
            f"of a pair. The other {inexact} of {compared + inexact} have intervals only. "
            f"Linux 5.3.1 itself refuses the paper's order. A stack costs at most {above} instructions more "
            "than [the sum of its modules](stacks.md).")


def totals(verdicts):
    own = [one for one in verdicts if one["figure"]["id"].startswith("table2.hooks.all.")
           and not one["figure"]["id"].endswith("integrity")]
    equal = [one for one in own if one["state"] == "exact"]
    names = {"selinux": "SELinux", "framework": "the framework"}
    other = [f"{names.get(one['figure']['modules'][0], one['figure']['modules'][0])} "
             f"{one['answers'][0]['value']:.0f} instead of "
             f"{one['figure']['value']:.0f}"
             for one in own if one["state"] != "exact"]
    p.require(own[0]["answers"][0]["release"].startswith("5.3"), "hooks are counted in the source of 5.3")
    return (f"**Hooks of each module on the paper's own kernel: {len(equal)} of {len(own)} totals are "
            f"equal.** The others: "
            f"{', '.join(other)}. For IMA and EVM the paper counts different functions.")


def checks_finding(verdicts):
    own = [one for one in verdicts if one["figure"]["id"].startswith("table6.")]
    agree = [one for one in own if one["state"] in p.AGREE]
    near = [(f"{one['figure']['value']:g}", f"{one['answers'][0]['value']:.0f}") for one in own
            if one["state"] == "tolerance"]
    p.require(len(agree) == len(own), "all slopes of Table 6 are our counts of checks")
    return (f"**Table 6: {len(agree)} of {len(own)}.** The slopes are the permission checks of each `open` "
            f"and `stat`: {len(own) - len(near)} equal in all digits, and "
            f"{', '.join(one for one, _ in near)} where we count {', '.join(other for _, other in near)}.")


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
    """Compares each row of Table 7 once, apart from modules that do not implement the hook."""
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
    return (f"Its bounds equal the source's in {len(equal)} of {len(rows)} rows "
            f"({', '.join(f'`{a}`' for a, _ in equal)}). "
            f"{len(above)} published worst cases are below what was measured. {len(absent)} name a hook that "
            f"the module does "
            f"not implement: {', '.join(absent)}. 5.3.1 decides {decided['5.3']} of {len(own)} figures, 5.10 "
            f"{decided['5.10']} and 6.12 {decided['6.12']}: `lsmeter placement` finds no bound for the "
            f"others in 5.3's source. The {decided['6.12']} are `sendfile`'s. Only 6.12 has the published "
            f"bound of {newer[0]['figure']['value']:g}; 5.3 and 5.10 have none, and "
            f"{newer[0]['answers'][1]['success']} calls on the success path, so they get no verdict. "
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
            f"and TOMOYO: their cost is inside their hooks. With Smack it is up to {max(all_):.2f}, because "
            f"Smack refuses lookups under RCU and the walk starts again outside of hooks.")


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
            f"A path of two components would give 3. `rename` 6.0 is for two components: ours is "
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


def selinux_2001(verdicts):
    """2.4.2 had no audit; the verdict is that of the quoted publication."""
    items = []
    for test in ("open", "stat", "creat"):
        one = find(verdicts, f"table1.selinux-2001.{test}")
        here = [p.text_of(value_of(verdicts, one["figure"]["id"], file))
                for file in ("paper-5.3.json.xz", "paper.json.xz")]
        items.append(f"`{test}` {range_text(one['figure'])} (ours {' and '.join(here)})")
    return (f"SELinux of 2001, without audit, which 2.4.2 did not have: {', '.join(items)}. These are "
            "quoted; their verdicts are [with their publication](../freenix01/README.md). The baseline is no "
            "LSM here, as in all of Table 1, and capability there, because 2.4.2 had capabilities built in.")


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
    return (f"Figure 6 has no operation above 15 % with one module. Ours exceed it most in reads of 0 bytes: "
            f"capability "
            f"alone adds {more:.0f} instructions to {base['value']:.0f}. {own:.0f} of them are `fsnotify`, "
            f"which 5.3's "
            f"`security_file_permission` calls, and which a kernel without LSMs does not call.")


def facts_text(files):
    """Facts about functions that 5.3 does not have."""
    stale = next(file for file in files if file["name"] == "placement-5.3.json.xz")["json"]["stale_facts"]
    own = [fact for fact in stale if fact["function"] in ("open_last_lookups", "do_open")]
    p.require(own and all("has that function" in fact["reason"] for fact in own),
              "5.3 has neither open_last_lookups nor do_open")
    return (f"On 5.3.1, `open` and `open (missing)` have equal success paths: {len(own)} of {len(stale)} facts "
            f"that do not apply there name `open_last_lookups` or `do_open`. In 5.3, `do_last` does the work "
            f"of both, and no fact names it.")


def times_text(verdicts, times):
    own = [(one, time_of(one["figure"], times)) for one in verdicts]
    own = [(one, found) for one, found in own if found]
    bad = [one for one, found in own if depends(found)]
    mkdir = e.timed(times, "mkdir:one", "capability,selinux")
    return (f"The same operations in nanoseconds, in 8 layouts of a UML kernel (6.12.118, tmpfs, no audit) "
            f"on an AMD EPYC, are in "
            f"`figures.csv` without a verdict: tmpfs does not do what ext4 does, and {len(bad)} of "
            f"{len(own)} overheads depend on the "
            f"estimator. `mkdir` under SELinux is {p.percent(mkdir['minimum'][0], 0)}, "
            f"{p.percent(mkdir['median'][0], 0)} or "
            f"{p.percent(mkdir['mean'][0], 0)} by minimum, median or mean of its quiet rounds. "
            + throughputs_text(verdicts))


def throughputs_text(verdicts):
    def figure(name):
        one = find(verdicts, f"table1.current-lsm.throughput.{name}")
        ours = one["answers"][0]
        return (f"{name} {ours['value']:,.0f} ({ours['low']:,.0f} to {ours['high']:,.0f}; theirs "
                f"{one['figure']['value']:,.0f})")
    return ("Throughput of 4 KB with capability, in MB/s: "
            + ", ".join(figure(name) for name in ("copy", "read", "write")) + ".")


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
