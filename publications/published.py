# SPDX-License-Identifier: GPL-2.0-or-later
"""What the publications' scripts share: published figures, our figures, verdicts, Markdown, CSV.

A publication's folder has publication.toml (sources, settings, causes) and published*.toml (figures), result
files of lsmeter and page.py, which calls `run(folder, build)`:

    publications/FOLDER/page.py [--lsmeter PATH] [--check]

writes README.md, CSV files and figures. --check writes nothing and exits with 1 if Markdown or CSV are stale.

A published figure is a dict with the keys of FIGURE_KEYS. `answers` (evidence.py) lists our figures for
it, the deciding one first. `judge` compares the two. States are those of STATES.
"""

import argparse
import csv
import io
import json
import re
import sys
import tomllib
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

from evidence import Fault, answers, call, document, operation, version

try:
    import matplotlib
    import numpy as np
    from scipy import stats
except ImportError as missing:
    print(f"error: {missing}\nhint: apt-get install python3-scipy python3-matplotlib", file=sys.stderr)
    sys.exit(2)


STATES = ["exact", "zero", "bound", "tolerance", "differs: shown", "differs: possible", "differs: "
                                                                                        "unexplained",
          "by construction", "no verdict", "cannot be had", "not measured"]
AGREE = STATES[:4]
DIFFER = STATES[4:7]
SHORT = {"by construction": "c", "no verdict": "n", "cannot be had": "x", "not measured": "m"}
# Published figures are rounded; ours may differ by this part of a real number as well. A number of checks is
# whole: 8.9 is 9, but not 8.
PART = 0.10
CHECKS = 0.25
# The unit in which a quantity is written, and its factor.
UNITS = {"overhead": ("%", 100), "throughput-overhead": ("%", 100), "hook-share": ("%", 100),
         "all-pass": ("%", 100),
         "quoted": ("%", 100), "order": ("%", 100), "latency": ("µs", 1), "added-latency": ("µs", 1),
         "hook-time": ("µs", 1), "hook-total": ("µs", 1), "hook-count": ("calls", 1),
         "throughput": ("MB/s", 1), "slope": ("checks", 1),
         "hook-calls": ("calls", 1), "module-calls": ("calls", 1), "nested-calls": ("calls", 1),
         "calls-at-least": ("calls", 1), "checks": ("calls", 1), "upper-bound": ("calls", 1),
         "system-calls": ("calls", 1), "module-hooks": ("hooks", 1), "lines": ("lines", 1), "text": ("", 1)}
OVERHEADS = ["overhead", "throughput-overhead"]
# Another machine's, or another measure: next to ours, without a verdict.
WITHOUT_VERDICT = ["latency", "added-latency", "throughput", "hook-time"]
WITHOUT_BENCHMARK = ["module-hooks", "lines", "upper-bound", "text", "quoted", "hook-total", "hook-count"]

FIGURE_KEYS = {"id", "place", "lines", "kernel", "quantity", "theirs", "note", "ours", "over", "hooks",
               "modules", "of",
               "per_component", "unsigned", "tested", "baseline", "value", "low", "high", "experiment",
               "order",
               "by_construction", "elsewhere", "except", "within", "single", "of_means", "tested_kernel",
               "baseline_kernel", "bytes"}
GROUP_KEYS = FIGURE_KEYS | {"columns", "figures"}
COLUMN_KEYS = (FIGURE_KEYS - {"id"}) | {"name"}
SETUP_KEYS = {"stack", "integrity", "policy", "settings", "why"}
FILE_KEYS = (FIGURE_KEYS - {"id"}) | {"group", "publication", "sets", "setting", "cause", "unavailable"}
TABLE_KEYS = {"publication": {"title", "authors", "cite", "setting", "lines", "results", "times"},
              "setting": {"experiment", "name", "tested", "variant"},
              "cause": {"figures", "larger", "text"}, "unavailable": {"figures", "why", "state"}}


# Published figures

