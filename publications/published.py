# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the publications' scripts: verdicts, Markdown, CSV, plots.

A publication's folder has publication.toml (sources, settings, causes) and published*.toml (figures), result
files of lsmeter and page.py, which calls `run(folder, build)`:

    publications/FOLDER/page.py [--lsmeter PATH] [--check]

writes README.md, CSV files and figures. --check writes nothing and exits with 1 if Markdown or CSV are stale.

figures.py reads the published figures. `answers` (evidence.py) lists our figures for one, the deciding one
first. `judge` compares the two. States are those of STATES.
"""

import argparse
import csv
import io
import json
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from evidence import Fault, answers, call, document, operation, results, version
from figures import UNITS, load, unavailable

try:
    import matplotlib
    import numpy as np
    from scipy import stats
except ImportError as missing:
    print(f"error: {missing}\nhint: apt-get install python3-scipy python3-matplotlib", file=sys.stderr)
    sys.exit(2)


STATES = ["exact", "zero", "bound", "tolerance", "differs: shown", "differs: possible",
          "differs: unexplained", "by construction", "no verdict", "cannot be had", "not measured"]
AGREE = STATES[:4]
DIFFER = STATES[4:7]
SHORT = {"by construction": "c", "no verdict": "n", "cannot be had": "x", "not measured": "m"}
# Published figures are rounded. In addition, ours may differ by this fraction of a real number. A number of checks
# is an integer: 8.9 stands for 9, but not for 8.
PART = 0.10
CHECKS = 0.25
OVERHEADS = ["overhead", "throughput-overhead"]
# Times of another machine, or another quantity: printed next to ours if there are any, without a verdict.
TIMES = ["latency", "added-latency", "throughput", "hook-total"]
WITHOUT_VERDICT = [*TIMES, "hook-time"]
OUR_UNITS = {"hook-time": "instructions"}
WITHOUT_BENCHMARK = [*TIMES, "module-hooks", "lines", "upper-bound", "text", "quoted", "hook-count"]


# Verdicts

def judge(figure, ours):
    """A state: "differs" has no cause yet, and "no verdict" means that our interval is too wide to decide."""
    quantity, half = figure["quantity"], figure["half"]
    value, low, high = ours["value"], ours["low"], ours["high"]
    if "value" not in figure:
        both = "low" in figure and "high" in figure
        least = figure.get("low", -np.inf) - half * both
        most = figure.get("high", np.inf) + half * both
        if least <= low and high <= most:
            return "bound"
        return "differs" if high < least or low > most else "no verdict"
    theirs = figure["value"]
    if abs(value - theirs) <= half + 1e-9:
        return "zero" if theirs == 0 else "exact"
    is_quotient = quantity in OVERHEADS + ["hook-share"] or figure.get("of") == "per-hook"
    if is_quotient:
        spread = max(half, PART * abs(theirs))
    else:
        spread = CHECKS if quantity == "slope" else half
    least, most = theirs - spread - 1e-9, theirs + spread + 1e-9
    if high < least or low > most:
        return "differs"
    return "tolerance" if high - low <= most - least else "no verdict"


def apart(figure, ours):
    """The distance of our value from the published value or range."""
    value = ours["value"]
    if "value" in figure:
        return abs(value - figure["value"])
    return max(figure.get("low", value) - value, value - figure.get("high", value), 0.0)


def judged(whole, files, explain=None):
    """Each figure with state, cause and answers; `explain(figure, answers)` may return state and cause."""
    found = {figure["id"]: answers(figure, files) for figure in whole["figures"]}
    fits = settings(whole, files, found)
    verdicts = []
    for figure in whole["figures"]:
        state, cause = verdict(whole, figure, found[figure["id"]], fits, explain)
        verdicts.append({"figure": figure, "answers": found[figure["id"]], "state": state, "cause": cause})
    return verdicts, fits


def verdict(whole, figure, ours, fits, explain):
    own = explain(figure, ours) if explain else None
    if own:
        return own
    if figure["quantity"] in TIMES:
        return "no verdict", "a time on another machine"
    without = unavailable(whole, figure)
    if without:
        ours.clear()
        return without
    if figure.get("elsewhere"):
        return "no verdict", f"judged as a figure of {figure['elsewhere']}"
    if not figure["ours"] and figure["quantity"] not in WITHOUT_BENCHMARK + ["order"]:
        raise Fault(f"figure `{figure['id']}` has no benchmark in `ours`, and is not in [[unavailable]]")
    if not ours:
        return "not measured", ""
    if figure["quantity"] in WITHOUT_VERDICT:
        return "no verdict", "another measure: theirs is time, ours instructions"
    state = judge(figure, ours[0])
    if state in AGREE and figure.get("by_construction"):
        return "by construction", ""
    if state == "no verdict":
        return state, "our interval is wider than what would decide"
    if state != "differs":
        return state, ""
    if figure["id"] in fits["shown"]:
        setting = fits["shown"][figure["id"]]
        return "differs: shown", f"with {setting} ours agrees on each kernel, and no other figure fits worse"
    theirs = figure.get("value", figure.get("high", figure.get("low", 0)))
    larger = "ours" if ours[0]["value"] > theirs else "theirs"
    possible = [of["text"] for of in whole["cause"] if of.get("larger", larger) == larger
                and any(fnmatchcase(figure["id"], one) for one in of["figures"])]
    return ("differs: possible", "; ".join(possible)) if possible else ("differs: unexplained", "")


def with_setting(figure, setting):
    variant = setting.get("variant", {})
    changed = figure | {"ours": [variant.get(name, name) for name in figure["ours"]]}
    return changed | ({"tested": [setting["tested"]]} if "tested" in setting else {})


def by_kernel(figure, of):
    """Answers by kernel, with the benchmark and configuration of the first answer."""
    alike = [one for one in of if one["configuration"] == of[0]["configuration"]
             and (figure.get("over") or one["benchmark"] == of[0]["benchmark"])]
    return {one["kernel"]: one for one in reversed(alike)}


def settings(whole, files, found):
    """`shown`: figures with the setting that explains them; `fit`: ours by experiment, file and setting;
    `rows`: the same for each kernel."""
    shown, fit, rows = {}, {}, {}
    for setting in whole["setting"]:
        own = [figure for figure in whole["figures"] if figure.get("experiment") == setting["experiment"]]
        for file in files:
            pairs = {}
            for figure in own:
                first = [one for one in found[figure["id"]] if one["file"] == file["name"]]
                other = answers(with_setting(figure, setting), [file])
                if not (first and other):
                    continue
                pairs[figure["id"]] = figure, by_kernel(figure, first), by_kernel(figure, other)
                for name, of in ((None, first), (setting["name"], other)):
                    key = setting["experiment"], file["name"], name
                    fit.setdefault(key, {})[figure["id"]] = of[0], judge(figure, of[0])
                    for kernel, ours in by_kernel(figure, of).items():
                        rows[*key, figure["id"], kernel] = ours, judge(figure, ours)
            worse = {name for name, pair in pairs.items() if fits_worse(*pair)}
            for name, (figure, first, other) in pairs.items():
                if not worse - {name} and not agrees(figure, first) and agrees(figure, other):
                    shown.setdefault(name, f"{setting['name']} ({file['name'].removesuffix('.json.xz')})")
    return {"shown": shown, "fit": fit, "rows": rows}


def agrees(figure, of_kernels):
    return all(judge(figure, one) in AGREE for one in of_kernels.values())


def fits_worse(figure, first, other):
    """Whether, with the setting, a figure no longer agrees or differs by more, on any kernel of the file."""
    for kernel, ours in other.items():
        before = first.get(kernel)
        if before is None or judge(figure, ours) in AGREE:
            continue
        if judge(figure, before) in AGREE or apart(figure, ours) > apart(figure, before) + 1e-9:
            return True
    return False


LINKS = ("[figures.csv](figures.csv). Both kernels: [measurements.csv](measurements.csv). Plot: "
         "[PDF](overheads.pdf)")


def texts(page, verdicts):
    """The files of a publication that writes nothing else."""
    return {"README.md": page, "figures.csv": figures_csv(verdicts),
            "measurements.csv": measurements_csv(verdicts)}


def compared(folder, lsmeter):
    """The publication, its result files and verdicts."""
    whole = load(folder)
    files = results(folder, whole["publication"]["results"], lsmeter)
    benchmarks(whole, files, lsmeter)
    return whole, files, judged(whole, files)[0]


def benchmarks(whole, files, lsmeter):
    """Checks that every benchmark named by a figure is in lsmeter's catalogue or in a result file."""
    catalogue = json.loads(call(lsmeter, "list", "benchmarks", "--json"))["benchmarks"]
    names = {operation({"benchmark": of["name"], "variant": of.get("variant")}) for of in catalogue}
    names |= {key[0] for file in files for key in file["rows"]}
    for figure in whole["figures"]:
        for name in figure["ours"]:
            if name != "*" and name not in names and name.split(":")[0] + ":null" not in names:
                raise Fault(f"figure `{figure['id']}`: there is no benchmark `{name}`")


