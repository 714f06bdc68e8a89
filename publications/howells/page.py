#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the page of the credentials patch mail.

Usage: publications/howells/page.py [--lsmeter PATH] [--check]
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import evidence as e  # noqa: E402
import published as p  # noqa: E402
from evidence import np  # noqa: E402

WALK, SELINUX = "treewalk:full", "capability,selinux"

PAGE = """{first_screen}
Welch's t test of the published single values, at 95 %. Each configuration was booted once. So the test
shows whether runs after two boots differ, not why. The last row is ours, in time over no LSM, with one value
for each layout of the kernel.

{welch}

![Walks](walks.svg)

## Our walk

The same tree. Instructions on 6.12, ext4, from the third walk on, in a warm cache; {calls}.

{instructions}

Time in {layouts} layouts of a UML kernel, tmpfs, without a policy. The interval is over layouts.

{times}

## What the rates of single calls predict

{prediction}

## Errors in the publication

{errors}

## How to repeat it

{results}

```
lsmeter run howells --output howells.json
lsmeter kernel build um-dac --source linux-source-6.12 --flavour um-nolsm --layouts 8
lsmeter kernel build um --source linux-source-6.12 --flavour um --layouts 8
lsmeter run howells-um --output howells-um.json
make publications
```
"""


def singles(verdicts):
    return {one["figure"]["id"]: one["figure"]["single"] for one in verdicts if "single" in one["figure"]}


def tests(verdicts, times):
    """Each comparison of means: relative difference, interval, p."""
    walks, found = singles(verdicts), {}
    for one in verdicts:
        means = [name.removeprefix("howells:") for name in one["figure"].get("of_means", [])]
        if means:
            derived = p.welch(*(walks[name] for name in means))
            p.require(abs(derived[0] - one["figure"]["value"]) < 1e-6, f"{one['figure']['id']} follows from "
                                                                       f"single values")
            found[one["figure"]["id"]] = (means, derived)
    ours = [[float(np.median(rounds)) for rounds in times[WALK, stack].values()]
            for stack in (SELINUX, "none")]
    found["ours"] = (["SELinux", "no LSM (ours, UML)"], p.welch(*ours))
    return found


def milliseconds(found):
    return f"{found[0] / 1e6:+.2f} [{found[1] / 1e6:+.2f}, {found[2] / 1e6:+.2f}]"


def instructions(files):
    rows = []
    for name in (WALK, "treewalk:full-read-only"):
        base = e.rows_of(files[0], name, {"stack": "capability"})[0]
        cells = [f"{base['value']:,.0f}"]
        for setup in ({"stack": SELINUX},
                      {"stack": SELINUX, "policy": "enforcing", "settings": "selinux_policy=reference"}):
            row = e.rows_of(files[0], name, setup)[0]
            cells.append(f"{p.percent(row['value'] / base['value'] - 1)}")
        rows.append([name, *cells])
    return p.markdown(["walk", "capability", "SELinux, no policy", "SELinux, enforcing"], rows)


def work(files):
    """Calls of one walk: the system calls, and the components of the average path."""
    hooked = e.rows_of(files[0], WALK, {"stack": "capability"})[0]["hooked"]
    calls = hooked["system_calls"]
    walked = sum(hook["calls"] for hook in e.hook_calls(hooked["hooks"], ["inode_permission"]))
    return calls["open"], calls["stat"], (walked - calls["open"]) / (calls["open"] + calls["stat"])


def prediction(files, times, rates):
    """Compares the walk with the cost that single stats and opens add, multiplied by the number of calls."""
    opens, stats, depth = work(files)
    rows, longest = [], {}
    for stack, name in (("capability", "capability"), (SELINUX, "SELinux")):
        walk = e.timed(times, WALK, stack, absolute=True)
        for n in (1, round(depth)):
            path = "/".join(("AA", "BB", "CC", "DD", "EE", "FF", "GG", "HH")[:n])
            one, other = (e.timed(rates, f"{call}:{path}", stack, absolute=True)["median"][0]
                          for call in ("stat", "open"))
            expected = stats * one + opens * other
            inside = [label for label, of in walk.items() if of[1] <= expected <= of[2]]
            rows.append([name, n, f"{one:.1f}", f"{other:.1f}", f"{expected / 1e6:.2f}",
                         ", ".join(inside) or "none"])
            longest[stack] = (expected, inside)
    expected, inside = longest["capability"]
    widths = [of[2] - of[1] for of in e.timed(times, WALK, "capability", absolute=True).values()]
    spread = float(np.median([max(rounds) - min(rounds) for rounds in times[WALK, "capability"].values()]))
    p.require(min(*widths, spread) > expected, "the walk is too noisy for what the rates predict")
    fits = ("by each estimator the rates of capability fit the walk" if len(inside) == len(e.ESTIMATORS) else
            "by no estimator the rates of capability fit the walk" if not inside else
            "it depends on the estimator whether the rates of capability fit the walk")
    text = (f"The average path of the walk has {depth:.1f} components. The cost of each call is from UML "
            f"kernels of the same "
            "version ([nanoseconds-6.12.json.xz](../lsm-overhead/nanoseconds-6.12.json.xz)).\n\n"
            + p.markdown(
                ["over no LSM", "components", "`stat`, ns", "`open`, ns", "predicted, ms", "inside the "
                                                                                           "walk's interval "
                                                                                           "by"], rows)
            + f"\n\nSo {fits}, and it gets no verdict. The walk's interval "
            f"is at least {min(widths) / 1e6:.1f} ms wide, and rounds of one layout differ by "
            f"{spread / 1e6:.1f} ms, more than the predicted "
            f"{expected / 1e6:.2f} ms. A walk without a visible cost does not contradict the rates.")
    return text, expected


