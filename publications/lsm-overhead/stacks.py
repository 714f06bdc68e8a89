# SPDX-License-Identifier: GPL-2.0-or-later
"""Write stacks.md and its CSV files: sums of modules, Figure 5 and section 6. page.py calls `texts`."""

import re

import analyses as a
import evidence as e
import published as p

DOCS = "../../docs/results"


# Tables

def sums_tables(cases):
    stacks, below, above = {}, a.furthest(cases, -1), a.furthest(cases, 1)
    for case in cases:
        stacks.setdefault(case["stack"], []).append(case["apart"])
    rows = [[name, len(of), of.count(0), sum(n > 0 for n in of), sum(n < 0 for n in of),
             *(f"{side[name]['operation']} {side[name]['apart']:+,}" if name in side else ""
               for side in (above, below))] for name, of in stacks.items()]
    most = [case for side in (below, above)
            for case in sorted(side.values(), key=lambda case: -abs(case["apart"]))[:3]]
    head = ["stack", "operations", "equal", "more", "less", "furthest above", "furthest below"]
    return {"sums": p.markdown(head, rows), "furthest": p.markdown(
        ["stack", "operation", "adds", "sum of modules", "difference", "of that in hooks"],
        [[case["stack"], case["operation"], f"{case['adds']:+,}", f"{case['sum']:+,}", f"{case['apart']:+,}",
          a.hook_text(case["hooks"])] for case in most])}


def letters(order):
    return ",".join("ABC"[a.MODULES.index(module)] for module in order.split(","))


def denials_tables(replayed, ranked, bare):
    sums_of = {order: sum(of["cost"] for of in four) for order, four in replayed.items()}
    figure5 = []
    for order, four in replayed.items():
        own = {letters(module): n for module, n in a.checks(four).items()}
        figure5.append([letters(order), *(f"{of['cost']:,}" for of in four), f"{sums_of[order]:,}",
                        p.percent(sums_of[order] / max(sums_of.values()) - 1),
                        f"{sums_of[order] - 4 * bare:+,}", f"{sum(of['in hook'] for of in four):,}",
                        ", ".join(f"{name} {n}" for name, n in own.items()), sum(own.values())])
    rows = []
    for (modules, name), (least, most) in ranked.items():
        more = most["cost"] - least["cost"]
        if modules == ",".join(sorted(a.MODULES)) or re.search("selinux|smack", modules):
            if name != "allowed" and more:
                rows.append([name, least["hook"], least["order"], ", ".join(least["called"]),
                             f"{least['cost']:,}", most["order"], ", ".join(most["called"]), f"{more:+,}",
                             p.percent(more / least["cost"])])
    return {"figure5": p.markdown(["order", "file 1", "file 2", "file 3", "file 4", "all four",
                                   "to the most expensive", "more than capability", "in file_open",
                                   "checks", "sum"], figure5),
            "orders": p.markdown(["file", "decided in", "cheapest order", "calls", "instructions",
                                  "most expensive order", "calls", "more", "in %"], rows)}


def prices_tables(stacks, paths):
    rows, walked = [], []
    for setup, of in stacks.items():
        hooks = of["hooks"]
        ranked = sorted(hooks, key=lambda hook: -hook["adds"] / hook["calls"])
        rank = p.stats.spearmanr(*zip(*((hook["calls"], hook["inclusive"]) for hook in hooks))).correlation
        rows.append([a.title(setup), of["operations"], f"{of['overhead']:,}", f"{of['in hooks']:,}",
                     len(hooks), sum(hook["implemented"] for hook in hooks), a.holding(of),
                     f"{hooks[0]['hook']} {100 * hooks[0]['part']:.0f} %",
                     ", ".join(f"{hook['hook']} {hook['adds'] / hook['calls']:,.0f}" for hook in ranked[:2]),
                     f"{rank:.2f}"])
        points = [paths[setup, benchmark] for benchmark in ("open", "stat")]
        (first, last), stat = (points[0][0], points[0][-1]), points[1][-1]
        further = [(last[key] - first[key]) / (last["depth"] - first["depth"])
                   for key in ("overhead", "directories")]
        if not setup[1] or setup[1].count(",") == 2:
            walked.append([a.title(setup), last["calls"], f"{last['directories']:,}",
                           *(f"{n:,.0f}" for n in further), f"{last['overhead']:,}", saved(last),
                           f"{stat['overhead']:,}", saved(stat)])
    return {"prices": p.markdown(["stack", "operations", "adds", "in hooks", "hooks", "implemented",
                                  "for 90 %", "adds most", "most expensive per call",
                                  "rank correlation"], rows),
            "walks": p.markdown(["stack", "checks", "they add", "each component adds", "by its check",
                                 "`open` adds", "saved at most", "`stat` adds", "saved at most"], walked)}