# Summaries

def tally(verdicts, keep=lambda figure: True):
    states = [one["state"] for one in verdicts if keep(one["figure"])]
    return {state: states.count(state) for state in STATES} | {"figures": len(states)}


def scoreboard(verdicts):
    """A row for each table or figure of the publication, and their sum, in at most eight columns."""
    places = list(dict.fromkeys(one["figure"]["place"] for one in verdicts))
    rows = []
    for place in [None, *places]:
        n = tally(verdicts, lambda figure: place in (None, figure["place"]))
        causes = "/".join(str(n[state]) for state in DIFFER)
        differs = sum(n[state] for state in DIFFER)
        other = ", ".join(f"{n[state]} {short}" for state, short in SHORT.items() if n[state])
        rows.append([place[:1].upper() + place[1:] if place else "**all**", n["figures"],
                     *(n[state] or "" for state in AGREE), f"{differs} ({causes})" if differs else "", other])
    head = ["published in", "figures", "exact", "0 = 0", "bound", "tolerance", "differs", "not judged"]
    return markdown(head, rows)


LEGEND = """**exact**: equal in all published digits, and not 0. **0 = 0**: both are 0. **bound**:
inside a published range or bound, or in the published order; both ends of a range are rounded as
published, a bound alone is not. **tolerance**: a real number within a tenth of the published one (checks: a
quarter of one), or our interval overlaps this range; whole numbers have no tolerance. **differs** (s/p/u):
the cause is shown by a measurement or the source (s), possible (p), or unknown (u). **not judged**: c by
construction (our benchmark was modelled on it, or almost any count passes), n no verdict (a time on another
machine, another measure, our interval decides nothing, our kernels have different bounds, or judged
elsewhere), x cannot be had, m not measured."""