def known(table, keys, name):
    unknown = sorted(set(table) - keys)
    if unknown:
        raise Fault(f"{name}: unknown key `{unknown[0]}`")


def load(folder):
    """The publication: its tables, and `figures`, a list of dicts."""
    paths = sorted(folder.glob("publi*.toml"))
    if not paths:
        raise Fault(f"{folder}: no publication.toml")
    whole = {"sets": {}, "setting": [], "cause": [], "unavailable": [], "figures": []}
    for path in paths:
        try:
            part = tomllib.loads(path.read_text(), parse_float=Decimal)
        except (OSError, tomllib.TOMLDecodeError) as fault:
            raise Fault(f"{path}: {fault}") from None
        known(part, FILE_KEYS, path)
        for key in ("setting", "cause", "unavailable"):
            for table in part.pop(key, []):
                known(table, TABLE_KEYS[key], f"{path}: {key}")
                whole[key].append(table)
        whole["sets"] |= part.pop("sets", {})
        whole |= {"publication": part.pop("publication")} if "publication" in part else {}
        groups = part.pop("group", [])
        whole["figures"] += [(path, figure) for group in groups for figure in members(path, group, part)]
    if "publication" not in whole:
        raise Fault(f"{folder}: no file has [publication]")
    known(whole["publication"], TABLE_KEYS["publication"], f"{folder}: publication")
    whole["figures"] = [complete(path, figure, whole["sets"]) for path, figure in whole["figures"]]
    ids = [figure["id"] for figure in whole["figures"]]
    for name in ids:
        if ids.count(name) > 1:
            raise Fault(f"{folder}: two figures have the id `{name}`")
    return whole


def inside(part, outer):
    """`part` with missing keys from `outer`; ids and notes are joined."""
    values = {"value", "low", "high"}
    kept = {key: of for key, of in outer.items() if not (key in values and values & set(part))}
    joined = {key: f"{outer[key]}{by}{part[key]}" for key, by in (("id", "."), ("note", "; "))
              if key in outer and key in part}
    return kept | part | joined


def members(path, group, outer):
    known(group, GROUP_KEYS, f"{path}: group `{group.get('id')}`")
    columns = group.get("columns")
    head = inside({key: of for key, of in group.items() if key not in ("columns", "figures")}, outer)
    for figure in group["figures"]:
        values = figure.get("values")
        known(figure, FIGURE_KEYS | {"values"}, f"{path}: figure `{figure.get('id')}`")
        row = inside({key: of for key, of in figure.items() if key != "values"}, head)
        if columns is None:
            yield row
            continue
        if values is not None and len(values) != len(columns):
            raise Fault(f"{path}: figure `{row['id']}`: not one value for each column")
        for at, column in enumerate(columns):
            known(column, COLUMN_KEYS, f"{path}: column of `{group['id']}`")
            own = {"id" if key == "name" else key: of for key, of in column.items()}
            if values is not None and values[at] == "-":
                continue
            yield inside(own | ({} if values is None else {"value": values[at]}), row)


def complete(path, figure, sets):
    """With bounds, rounding and operations."""
    name = f"{path}: figure `{figure.get('id')}`"
    for key in ("id", "place", "quantity"):
        if key not in figure:
            raise Fault(f"{name}: no `{key}`")
    if figure["quantity"] not in UNITS:
        raise Fault(f"{name}: unknown quantity `{figure['quantity']}`")
    for setup in figure.get("tested", []) + figure.get("baseline", []):
        known(setup, SETUP_KEYS, name)
    ours = [one for item in figure.get("ours", []) for one in (sets[item[1:]] if item[0] == "@" else [item])]
    figure["ours"] = [one for one in ours if one.split(":")[0] not in figure.get("except", [])]
    given = [key for key in ("value", "low", "high") if key in figure]
    if figure["quantity"] == "order":
        if given or len(figure.get("order", [])) < 2:
            raise Fault(f"{name}: needs `order` with two entries or more, and no value")
        return figure
    if not given or ("value" in given and len(given) > 1):
        raise Fault(f"{name}: needs a value or bounds")
    factor = UNITS[figure["quantity"]][1]
    digits = [(Decimal(str(figure[key])) * factor).normalize().as_tuple().exponent if factor > 1
              else Decimal(str(figure[key])).as_tuple().exponent for key in given]
    figure["half"] = 0.5 * 10.0 ** min(0, *digits, 0) / factor
    for key in given:
        figure[key] = float(figure[key])
    return figure


