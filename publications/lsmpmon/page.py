#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the page of LSMPMON.

Usage: publications/lsmpmon/page.py [--lsmeter PATH] [--check]
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import published as p  # noqa: E402

PAGE = """{first_screen}
Verdicts are for 6.1, which is nearer to 2.6.30 than 6.12. SELinux enforces Debian's reference policy, TOMOYO
lsmeter's policy, on ext4. Ours are instructions, theirs times. Their "Normal" still calls hooks (Table 7), so
our baseline is capability.

## Every overhead

Without LIDS, which is not in the kernel. Table 3 is for 2.6.30, Table 4 for 2.6.19.

{overheads}

![Overheads](overheads.svg)

Rank correlation of ours with theirs: SELinux {selinux}, TOMOYO {tomoyo}. Calls of counted hooks: {calls}.

## Hooks of Table 7

Their microseconds and our instructions of one call, on 6.1, without verdicts.

{hooks}

## Errors in the publication

{errors}

## How to repeat it

{results}

```
lsmeter run lsmpmon --output lsmpmon.json
make publications
```
"""


def of_quantity(verdicts, quantity, name=""):
    return [one for one in verdicts if one["figure"]["quantity"] == quantity and one["answers"]
            and name in one["figure"]["id"].split(".") + [""]]


def findings(verdicts):
    own = of_quantity(verdicts, "overhead")
    agree = [one for one in own if one["state"] in p.AGREE]
    selinux = of_quantity(verdicts, "overhead", "selinux")
    unexplained = sum(one["state"] == "differs: unexplained" for one in selinux)
    calls = of_quantity(verdicts, "hook-calls")
    equal = sum(one["state"] == "exact" for one in calls)
    by = {one["figure"]["id"]: one for one in own}
    stat, create = by["table3.stat.tomoyo"], by["table3.create-0KB.selinux"]
    stats = [stat["figure"]["value"], stat["answers"][0]["value"]]
    creates = [create["figure"]["value"], create["answers"][0]["value"]]
    p.require(len(agree) <= 3, "nearly all overheads differ")
    p.require(equal == len(calls), "the calls of counted hooks in creat are equal")
    p.require(stats[1] > 10 * stats[0] and creates[1] < 0.2 * creates[0], "stat under TOMOYO, creat under "
                                                                          "SELinux")
    walked = next(one["answers"][0]["value"] for one in calls
                  if one["figure"]["id"].endswith("inode_permission"))
    smaller = sum(one["answers"][0]["value"] < one["figure"]["value"] for one in selinux)
    which = ", ".join(f"{one['figure']['theirs']} under {one['figure']['id'].rpartition('.')[2]} on "
                      f"{one['figure']['kernel']}"
                      for one in agree)
    return [f"**{len(own) - len(agree)} of {len(own)} overheads differ,** and {len(agree)} agrees: {which}.",
            f"**SELinux: {unexplained} of {len(selinux)} are unexplained.** Ours enforces a policy, and we "
            f"assume that theirs did, too. In {smaller} cases our figure is smaller.",
            f"**Creating an empty file under SELinux: {p.percent(creates[1])}** instead of "
            f"{p.percent(creates[0], 0)} on 2.6.30.",
            f"**`stat` under TOMOYO: {p.percent(stats[1], 0)}** instead of {p.percent(stats[0], 0)} on "
            f"2.6.30: TOMOYO checks `stat` today.",
            f"**Order of operations: rank correlation {rank(verdicts, 'selinux')[1]:.2f} for SELinux,** "
            f"{rank(verdicts, 'tomoyo')[1]:.2f} for TOMOYO.",
            f"**Calls of hooks in `creat`: {equal} of {len(calls)} are equal,** for the hooks that their "
            f"table counts at least once per `creat`. `inode_permission` has {walked:.0f} calls at the "
            f"depth of our path; the depth of theirs is not stated."]


def rank(verdicts, module):
    return p.correlation(p.value_pairs(verdicts, lambda figure: figure["quantity"] == "overhead"
                                       and figure["id"].endswith(module)))