def first_screen(whole, findings, verdicts, csv_files="[figures.csv](figures.csv)"):
    """Title, source, findings, a row for each table, and links to all figures."""
    of = whole["publication"]
    numbered = "\n".join(f"{at}. {finding}" for at, finding in enumerate(findings, 1))
    return f"""# {of['title']}

<!-- Written by page.py from the files next to it. -->

{of['authors']}: {of['cite']}. {of['setting']}

## Findings

{numbered}

## Table by table

{LEGEND}

{scoreboard(verdicts)}

Every figure, with ours, the verdict and the cause: {csv_files}. In `figures.csv`, `lines` are {of['lines']}.
"""


def correlation(pairs_):
    """Spearman's rank correlation, and the median of ours divided by theirs, without pairs of zeros."""
    pairs_ = [(ours, theirs) for ours, theirs in pairs_ if ours or theirs]
    if len(pairs_) < 4 or len({one[0] for one in pairs_}) < 2 or len({one[1] for one in pairs_}) < 2:
        return None
    ours, theirs = zip(*pairs_)
    ratios = [one / other for one, other in pairs_ if one * other > 0]
    return len(pairs_), float(stats.spearmanr(ours, theirs).correlation), float(np.median(ratios))


def value_pairs(verdicts, keep):
    """Ours and theirs, for single values with a verdict. A number that is published twice counts once."""
    found = {}
    for one in verdicts:
        figure = one["figure"]
        if (keep(figure) and one["answers"] and "value" in figure and not figure.get("elsewhere")
                and one["state"] in AGREE + DIFFER + ["no verdict"]):
            of = figure.get("modules", [figure["id"]])
            same = figure["quantity"], *of, figure.get("of"), figure["value"]
            found.setdefault(same, (one["answers"][0]["value"], figure["value"]))
    return list(found.values())