def unavailable(whole, figure):
    """The state and the reason, if a figure has no measurement of ours for good."""
    fitting = (of for of in whole["unavailable"]
               if any(fnmatchcase(figure["id"], one) for one in of["figures"]))
    return next(((of.get("state", "cannot be had"), of["why"]) for of in fitting), None)


# Verdicts

def judge(figure, ours):
    """A state; "differs" without a cause, "no verdict" if our interval is too wide to decide."""
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
    if quantity in OVERHEADS + ["hook-share"]:
        spread = max(half, PART * abs(theirs))
    else:
        spread = CHECKS if quantity == "slope" else half
    least, most = theirs - spread - 1e-9, theirs + spread + 1e-9
    if high < least or low > most:
        return "differs"
    return "tolerance" if high - low <= most - least else "no verdict"


def judged(whole, files, explain=None):
    """Each figure with its state, cause and answers. `explain(figure, answers)` may return a state and a "
      "cause."""
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
    if figure.get("elsewhere"):
        return "no verdict", f"judged as a figure of {figure['elsewhere']}"
    without = unavailable(whole, figure)
    if without:
        ours.clear()
        return without
    if not figure["ours"] and figure["quantity"] not in WITHOUT_BENCHMARK + ["order"]:
        raise Fault(f"figure `{figure['id']}` has no benchmark in `ours`, and is not in [[unavailable]]")
    if not ours:
        return "not measured", ""
    if figure["quantity"] in WITHOUT_VERDICT:
        return "no verdict", "another machine or measure"
    state = judge(figure, ours[0])
    if state in AGREE and figure.get("by_construction"):
        return "by construction", ""
    if state == "no verdict":
        return state, "our interval is wider than what would decide"
    if state != "differs":
        return state, ""
    if figure["id"] in fits["shown"]:
        setting = fits["shown"][figure["id"]]
        return "differs: shown", f"with {setting} ours agrees, and no other figure fits worse"
    larger = "ours" if ours[0]["value"] > figure.get("value",
                                                     figure.get("high", figure.get("low", 0))) else "theirs"
    possible = [of["text"] for of in whole["cause"] if of.get("larger", larger) == larger
                and any(fnmatchcase(figure["id"], one) for one in of["figures"])]
    return ("differs: possible", "; ".join(possible)) if possible else ("differs: unexplained", "")


def with_setting(figure, setting):
    variant = setting.get("variant", {})
    changed = figure | {"ours": [variant.get(name, name) for name in figure["ours"]]}
    return changed | ({"tested": [setting["tested"]]} if "tested" in setting else {})


def settings(whole, files, found):
    """`shown`: figures with the setting that explains them. `fit`: agreeing figures by experiment, setting, "
      "file."""
    shown, fit = {}, {}
    for setting in whole["setting"]:
        own = [figure for figure in whole["figures"] if figure.get("experiment") == setting["experiment"]]
        for file in files:
            states = {}
            for figure in own:
                first = [one for one in found[figure["id"]] if one["file"] == file["name"]]
                other = answers(with_setting(figure, setting), [file])
                states[figure["id"]] = [judge(figure, of[0]) in AGREE if of else None
                                        for of in (first, other)]
                if first and other:
                    where = (setting["experiment"], file["name"])
                    fit.setdefault((*where, None), {})[figure["id"]] = (first[0], judge(figure, first[0]))
                    fit.setdefault((*where, setting["name"]), {})[figure["id"]] = (other[0],
                                                                                   judge(figure, other[0]))
            for figure in own:
                others = [of for name, of in states.items() if name != figure["id"]]
                if states[figure["id"]] == [False, True] and all(with_it for without,
                                                                 with_it in others if without):
                    shown.setdefault(figure["id"], f"{setting['name']} "
                                                   f"({file['name'].removesuffix('.json.xz')})")
    return {"shown": shown, "fit": fit}