def hooks(verdicts):
    rows = {}
    for one in verdicts:
        figure = one["figure"]
        if figure["id"].startswith("table7.") and one["answers"]:
            _, hook, system = figure["id"].split(".")
            row = rows.setdefault(hook, {})
            row[system] = (f"{figure['value']:g}", f"{one['answers'][0]['value']:,.0f}")
    cells = [[hook, *(part for system in ("none", "selinux", "tomoyo")
                      for part in row.get(system, ("-", "-")))]
             for hook, row in rows.items()]
    head = ["hook", "no module, µs", "instructions", "SELinux, µs", "instructions", "TOMOYO, µs",
            "instructions"]
    return p.markdown(head, cells)


def errors(verdicts):
    """Averages and sums of Tables 5 and 6, and corrections of the scan."""
    values = {one["figure"]["id"]: one["figure"]["value"] for one in verdicts}
    wrong, n, sums = [], 0, []
    for table in ("table5.2.6.30", "table5.2.6.19", "table6.2.6.30", "table6.2.6.19"):
        averages = []
        for name, total in values.items():
            if name.startswith(f"{table}.total.") and name.endswith(".sum"):
                hook = name.split(".")[-2]
                plain = values.get(f"{table}.{hook}",
                                   values.get(f"{table.replace('table5', 'table5.sockets')}.{hook}"))
                average = total / values[name.removesuffix("sum") + "count"]
                n += 1
                averages.append(plain)
                if abs(average - plain) > 0.00051:
                    wrong.append(f"{table[:6]} {table[7:]} {hook} {plain:g} (from its sum and count "
                                 f"{average:.3f})")
        if abs(sum(averages) - values[f"{table}.sum"]) > 0.0006:
            sums.append(f"{table[:6]} {table[7:]} {values[f'{table}.sum']:g} (from its rows "
                        f"{sum(averages):.3f})")
    once = values["table6.2.6.30.inode_permission"] * (values["table6.2.6.30.calls.inode_permission"] - 1)
    items = [f"Sums of averages count each hook once, however often it is called: with the four calls of "
             f"`inode_permission` "
             f"the sum in Table 6 would be {once:.3f} µs larger.",
             f"TOMOYO's `dentry_open` takes {values['table6.2.6.30.dentry_open']:g} µs in Table 6 and "
             f"{values['table7.dentry_open.tomoyo']:g} µs in Table 7.",
             f"{n} averages were recomputed from sums and counts. {len(wrong)} differ: "
             f"{'; '.join(wrong) or 'none'}.",
             f"Sums of averages that differ from those of the rows: {'; '.join(sums) or 'none'}.",
             "The text is a scan: the decimal points of 1.34, 2.63, 2.79, 1.49 and 34.34 in Table 4 are "
             "lost, and `stat` under SELinux "
             "must be 4.34 according to its 64 %."]
    return "\n".join(f"- {item}" for item in items)


def draw(folder, verdicts):
    series = {(module, marker): p.percents(of_quantity(verdicts, "overhead", module))
              for module, marker in (("selinux", "o"), ("tomoyo", "x"))}
    p.scatter(folder, "overheads", series, [1, 300], xscale="symlog", yscale="symlog",
              xlabel="published overhead, %", ylabel="ours on Linux 6.1, % of instructions",
              title="LSMPMON, Tables 3 and 4")


def build(folder, lsmeter):
    whole, files, verdicts = p.compared(folder, lsmeter)
    selinux, tomoyo = (f"{found[1]:.2f} (n = {found[0]})"
                       for found in (rank(verdicts, "selinux"), rank(verdicts, "tomoyo")))
    counts = of_quantity(verdicts, "hook-calls")
    calls = f"{sum(one['state'] == 'exact' for one in counts)} of {len(counts)} equal"
    text = PAGE.format(first_screen=p.first_screen(whole, findings(verdicts), verdicts, p.LINKS),
                       selinux=selinux, tomoyo=tomoyo,
                       calls=calls, overheads=p.two_kernels(of_quantity(verdicts, "overhead")),
                       hooks=hooks(verdicts),
                       errors=errors(verdicts), results=p.result_list(folder, files))
    return p.texts(text, verdicts), lambda: draw(folder, verdicts)


if __name__ == "__main__":
    sys.exit(p.run(Path(__file__).resolve().parent, build))