def welch(one, other):
    """The relative difference of `one` from `other`, with its 95 % interval, and the p value."""
    one, other = np.array(one, float), np.array(other, float)
    parts = [of.var(ddof=1) / len(of) for of in (one, other)]
    freedom = sum(parts) ** 2 / sum(part ** 2 / (len(of) - 1) for part, of in zip(parts, (one, other)))
    difference, wide = one.mean() - other.mean(), stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    p = float(stats.ttest_ind(one, other, equal_var=False).pvalue)
    return [float(of / other.mean()) for of in (difference, difference - wide, difference + wide)] + [p]


# Output

def markdown(head, rows):
    """The first column is text. Others are aligned right unless they contain words."""
    def text(cell):
        return "" if cell is None else str(cell).replace("|", "\\|")

    def wordy(at):
        return any(re.search(r"[A-Za-z]{3}", text(row[at])) for row in rows)
    rule = ["---" if at == 0 or wordy(at) else "---:" for at in range(len(head))]
    return "\n".join("| " + " | ".join(map(text, row)) + " |" for row in [head, rule, *rows])


def csv_text(head, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return out.getvalue()


def rounded(value, figure):
    """The value in the quantity's unit, with as many digits as are useful."""
    if value is None or not np.isfinite(value):
        return ""
    value *= UNITS[figure["quantity"]][1]
    digits = 2 if figure["quantity"] in OVERHEADS + ["slope", "hook-share"] else 3
    return f"{round(value, digits) + 0.0:.10g}"


def bound_text(figure):
    """An upper bound that depends on D, the number of path components."""
    n = int(figure["value"])
    if not figure.get("per_component") or n == 0:
        return str(n)
    return "D" if n == 1 else f"{n}D"


def published_cells(figure):
    if figure["quantity"] == "upper-bound":
        return [bound_text(figure), "", ""]
    return [rounded(figure.get(key), figure) for key in ("value", "low", "high")]


def unit(figure):
    per = figure["quantity"] == "calls-at-least" and figure.get("per_component")
    return figure.get("unit") or UNITS[figure["quantity"]][0] + (" per component" if per else "")


def our_unit(figure, ours):
    """Their hooks are timed, and ours are counted in instructions."""
    return "" if not ours else OUR_UNITS.get(figure["quantity"], unit(figure))


def figures_csv(verdicts, more=lambda one: [], names=()):
    """Every figure: the published value, ours, and the verdict."""
    head = ["id", "published in", "lines", "kernel", "what", "quantity", "unit", "value", "low", "high",
            "ours", "ours low", "ours high", "our unit", "verdict", "cause or reason", "our kernel",
            "benchmark", "configuration", "baseline", "substitute because", "result file", "note", *names]
    rows = []
    for one in verdicts:
        figure, first = one["figure"], (one["answers"] or [{}])[0]
        exact = first.get("low") == first.get("value") == first.get("high")
        ours = [first.get("text") or rounded(first.get("value"), figure),
                *("" if exact else rounded(first.get(key), figure) for key in ("low", "high"))]
        where = ("release", "benchmark", "configuration", "baseline", "why", "file")
        rows.append([*(figure.get(key) for key in ("id", "place", "lines", "kernel", "theirs", "quantity")),
                     unit(figure), *published_cells(figure), *ours, our_unit(figure, first), one["state"],
                     one["cause"],
                     *map(first.get, where), figure.get("note"), *more(one)])
    return csv_text(head, rows)


def measurements_csv(verdicts):
    """Every figure of ours that answers a published one, each with its own verdict."""
    rows = []
    for one in verdicts:
        figure = one["figure"]
        for ours in one["answers"]:
            own = "" if figure["quantity"] in WITHOUT_VERDICT or "half" not in figure else judge(figure, ours)
            values = [rounded(ours[key], figure) for key in ("value", "low", "high")]
            values = [ours["text"], "", ""] if "text" in ours else values
            where = ("release", "benchmark", "configuration", "baseline", "why", "file")
            rows.append([figure["id"], our_unit(figure, ours), *values, own, *map(ours.get, where)])
    head = ["id", "our unit", "ours", "low", "high", "by itself", "kernel", "benchmark", "configuration",
            "baseline", "substitute because", "result file"]
    return csv_text(head, rows)


def settings_csv(fits, whole):
    """Each experiment with each setting, by result file and kernel."""
    head = ["experiment", "result file", "setting", "figure", "kernel", "build", "benchmark", "ours",
            "unit", "verdict"]
    figures = {figure["id"]: figure for figure in whole["figures"]}
    rows = [[experiment, file, setting or "as published", name, ours["release"], kernel, ours["benchmark"],
             rounded(ours["value"], figures[name]), unit(figures[name]), state]
            for (experiment, file, setting, name, kernel), (ours, state) in fits["rows"].items()]
    return csv_text(head, rows)


def two_kernels(verdicts):
    """Overheads of 6.1 and 6.12 next to the published ones."""
    rows = []
    for one in verdicts:
        by = {".".join(ours["release"].split(".")[:2]): ours for ours in reversed(one["answers"])}
        cells = [text_of(by.get(kernel)) for kernel in ("6.1", "6.12")]
        figure, module = one["figure"], one["figure"]["id"].rpartition(".")[2]
        named = f"{figure['place']}: {figure['theirs']}"
        named += f", {module}" if module in ("selinux", "tomoyo") else ""
        rows.append([named, percent(figure["value"]), *cells, one["state"], one["cause"]])
    return markdown(["operation", "published", "6.1", "6.12", "verdict", "cause or reason"], rows)


def text_of(ours):
    """An overhead, with its interval if it has one."""
    if ours is None:
        return "-"
    if ours["low"] == ours["high"]:
        return percent(ours["value"])
    return f"{percent(ours['value'])} [{100 * ours['low']:.1f}, {100 * ours['high']:.1f}]"


def result_list(folder, files, others=()):
    """Each result file with its kernels and date."""
    rows = []
    every = [(file["name"], file["json"]) for file in files]
    every += [(f"{name}.json.xz", document(folder / f"{name}.json.xz")) for name in others]
    for name, content in every:
        releases = {one.get("release") for one in content.get("measurements", [])} - {None}
        releases = releases or {content.get("version")}
        where = content.get("experiment", {}).get("filesystem", "")
        where = "source" if content["kind"] == "placement" else where
        rows.append([f"[{name}]({name})", content["kind"], ", ".join(sorted(releases, key=version)), where,
                     content.get("started", "")[:10]])
    return markdown(["result file", "kind", "Linux", "on", "measured"], rows)


def percent(value, digits=1):
    text = f"{100 * value:+,.{digits}f} %"
    return text[1:] if float(text[1:-2].replace(",", "")) == 0 else text


def require(condition, statement):
    """Fails if a sentence of a page is no longer true of the result files."""
    if not condition:
        raise Fault(f"the page states what the result files do not show: {statement}\nhint: change the "
                    "text in the script")


def scatter(folder, name, series, line, **labels):
    """Plots ours against theirs: points by (label, marker), and the line on which both are equal."""
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5.5, 4.5))
    for (label, marker), points in series.items():
        axes.scatter(*zip(*points), label=label, marker=marker)
    axes.plot(line, line, color="gray", linewidth=0.8)
    axes.set(**labels)
    axes.legend()
    save(figure, folder, name)
    pyplot.close(figure)


def percents(verdicts, at=0):
    """Points of published overheads and ours, in %."""
    return [(100 * one["figure"]["value"], 100 * one["answers"][at]["value"]) for one in verdicts]


def save(figure, folder, name):
    matplotlib.rcParams.update({"svg.hashsalt": "lsmeter", "svg.fonttype": "none"})
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None}, bbox_inches="tight")


def run(folder, build):
    """`build(folder, lsmeter)` returns texts by file name, and a function that draws the figures."""
    parser = argparse.ArgumentParser(description=f"Write the page of {folder.name} from its result files.")
    parser.add_argument("--lsmeter", default="lsmeter", help="the program (default: lsmeter in PATH)")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 if Markdown or CSV are stale")
    arguments = parser.parse_args()
    matplotlib.use("Agg")
    try:
        texts, draw = build(folder, arguments.lsmeter)
        stale = [name for name, text in texts.items()
                 if not (folder / name).is_file() or (folder / name).read_text() != text]
        if arguments.check:
            for name in stale:
                print(f"{folder.name}/{name}: stale; run `make publications`", file=sys.stderr)
            return 1 if stale else 0
        for name in stale:
            (folder / name).write_text(texts[name])
        draw()
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    return 0