def saved(point, digits=1):
    return f"{100 * point['directories'] / point['overhead']:.{digits}f} %"



# What the tables show

def pair_statement(file, published):
    """The paper's own example: a module and capability, against each of them alone."""
    found, equal, n = a.by_setup(file), 0, 0
    for module in ("selinux", "apparmor", "smack", "tomoyo"):
        alone = found[module, *a.BARE[1:]]
        for name, row in found[f"capability,{module}", *a.BARE[1:]].items():
            if name in alone:
                n, equal = n + 1, equal + (a.cost(row) == a.cost(alone[name]))
    p.require(equal == n, "a module with capability costs what it costs alone")
    opens = [a.cost(found[stack, *a.BARE[1:]]["open:AA"]) - a.cost(found[a.BARE]["open:AA"])
             for stack in ("capability,selinux", "selinux", "capability")]
    p.require(opens[0] < opens[1] + opens[2], "SELinux with capability costs less than the sum")
    modules = {one["module"] for rows in found.values() for row in rows.values()
               for hook in a.hooks_of(row) for one in hook["implementations"]}
    p.require("capability" not in modules, "capability implements none of the called hooks")
    theirs = [published[f"section6.added.{name}.open"] for name in ("stacked", "selinux", "capability")]
    return (f"**SELinux with capability costs less than the sum.** In section 6 they add {theirs[0]:g} µs to "
            f"`open` together, and {theirs[1]:g} and {theirs[2]:g} alone. Ours add {opens[0]:,} instructions "
            f"together, and {opens[1]:,} and {opens[2]:,} alone. Capability implements none of the called "
            f"hooks. With it, SELinux, AppArmor, Smack and TOMOYO cost what they cost alone in {equal} of "
            f"{n} counts.")


def sum_statement(cases, found):
    apart = [case["apart"] for case in cases]
    less = [set(case["stack"].split(",")) for case in cases if case["apart"] < 0]
    most = max(cases, key=lambda case: case["apart"])
    p.require(all("landlock" in of and of & {"selinux", "apparmor"} for of in less),
              "stacks cost less than the sum only if they share the allocation for a file")
    p.require(most["apart"] < 0.01 * most["adds"], "stacks hardly cost more than the sum")
    for case in cases:
        row = found["capability," + case["stack"], *a.BASE[1:]][case["operation"]]
        several = {hook["hook"] for hook in a.hooks_of(row) if len(hook["implementations"]) > 1}
        above = {name for name, n in case["hooks"].items() if n > 0} if case["apart"] > 0 else set()
        p.require(above <= several, "what is more is in hooks that several modules implement")
        shared = [case["hooks"][f"file_{name}_security"] for name in ("alloc", "free")]
        p.require(case["apart"] >= 0 or max(shared) < 0, "what is less is in allocating and freeing")
    return (f"**Pairs and triples of five modules: {apart.count(0)} of {len(apart)} counts are the exact "
            f"sum.** The most above it is {most['apart']} instructions, {most['adds']:,} instead of "
            f"{most['sum']:,}, in hooks that several modules implement. The most below it is {-min(apart)}: "
            f"Landlock and SELinux or AppArmor keep memory with each open file, which the framework "
            f"allocates once.")


