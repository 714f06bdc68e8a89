#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the page of SELinux in 2001 (FREENIX).

Usage: publications/freenix01/page.py [--lsmeter PATH] [--check]
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import published as p  # noqa: E402

PAGE = """{first_screen}
Verdicts are for 6.1, which is nearer to 2.4.2 than 6.12. SELinux enforces Debian's reference policy. For
whole programs (`fork` to `sh`, and Table 9 from `pipe` on) only hooks count. The baseline is capability,
since 2.4.2 had capabilities built in; [lsm-overhead](../lsm-overhead/README.md) compares the same figures with no
LSM, as in all of its Table 1. Ours are kernel instructions. Theirs are times, including user mode.

## Every overhead

{overheads}

![Overheads](overheads.svg)

Rank correlation of ours with theirs: {rank}. Single values only, programs and operations together.
Table 9 states overheads of throughputs as if they were of times: 40.4 and 38.6 MB/s are 5 %.

## Errors in the publication

{errors}

## How to repeat it

{results}

```
lsmeter run freenix01 --output freenix01.json
lsmeter run unixbench --output unixbench.json
make publications
```
"""


def overhead(verdicts, name):
    """The published value, and ours on 6.1 and on 6.12."""
    one = next(one for one in verdicts if one["figure"]["id"] == name)
    return [one["figure"]["value"], *(ours["value"] for ours in one["answers"][:2])]


def findings(verdicts, rank):
    own = [one for one in verdicts if one["figure"]["quantity"] == "overhead" and one["answers"]]
    agree = sum(one["state"] in p.AGREE for one in own)
    differ = [one for one in own if one["state"] in p.DIFFER]
    less = sum(one["answers"][0]["value"] < one["figure"]["value"] for one in differ)
    null, delete, connect = (overhead(verdicts, f"table10.{name}")
                             for name in ("null-io", "delete-0KB", "tcp-connect"))
    opens = overhead(verdicts, "table10.open-close")
    messages = [overhead(verdicts, f"table10.{name}") for name in ("af-unix", "udp", "tcp")]
    p.require(agree < len(own) / 2, "most overheads differ")
    p.require(null[1] < 0.6 * null[0], "SELinux's overhead on a byte is about half of what it was")
    p.require(delete[1] < 0.3 * delete[0], "SELinux's overhead on deleting is about a fifth")
    p.require(connect[1] > 1.7 * connect[0], "SELinux's overhead on a connection is about twice")
    p.require(all(one[at] > other[at] for one, other in zip(messages, messages[1:]) for at in range(3)),
              "messages cost most over AF_UNIX and least over TCP, then and now")
    p.require(all(one[1] < one[0] for one in messages), "messages cost less than in 2001")
    return [f"**{len(differ)} of {len(own)} overheads differ,** by more than a tenth: {less} are smaller "
            f"now, and {len(differ) - less} larger. {agree} agree.",
            f"**Reading and writing one byte: {p.percent(null[1])}** instead of {p.percent(null[0], 0)} in 2001.",
            f"**Deleting an empty file: {p.percent(delete[1])}** instead of {p.percent(delete[0], 0)} in 2001.",
            f"**A TCP connection: {p.percent(connect[1])}** instead of {p.percent(connect[0], 0)} in 2001. Ours "
            f"includes both ends and closing.",
            f"**`open` and `close`: {p.percent(opens[1])}** on 6.1, {p.percent(opens[2])} on 6.12, published "
            f"{p.percent(opens[0], 0)}.",
            f"**Order of operations: rank correlation {rank[1]:.2f}** for {rank[0]} overheads. Among "
            f"messages AF_UNIX costs most and TCP least, as in 2001. Each costs less than in 2001."]


def consistency(verdicts):
    """Checks whether the published overheads follow from the published times."""
    values = {one["figure"]["id"]: one["figure"]["value"] for one in verdicts}
    wrong, n = [], 0
    for one in verdicts:
        figure, (place, _, name) = one["figure"], one["figure"]["id"].partition(".")
        for kind, sign in (("latency", 1), ("throughput", -1)):
            pair = [values.get(f"{place}.{kind}.{name}.{of}") for of in ("base", "selinux")]
            if figure["quantity"] == "overhead" and None not in pair:
                n += 1
                derived = (pair[1] / pair[0]) ** sign - 1
                if abs(derived - figure["value"]) > figure["half"] + 1e-9:
                    wrong.append(f"{figure['theirs']} {p.percent(figure['value'], 0)}, by its times "
                                 f"{p.percent(derived)}")
    listed = f" but {'; '.join(wrong)}." if wrong else "."
    return f"- None in the compared figures: the {n} overheads follow from the times next to them{listed}"


def draw(folder, verdicts):
    own = [one for one in verdicts if one["figure"]["quantity"] == "overhead" and one["answers"]]
    series = {("6.1", "o"): p.percents(own), ("6.12", "x"): p.percents(own, 1)}
    p.scatter(folder, "overheads", series, [0, 35], xlabel="published overhead, %",
              ylabel="ours, % of instructions", title="SELinux in 2001 and now")


def build(folder, lsmeter):
    whole, files, verdicts = p.compared(folder, lsmeter)
    rank = p.correlation(p.value_pairs(verdicts, lambda figure: figure["quantity"] == "overhead"))
    own = [one for one in verdicts if one["figure"]["quantity"] == "overhead"]
    text = PAGE.format(first_screen=p.first_screen(whole, findings(verdicts, rank), verdicts, p.LINKS),
                       overheads=p.two_kernels(own), rank=f"{rank[1]:.2f} (n = {rank[0]}, median of ours / "
                                                          f"theirs {rank[2]:.2f})",
                       errors=consistency(verdicts), results=p.result_list(folder, files))
    return p.texts(text, verdicts), lambda: draw(folder, verdicts)


if __name__ == "__main__":
    sys.exit(p.run(Path(__file__).resolve().parent, build))