def errors(verdicts):
    by = {one["figure"]["id"]: one["figure"]["value"] for one in verdicts}
    faster = by["walk.run1"] / by["walk.run4"] - 1
    p.require(faster < 0, "the walk with SELinux is faster than without any LSM")
    return (f"- The walk with SELinux differs by {p.percent(faster)} from the one without any LSM. By the "
            f"test, this is not chance within these boots. One boot of each configuration cannot separate "
            f"the configuration from the boot.\n"
            f"- Kernel, policy and date are not stated.")


def findings(verdicts, found, files, expected):
    own = next(one for one in verdicts if one["figure"]["id"] == "selinux.unpatched")
    count, base = own["answers"][0]["value"], own["answers"][0]["baseline"]
    p.require(own["state"] in p.DIFFER and found["selinux.unpatched"][1][2] < 0 < found["ours"][1][1],
              "SELinux's walk is faster in the mail and slower in ours")
    patches = {name: found[f"patch.{name}"][1]
               for name in ("selinux.all-patches", "selinux.performance-patch", "none.all-patches")}
    p.require(patches["selinux.all-patches"][1] > 0 and patches["selinux.performance-patch"][1] > 0,
              "8.4 % and 7.8 % are not chance")
    p.require(patches["none.all-patches"][1] < 0 < patches["none.all-patches"][2], "-0.4 % may be chance")
    opens, stats, depth = work(files)
    hooks = e.rows_of(files[0], WALK, {"stack": "capability"})[0]["hooked"]["hooks"]
    calls = sum(hook["calls"] for hook in hooks)
    p.require(abs(sum(hook["calls"] for hook in e.hook_calls(hooks, ["inode_permission"])) / calls) > 0.5,
              "inode_permission is most of the walk's hook calls")
    def text(of):
        return f"{p.percent(of[0])} [{100 * of[1]:+.1f}, {100 * of[2]:+.1f}]"
    return [f"**SELinux makes his walk faster, {text(found['selinux.unpatched'][1])}, and ours slower:** "
            f"{p.percent(count)} in "
            f"instructions over {base}, {text(found['ours'][1])} in time over no LSM.",
            f"**The framework alone: no verdict.** The rates of `stat` and `open` predict "
            f"{expected / 1e6:.2f} ms for the walk, less than the walk can resolve.",
            f"**The patch with SELinux: {text(patches['selinux.all-patches'])}, not chance.** We cannot "
            f"measure it: every kernel since "
            f"2.6.29 has it.",
            f"**With the performance patch: {text(patches['selinux.performance-patch'])}, not chance** "
            f"either.",
            f"**Without SELinux: {text(patches['none.all-patches'])}, may be chance,** as he suspected.",
            f"**A walk calls {calls:,} hooks:** it makes {opens:,} `open` and as many `stat` calls, with "
            f"{depth:.1f} checked directories each."]


def draw(folder, verdicts):
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5.5, 3.5))
    walks = singles(verdicts)
    for at, values in enumerate(walks.values()):
        axes.scatter([at + 1] * len(values), [value / 1e6 for value in values], marker="x")
    labels = ["SELinux", "patches", "performance\npatch", "no LSM", "no LSM,\npatches"]
    axes.set(xticks=range(1, len(walks) + 1), xticklabels=labels, ylabel="seconds", title="Nine walks in "
                                                                                          "each of five "
                                                                                          "boots")
    p.save(figure, folder, "walks")


def build(folder, lsmeter):
    whole = p.load(folder)
    of = whole["publication"]
    files = e.results(folder, of["results"], lsmeter)
    times = e.quiet_times(e.document(folder / f"{of['times']}.json.xz"))
    rates = e.quiet_times(e.document(folder.parent / "lsm-overhead" / "nanoseconds-6.12.json.xz"))
    p.benchmarks(whole, files, lsmeter)
    verdicts, _ = p.judged(whole, files)
    found = tests(verdicts, times)
    text, expected = prediction(files, times, rates)
    opens, stats, _ = work(files)
    rows = [[" vs ".join(means).replace("walk.", ""), p.percent(of[0]), f"{100 * of[1]:+.1f} to "
                                                                        f"{100 * of[2]:+.1f} %",
                                                                        f"{of[3]:.1g}",
             "yes" if of[1] <= 0 <= of[2] else "no"] for means, of in found.values()]
    measured = [[stack, *(milliseconds(one) for one in e.timed(times, WALK, stack, absolute=True).values())]
                for stack in ("capability", SELINUX)]
    page = PAGE.format(
        first_screen=p.first_screen(whole, findings(verdicts, found, files, expected), verdicts,
                                    "[figures.csv](figures.csv). Plot: [PDF](walks.pdf)"),
        welch=p.markdown(["means", "difference", "95 % interval", "p", "may be chance"], rows),
        layouts=len(times[WALK, "none"]),
        calls=f"{opens:,} `open` and {stats:,} `stat` a walk", instructions=instructions(files),
        times=p.markdown(["more than no LSM, ms, by", *(f"{label} of rounds" for label in e.ESTIMATORS)],
                         measured),
        prediction=text, errors=errors(verdicts), results=p.result_list(folder, files, [of["times"]]))
    return {"README.md": page, "figures.csv": p.figures_csv(verdicts)}, lambda: draw(folder, verdicts)


if __name__ == "__main__":
    sys.exit(p.run(Path(__file__).resolve().parent, build))
