#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the page of the LSM overhead paper.

Usage: publications/lsm-overhead/page.py [--lsmeter PATH] [--check]
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import evidence as e  # noqa: E402
import published as p  # noqa: E402
import stacks  # noqa: E402
from judging import explain, most_calls, range_text, time_cells  # noqa: E402
from sections import (  # noqa: E402
    audit, checks_finding, draw, equation, facts_text, find, fsnotify, kernels_table, openat, orders,
    overhead_finding, own_overheads, ranks, selinux_2001, stated_orders, table7, times_text,
    tomoyo, totals, value_of)

PAGE = """{first_screen}
Sums of modules, Figure 5 and the proposals of section 6: [stacks.md](stacks.md).

Our figure is that of the first kernel that has one: 5.3.1, 5.10, then 6.12.118. If several operations fit a
test, the first in the TOML file decides, which is that of section 4.1. An experiment has one setting.
Another setting shows the cause of a difference only if two conditions hold: ours then agrees on every
kernel of the result file, and no other figure of the experiment fits worse.

## What disagrees

### Which rules audit had

The paper has "auditing enabled" and does not state the rules. `=`: agrees. The four columns on the right
are for 6.12.118.

{audit}

### TOMOYO's 45 times

"Policy": enforcing. "Entries": the domain's entries before the one that matches.

{tomoyo}

### Table 1

{table1}

{quoted}

![Overheads](overheads.svg)

### Table 7

{table7}

{facts}

### Figures 4 and 6, and stated orders

{openat}

{fsnotify}

{orders}

## Counts

{kernels}

{equation}

![Checks](checks.svg)

## Ranks

Spearman's rank correlation of single published values with ours, without bounds and pairs of zeros. A
number that is published twice counts once. Each row has one quantity. The rows LSM of Table 1 are left out:
they have three latencies and three throughputs each, too few for a rank.

{ranks}

## Times

{times}

## Errors in the publication

{errors}

## How to repeat it

`make publications` writes this page from:

{results}

```
lsmeter kernel build 6.12-dac --source linux-source-6.12 --flavour nolsm
lsmeter kernel build 6.12-all --source linux-source-6.12
lsmeter run paper --output paper.json
lsmeter sensitivity --hooks inode_permission,file_permission --output slopes.json
lsmeter placement linux-source-5.10 --fs ext4 --output placement-5.10.json
```

Run the presets `paper-calls`, `audit`, `integrity`, `tomoyo-entries`, `paper-orders`, `denials` and
`paper-suite` in the same way, `paper-um --aa` for times, and `paper-um --metric throughput` with the benchmarks
`copy:4KB`, `read:4KB` and `write:4KB`. The files for 5.3 are `paper`, `paper-suite` and
`placement` with Linux 5.3.1, the first stable release after the paper's 5.3.0.
"""


# Where the paper contradicts itself

def contradictions(verdicts):
    """The errors, with numbers from the published figures."""
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
        "TOMOYO's \"28 hooks, which is the smallest of all\" in section 6: Table 5 has 18 for capability.",
        "\"copy 21 µs, 10 %\" of SELinux in 2001 is a misprint: "
        "the source has 23.0 and 21.0 MB/s for a file "
        "copied by 256 bytes.",
        "Equation 4 drops the sign, so that an improvement looks like an overhead; the caption of Figure 7 "
        "has \"negative\" overheads.",
        "Orders such as `selinux,capability` do not exist in 5.3: `LSM_ORDER_FIRST` puts capability first, "
        "and SELinux, AppArmor "
        "and Smack exclude each other. The paper mentions no patch.",
        "TOMOYO: 45x in section 1, above 100 % for six tests in section 5.1.2, below 5 % alone in section "
        "5.1.1.",
        "14 tests in Table 3, 16 in section 5; results for `mkstemp` and `link`, which neither describes; 59 "
        "sub-benchmarks, where "
        "the text describes 51, or 63 with throughputs.",
        "Table 3: `read` is open, read, close; section 4.1: each read is one operation.",
        "The text says that only the slopes of `open` and `stat` depend on the path. That of `rename` does, "
        "too.",
        "Table 7, `stat`: `inode_permission` is listed for TOMOYO and not for Smack; `open` has the reverse, "
        "as the source does. "
        "`security_path_name` must be `security_path_rename`. Smack has `file_permission` in section 3, and "
        "not in section 5.2.2.",
        f"Lines of LSM 5.3: {of('text.lines.lsm-5.3'):,.0f} in the abstract, "
        f"{of('table2.lines.all.framework'):,.0f} in Table 2. "
        f"29 hooks are of 2.5.15 in Table 1 and of 2.5.29 in section 2. 122 hooks are SELinux's of 2.4.2 in "
        f"Table 1 and LSM's of 2.6.0 in the abstract.",
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
    links = ("[figures.csv](figures.csv). All our candidates for each figure: "
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
        facts=facts_text(files), ranks=ranks(verdicts), times=times_text(verdicts, times), errors=contradictions(verdicts),
        results=p.result_list(folder, files, [whole["publication"]["times"]]))
    names = ["UML minimum", "UML median", "UML low", "UML high", "UML mean", "depends on the estimator",
             "most calls measured"]
    cells = time_cells(times)
    texts = {"README.md": text, "measurements.csv": p.measurements_csv(verdicts),
             "figures.csv": p.figures_csv(verdicts, lambda one: [*cells(one), measured_text(one, files)],
                                          names),
             "settings.csv": p.settings_csv(fits, whole)}
    texts |= of_stacks
    return texts, lambda: draw(folder, verdicts)


def measured_text(one, files):
    if one["figure"]["quantity"] != "upper-bound":
        return ""
    most = most_calls(one["figure"], files)
    return ", ".join(f"{calls} in {name} ({release})" for name, (calls, release) in most.items())


if __name__ == "__main__":
    sys.exit(p.run(Path(__file__).resolve().parent, build))