def label_statement(ranked):
    labels = {key: of for key, of in ranked.items() if key[1] in ("by-selinux", "by-smack")}
    p.require(all(of["hook"] == "inode_permission" and len(of["called"]) == 1
                  for pair in labels.values() for of in pair), "labels decide before file_open")
    least, most = ranked["selinux,tomoyo", "by-selinux"]
    return (f"**SELinux before TOMOYO saves no check by TOMOYO on an open.** SELinux and Smack deny it in "
            f"`inode_permission`, before `file_open`, which TOMOYO and Landlock implement. With TOMOYO "
            f"the two orders cost {least['cost']:,} and {most['cost']:,} instructions, and neither calls "
            f"TOMOYO's `file_open`.")


def checks_statement(replayed):
    def of(order):
        four = next(four for name, four in replayed.items() if letters(name) == order)
        own = a.checks(four)
        return sum(one["cost"] for one in four), sum(own.values()), own["tomoyo"]
    one, other, second, third, best = map(of, ("A,B,C", "B,A,C", "A,C,B", "B,C,A", "C,A,B"))
    p.require(one[1] == other[1] > second[1] == third[1], "two pairs of orders have as many checks")
    p.require(other[0] > one[0] and third[0] > 1.3 * second[0], "orders with as many checks differ in cost")
    p.require(best[0] == min(of(letters(name))[0] for name in replayed), "C,A,B is the cheapest order")
    least = 1 - best[0] / one[0]
    return (f"**The number of checks is not the cost.** A,B,C and B,A,C have {one[1]} checks and cost "
            f"{one[0]:,} and {other[0]:,} instructions. A,C,B and B,C,A have {second[1]}, and cost "
            f"{second[0]:,} and {third[0]:,}: they call TOMOYO (B) {second[2]} and {third[2]} times.",
            f"in Figure 5 C,A,B costs {100 * least:.1f} % less than A,B,C, and each module checks as many "
            f"files as in the paper.")


def walk_statement(stacks, paths):
    def last(name, benchmark="open"):
        return next(of[-1] for key, of in paths.items() if a.title(key[0]) == name and key[1] == benchmark)
    by = {a.title(setup): of for setup, of in stacks.items()}
    checking = {name for name, of in by.items() for hook in of["hooks"]
                if hook["hook"] == "inode_permission" and hook["implemented"]}
    p.require("selinux" in checking and "smack" in checking and not checking & {"apparmor", "tomoyo"},
              "AppArmor and TOMOYO do not implement inode_permission")
    policy = last("tomoyo (enforcing)")
    p.require(policy["directories"] < 0.05 * policy["overhead"], "TOMOYO's policy costs in other hooks")
    p.require(all(point["calls"] == point["depth"] + (key[0][0] == "capability,smack")
                  for key, of in paths.items() for point in of), "one check for each component")
    others = [by[name]["overhead"] for name in ("selinux", "apparmor", "smack")]
    p.require(by["tomoyo"]["overhead"] < min(others), "without a policy TOMOYO adds least")
    p.require(by["tomoyo (enforcing)"]["overhead"] > 2 * max(others), "with a policy TOMOYO adds most")
    p.require(by["apparmor"]["in hooks"] < by["smack"]["in hooks"], "AppArmor adds less than Smack")
    implemented = {name: sum(hook["implemented"] for hook in of["hooks"]) for name, of in by.items()}
    p.require(implemented["apparmor"] > implemented["smack"], "AppArmor implements more hooks than Smack")
    return {
        "cache": f"**A cache of directory checks would pay for SELinux and Smack only.** Section 6 names no "
                 f"module. For `open` with eight components it saves at most {saved(last('selinux'))} of "
                 f"SELinux's overhead and {saved(last('smack'))} of Smack's. AppArmor and TOMOYO do not "
                 f"implement `inode_permission`: for them it saves {last('apparmor')['directories']} "
                 f"instructions in calls that check nothing, {saved(policy)} of what TOMOYO adds with a policy.",
        "tomoyo": f"**TOMOYO is the most expensive module only with a policy.** Without one, as in the "
                  f"paper, it adds least: {by['tomoyo']['overhead']:,} instructions in "
                  f"{by['tomoyo']['operations']} operations. With one it adds "
                  f"{by['tomoyo (enforcing)']['overhead']:,} in {by['tomoyo (enforcing)']['operations']}; "
                  f"the others, without one, at most {max(others):,}.",
        "hooks": f"Each directory is one more check. The number of hooks is not the cost: AppArmor "
                 f"implements {implemented['apparmor']} of those called and adds "
                 f"{by['apparmor']['in hooks']:,} instructions, Smack {implemented['smack']} and {by['smack']['in hooks']:,}.",
        "held": f"{min(map(a.holding, stacks.values()))} to {max(map(a.holding, stacks.values()))}",
        "outside": f"{last('smack')['outside']:,} of the {last('smack')['overhead']:,}"}