def benchmarks(whole, files, lsmeter):
    """Every benchmark that a figure names is in lsmeter's catalogue or in a result file."""
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
    """A row for each table or figure of the publication, and their sum: at most eight columns."""
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


LEGEND = """**exact**: equal as far as published digits go, and not 0. **0 = 0**: both are 0. **bound**:
inside a published range or bound, or in the published order. **tolerance**: a real number within a tenth
of the published one (checks: a quarter of one), or our interval overlaps that; whole numbers have no
tolerance. **differs** (a/b/c): the cause is shown by a measurement or the source (a), possible (b), or
unknown (c). **not judged**: c by construction (our benchmark was made after it), n no verdict (another
machine or measure, our interval decides nothing, or judged elsewhere), x cannot be had, m not measured."""


def first_screen(whole, findings, verdicts, csv_files="[figures.csv](figures.csv)"):
    """Title, source, findings, a row for each table, and where every figure is."""
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

Every figure, with ours, the verdict and the cause: {csv_files}. `lines` are {of['lines']}.
"""


def correlation(pairs_):
    """Spearman's rank correlation and the median of ours by theirs, without pairs of zeros."""
    pairs_ = [(ours, theirs) for ours, theirs in pairs_ if ours or theirs]
    if len(pairs_) < 4 or len({one[0] for one in pairs_}) < 2 or len({one[1] for one in pairs_}) < 2:
        return None
    ours, theirs = zip(*pairs_)
    ratios = [one / other for one, other in pairs_ if one * other > 0]
    return len(pairs_), float(stats.spearmanr(ours, theirs).correlation), float(np.median(ratios))


def value_pairs(verdicts, keep):
    """Ours and theirs, of single values that have a verdict."""
    return [(one["answers"][0]["value"], one["figure"]["value"]) for one in verdicts
            if keep(one["figure"]) and one["answers"] and "value" in one["figure"]
            and one["state"] in AGREE + DIFFER + ["no verdict"] and not one["figure"].get("elsewhere")]


def welch(one, other):
    """Of `one` against `other`: relative difference with its 95 % interval, and the p value."""
    one, other = np.array(one, float), np.array(other, float)
    parts = [of.var(ddof=1) / len(of) for of in (one, other)]
    freedom = sum(parts) ** 2 / sum(part ** 2 / (len(of) - 1) for part, of in zip(parts, (one, other)))
    difference, wide = one.mean() - other.mean(), stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    p = float(stats.ttest_ind(one, other, equal_var=False).pvalue)
    return [float(of / other.mean()) for of in (difference, difference - wide, difference + wide)] + [p]


# Output

def markdown(head, rows):
    """The first column is text, others are aligned right unless they hold words."""
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
    """In the quantity's unit, with as many digits as help."""
    if value is None or not np.isfinite(value):
        return ""
    value *= UNITS[figure["quantity"]][1]
    digits = 2 if figure["quantity"] in OVERHEADS + ["slope", "hook-share"] else 3
    return f"{round(value, digits) + 0.0:.10g}"


def figures_csv(verdicts, more=lambda one: [], names=()):
    """Every figure: what is published, ours, and the verdict."""
    head = ["id", "published in", "lines", "kernel", "what", "quantity", "unit", "value", "low", "high",
            "ours",
            "ours low", "ours high", "verdict", "cause or reason", "our kernel", "benchmark", "configuration",
            "baseline", "substitute because", "result file", "note", *names]
    rows = []
    for one in verdicts:
        figure, first = one["figure"], (one["answers"] or [{}])[0]
        published = [rounded(figure.get(key), figure) for key in ("value", "low", "high")]
        ours = [first.get("text") or rounded(first.get("value"), figure)]
        exact = first.get("low") == first.get("value") == first.get("high")
        ours += ["" if exact else rounded(first.get(key), figure)
                 for key in ("low", "high")]
        rows.append([figure["id"], figure["place"], figure.get("lines"), figure.get("kernel"),
                     figure.get("theirs"),
                     figure["quantity"], UNITS[figure["quantity"]][0], *published, *ours, one["state"],
                     one["cause"],
                     *(first.get(key)
                       for key in ("release", "benchmark", "configuration", "baseline", "why", "file")),
                     figure.get("note"), *more(one)])
    return csv_text([*head], rows)