PAGE = """# Stacks, denials and prices

<!-- Written by stacks.py from the result files that it names. -->

Sections 5.1.2 and 6 of [the paper](README.md) and its Figure 5, in instructions of Linux 6.12.118 on \
ext4. The paper has times on 5.3. Only operations with a dominant path count. Names of stacks omit \
`capability,`.

## What disagrees

{disagrees}

What agrees: {agrees}

## Is a stack's cost the sum of its modules'?

The sum of what each module adds to `capability`, and what the stack adds, in instructions without a \
policy. From [stacking.json.xz]({docs}/stacking.json.xz); every case is in [sums.csv](sums.csv).

{sums}

The cases furthest below and above the sum, one for each stack:

{furthest}

## Figure 5, and the cheapest order

AppArmor (A) grants files 1, 2 and 3, TOMOYO (B) 2, 3 and 4, Landlock (C) 2. A granted open is closed \
again. From [denials.json.xz](denials.json.xz) and [denials-smack.json.xz]({docs}/denials-smack.json.xz).

{figure5}

`by-` names the modules that deny a file. Orders of allowed opens differ by at most {allowed} instructions. \
Every order of every file is in [denials.csv](denials.csv).

{orders}

## Prices

Instructions beyond a kernel without LSMs, from [paper.json.xz](paper.json.xz). {held} hooks account for 90 \
% of what a stack adds in hooks. The rank correlation is between a hook's calls and what it adds. \
[prices.csv](prices.csv) has every hook.

{prices}

Paths of eight components. A cache saves at most all checks of directories, if a look-up is free. SELinux \
already has a cache of decisions, the AVC. Smack refuses lookups under RCU, and the walk starts again: \
{outside} instructions that it adds to `open` are outside hooks. [walks.csv](walks.csv) has all paths, and \
SELinux with audit, with IMA and with EVM.

{walks}
"""


def texts(folder, files, published, lsmeter):
    """stacks.md and its CSV files by name, and the largest cost of a stack above the sum of its modules."""
    named = {file["name"].removesuffix(".json.xz"): file for file in files}
    stacking, smack = (e.result(folder / DOCS / f"{name}.json.xz", lsmeter)
                       for name in ("stacking", "denials-smack"))
    cases, found = a.sums(stacking), a.opens(named["denials"]) + a.opens(smack)
    ranked, replayed = a.extremes(found), a.replays(found)
    stacks, paths = a.prices(named["paper"]), a.walks(named["paper"])
    granted = a.by_setup(named["denials"])["capability", "", "none", "denials=true"]["denied-open:allowed"]
    number, saves = checks_statement(replayed)
    of_walks = walk_statement(stacks, paths)
    disagrees = [pair_statement(named["paper-orders"], published), sum_statement(cases, a.by_setup(stacking)),
                 label_statement(ranked), number, of_walks["cache"], of_walks["tomoyo"]]
    allowed = max(most["cost"] - least["cost"] for (_, name), (least, most) in ranked.items()
                  if name == "allowed")
    page = PAGE.format(
        docs=DOCS, allowed=allowed, held=of_walks["held"], outside=of_walks["outside"],
        disagrees="\n".join(f"{at}. {of}" for at, of in enumerate(disagrees, 1)),
        agrees=f"{saves} {of_walks['hooks']}", **sums_tables(cases),
        **denials_tables(replayed, ranked, a.cost(granted)), **prices_tables(stacks, paths))
    above = max(case["apart"] for case in cases)
    return {"stacks.md": page, **a.csv_texts(cases, found, stacks, paths)}, above