def measurements_csv(verdicts):
    """Every figure of ours that answers a published one, with a verdict of its own."""
    rows = []
    for one in verdicts:
        figure = one["figure"]
        for ours in one["answers"]:
            own = "" if figure["quantity"] in WITHOUT_VERDICT or "half" not in figure else judge(figure, ours)
            values = [rounded(ours[key], figure)
                      for key in ("value", "low", "high")] if "text" not in ours else [ours["text"], "", ""]
            rows.append([figure["id"], UNITS[figure["quantity"]][0], *values, own, ours["release"],
                         ours["benchmark"],
                         ours["configuration"], ours.get("baseline"), ours.get("why"), ours["file"]])
    head = ["id", "unit", "ours", "low", "high", "by itself", "kernel", "benchmark", "configuration",
            "baseline",
            "substitute because", "result file"]
    return csv_text(head, rows)


def settings_csv(fits):
    """Each experiment with each setting, by result file."""
    rows = []
    for (experiment, file, setting), figures in fits["fit"].items():
        for name, (ours, state) in figures.items():
            rows.append([experiment, file, setting or "as published", name, ours["release"],
                         ours["benchmark"],
                         f"{100 * ours['value']:.2f}" if abs(ours["value"]) < 1e3 else ours["value"], state])
    head = ["experiment", "result file", "setting", "figure", "kernel", "benchmark", "ours, %", "verdict"]
    return csv_text(head, rows)


def two_kernels(verdicts):
    """Overheads of 6.1 and 6.12 next to the published ones."""
    rows = []
    for one in verdicts:
        by = {".".join(ours["release"].split(".")[:2]): ours for ours in reversed(one["answers"])}
        cells = [text_of(by.get(kernel)) for kernel in ("6.1", "6.12")]
        figure, module = one["figure"], one["figure"]["id"].rpartition(".")[2]
        named = f"{figure['place']}: {figure['theirs']}" + (f", {module}"
                                                            if module in ("selinux", "tomoyo") else "")
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
        releases = {one.get("release")
                    for one in content.get("measurements", [])} - {None} or {content.get("version")}
        where = content.get("experiment", {}).get("filesystem",
                                                  "") if content["kind"] != "placement" else "source"
        rows.append([f"[{name}]({name})", content["kind"], ", ".join(sorted(releases, key=version)), where,
                     content.get("started", "")[:10]])
    return markdown(["result file", "kind", "Linux", "on", "measured"], rows)


def percent(value, digits=1):
    text = f"{100 * value:+,.{digits}f} %"
    return text[1:] if float(text[1:-2].replace(",", "")) == 0 else text


def require(condition, statement):
    """A sentence of a page that the result files no longer bear out is an error."""
    if not condition:
        raise Fault(f"the page states what the result files do not show: {statement}\nhint: change the text "
                    f"in page.py")


def save(figure, folder, name):
    matplotlib.rcParams.update({"svg.hashsalt": "lsmeter", "svg.fonttype": "none"})
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None}, bbox_inches="tight")


def run(folder, build):
    """`build(folder, lsmeter)` returns texts by file name, and a function that draws the figures."""
    parser = argparse.ArgumentParser(description=f"Write the page of {folder.name} from its result files.")
    parser.add_argument("--lsmeter", default="lsmeter", help="the program (default: lsmeter in PATH)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if Markdown or CSV "
                                                             "are stale")
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


def here(path):
    return Path(path).resolve().parent
