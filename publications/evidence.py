# SPDX-License-Identifier: GPL-2.0-or-later
"""Our figures: reads lsmeter's result files and finds those that answer a published figure.

Values come from `lsmeter export`, calls of hooks and rounds from the JSON. Used by published.py and by the
publications' scripts: `results(folder, names, lsmeter)`, `answers(figure, files)`, `quiet_times(document)`.
"""

import io
import json
import lzma
import re
import subprocess
import sys
from fnmatch import fnmatchcase

try:
    import numpy as np
    import pandas as pd
except ImportError as missing:
    print(f"error: {missing}\nhint: apt-get install python3-pandas python3-scipy python3-matplotlib, "
          "and run the script with /usr/bin/python3", file=sys.stderr)
    sys.exit(2)


class Fault(Exception):
    """An error message about an input."""


# Our figures

def call(lsmeter, *arguments):
    try:
        done = subprocess.run([lsmeter, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as fault:
        hint = "hint: --lsmeter target/release/lsmeter"
        raise Fault(f"cannot run {lsmeter}: {fault.strerror}\n{hint}") from None
    if done.returncode:
        raise Fault(done.stderr.strip().removeprefix("error: ").splitlines()[0])
    return done.stdout


def table(lsmeter, path):
    text = call(lsmeter, "export", str(path))
    return pd.read_csv(io.StringIO(text), keep_default_na=False, dtype=str)


def document(path):
    try:
        with lzma.open(path, "rt") as file:
            return json.load(file)
    except (OSError, lzma.LZMAError, ValueError) as fault:
        raise Fault(f"cannot read {path}: {fault}") from None


def version(release):
    return [int(number) for number in re.findall(r"\d+", release)[:3]]


def results(folder, names, lsmeter):
    """Result files in order of precedence."""
    return [result(folder / f"{name}.json.xz", lsmeter) for name in names]


def result(path, lsmeter):
    if not path.is_file():
        raise Fault(f"no result file {path}")
    frame, content = table(lsmeter, path), document(path)
    file = {"name": path.name, "kind": content.get("kind"), "frame": frame, "rows": {}, "json": content}
    if file["kind"] == "run":
        index_rows(file)
    elif file["kind"] not in ("sensitivity", "placement"):
        raise Fault(f"{path}: a result file of kind `{file['kind']}` is not used here")
    return file


def index_rows(file):
    """`rows`: (operation, stack, integrity, policy, settings, metric) to rows, the oldest kernel first."""
    hooked = {}
    for measurement in file["json"]["measurements"]:
        key = measurement["key"]
        settings = ",".join(f"{name}={str(of).lower()}" for name, of in key.get("settings", {}).items())
        evidence = measurement.get("evidence", {}).get("counted", {})
        hooked[(key["kernel"], operation(key), ",".join(key["stack"]), ",".join(key.get("integrity", [])),
                key["policy"], settings)] = evidence.get("hooked")
    for row in file["frame"].to_dict("records"):
        if row["status"] != "ok":
            continue
        name = operation(row)
        key = (name, row["stack"], row["integrity"], row["policy"], row["settings"], row["metric"])
        value, exact = float(row["value"]), row["exact"] == "true"
        low, high = ((value, value) if exact or not row["ci95_low"]
                     else (float(row["ci95_low"]), float(row["ci95_high"])))
        kept = {"operation": name, "value": value, "low": low, "high": high, "exact": exact,
                "kernel": row["kernel"], "release": row["release"], "filesystem": row["filesystem"], "metric": row["metric"],
                "hooked": hooked.get((row["kernel"], *key[:5])), "stack": row["stack"]}
        file["rows"].setdefault(key, []).append(kept)
    for rows in file["rows"].values():
        rows.sort(key=lambda row: version(row["release"]))


def operation(key):
    name, variant = key.get("benchmark") or key.get("workload") or "", key.get("variant") or ""
    return f"{name}:{variant}" if variant else name


def rows_of(file, name, setup, metric="instructions"):
    key = (name, setup["stack"], ",".join(setup.get("integrity", [])), setup.get("policy", "none"),
           setup.get("settings", ""), metric)
    return file["rows"].get(key, [])


def title(setup):
    parts = [setup["stack"], *(f"+{name}" for name in setup.get("integrity", []))]
    more = [of for of in (setup.get("policy", "none"), setup.get("settings", "")) if of not in ("none", "")]
    return " ".join(parts) + (f" ({', '.join(more)})" if more else "")


def answer(file, row, setup, name, value, low=None, high=None, base=None):
    low, high = (value, value) if low is None else (low, high)
    found = {"file": file["name"], "release": row["release"], "kernel": row.get("kernel"), "benchmark": name,
             "value": value, "low": low, "high": high, "configuration": title(setup)}
    reasons = [of.get("why") for of in (setup, base or {})]
    if base is not None:
        found["baseline"] = title(base)
        reasons[1] = reasons[1] and f"baseline: {reasons[1]}"
    return found | {"why": "; ".join(filter(None, reasons)) or None}


def pairs(file, name, tested, baselines):
    """Rows, each with the row of the first baseline in the file; without LSMs, that is a row of another kernel."""
    for row in rows_of(file, name, tested):
        for setup in baselines:
            same = [base for base in rows_of(file, name, setup) if base["filesystem"] == row["filesystem"]
                    and (setup["stack"] == "none" or base["kernel"] == row["kernel"])]
            if same:
                yield row, same[0], setup
                break


def ratio(rows, bases):
    """A quotient of sums, with the outermost values of both intervals."""
    total = [sum(row[key] for row in rows) for key in ("value", "low", "high")]
    base = [sum(row[key] for row in bases) for key in ("value", "low", "high")]
    return total[0] / base[0], total[1] / base[2], total[2] / base[1]


def overheads(figure, files):
    change = (lambda of: 1 - 1 / of) if figure["quantity"] == "throughput-overhead" else (lambda of: of - 1)
    for file in files:
        for setup in figure.get("tested", []):
            found = {}
            for name in figure["ours"]:
                for row, base, other in pairs(file, name, setup, figure.get("baseline", [])):
                    of = [change(one) for one in ratio([row], [base])]
                    found.setdefault(row["kernel"], []).append((name, row, base, other, of))
            for of_kernel in found.values():
                for name, row, other, of in over(figure, of_kernel, change):
                    of = sorted(map(abs, of)) if figure.get("unsigned") else of
                    yield answer(file, row, setup, name, of[0], min(of), max(of), other)


def over(figure, found, change):
    """One value for each operation, or one for all, which needs at least half of them (for a mean, all)."""
    kind, n, wanted = figure.get("over"), len(found), len(figure["ours"])
    if kind is None:
        return [(name, row, other, of) for name, row, base, other, of in found]
    if 2 * n < wanted or (kind == "mean" and n < wanted):
        return []
    found = sorted(found, key=lambda one: one[4][0])
    name, row, base, other, of = found[-1]
    if kind == "largest":
        return [(f"{name}, largest of {n}", row, other, of)]
    if kind == "median":
        return [(f"median of {n}", row, other,
                 [float(np.median([one[4][at] for one in found])) for at in range(3)])]
    of = [change(one) for one in ratio([one[1] for one in found], [one[2] for one in found])]
    return [(f"mean of {' and '.join(one[0] for one in found)}", row, other, of)]


def hook_calls(hooks, patterns):
    return [hook for hook in hooks or [] if any(fnmatchcase(hook["hook"], pattern) for pattern in patterns)]


def components(name):
    variant = name.partition(":")[2]
    depth = re.fullmatch(r"depth(\d+)", variant)
    parts = [part for part in variant.split("/") if part]
    return int(depth[1]) if depth else (len(parts) if variant[:2] in ("AA", "XX") else 1)


def counted(figure, files):
    """Counts of an operation. The framework's calls are the same under each stack."""
    quantity, hooks = figure["quantity"], figure.get("hooks", [])
    setups = [setup for setup in figure.get("tested", [{"stack": "capability"}])]
    if quantity not in ("module-calls", "nested-calls", "hook-time"):
        setups.append({"stack": "capability", "why": "the framework calls the same hooks under each stack"})
    for file in files:
        for name in figure["ours"]:
            for setup in setups:
                rows = [row for row in rows_of(file, name, setup) if row["hooked"]]
                for row in rows:
                    value = count(figure, row["hooked"], hooks, name)
                    if value is not None:
                        yield answer(file, row, setup, name, value)
                if rows:
                    break


def count(figure, hooked, hooks, name):
    quantity, all_hooks = figure["quantity"], hooked["hooks"]
    own = hook_calls(all_hooks, hooks)
    calls = sum(hook["calls"] for hook in own)
    if quantity == "system-calls":
        return sum(hooked.get("system_calls", {}).values()) or None
    if quantity == "hook-share":
        return calls / sum(hook["calls"] for hook in all_hooks)
    if quantity == "module-calls":
        return of_module(own, figure["modules"][0])
    if quantity == "nested-calls":
        return sum(by["calls"] for hook in own for by in hook["called_by"]
                   if figure["within"] in by["function"])
    if quantity == "hook-time":
        return sum(hook["inclusive"] for hook in own) / calls if calls else None
    return calls / components(name) if figure.get("per_component") else calls


def of_module(hooks, module):
    return sum(by["calls"] for hook in hooks for by in hook["implementations"] if by["module"] == module)


def checks(figure, files):
    """A value for all operations together."""
    setup = figure["tested"][0]
    for file in files:
        rows = [row for name in figure["ours"] for row in rows_of(file, name, setup)[:1]]
        if len(rows) == len(figure["ours"]):
            own = [hook for row in rows for hook in hook_calls(row["hooked"]["hooks"], figure["hooks"])]
            yield answer(file, rows[0], setup, f"{len(rows)} files", of_module(own, figure["modules"][0]))


def slopes(figure, files):
    yield from counted(figure, [file for file in files if file["kind"] == "run"])
    for file in files:
        if file["kind"] == "sensitivity":
            frame = file["frame"]
            found = frame[(frame.hooks == ",".join(figure["hooks"])) & (frame.caches == "warm")
                          & (frame.status == "ok") & frame.apply(operation, axis=1).isin(figure["ours"])]
            for row in found.to_dict("records"):
                bounds = [float(row[key]) for key in ("checks_per_operation", "ci95_low", "ci95_high")]
                setup = {"stack": row["stack"], "why": "a BPF program waits in the hooks"}
                yield answer(file, row, setup, operation(row), *bounds)


def all_pass(figure, files):
    for file in files:
        names = {key[0]: rows[0] for key, rows in file["rows"].items()
                 if key[1:5] == ("capability", "", "none", "")}
        rows = [row for row in names.values() if row["hooked"]]
        passing = [row for row in rows if hook_calls(row["hooked"]["hooks"], figure["hooks"])]
        if rows:
            name = f"{len(passing)} of {len(rows)} operations"
            yield answer(file, rows[0], {"stack": "capability"}, name, len(passing) / len(rows))


def throughputs(figure, files):
    """A throughput in MB/s, over the layouts of a kernel."""
    for file in files:
        for setup in figure.get("tested", []):
            for name in figure["ours"]:
                rows = rows_of(file, name, setup, "throughput")
                if rows:
                    rates = [row["value"] * figure["bytes"] / 1e6 for row in rows]
                    yield answer(file, rows[0], setup, name, *centre(rates))


def placed(figure, files):
    """Hooks and lines of modules, from the source."""
    for file in files:
        if file["kind"] != "placement" or not figure.get("modules"):
            continue
        frame, of = file["frame"], figure.get("of")
        own = frame[frame.level.isin(["framework", "module"])
                    & frame.module.where(frame.level == "module", "framework").isin(figure["modules"])]
        category = frame[(frame.level == "category") & frame.module.isin(figure["modules"])
                         & (frame.category == of)]
        if len(own) < len(figure["modules"]):
            continue

        def total(column, rows=own):
            return sum(float(value or 0) for value in rows[column])
        if figure["quantity"] == "lines":
            value = total("loc") / total("hooks") if of == "per-hook" else total("loc")
        else:
            column = {None: "hooks", "general": "unconditional", "file-accessing": "file_accessing"}.get(of)
            value = total(column) if column else total("hooks", category)
        yield answer(file, {"release": own.version.iloc[0]}, {"stack": "source"},
                     " and ".join(figure["modules"]), value)


ANSWERS = {"slope": slopes, "checks": checks, "all-pass": all_pass, "module-hooks": placed, "lines": placed,
           "overhead": overheads, "throughput-overhead": overheads, "throughput": throughputs}


def answers(figure, files):
    """Our figures, the deciding one first: in the order of files, then of kernels, then as the figure lists them."""
    if figure["quantity"] in ("hook-calls", "module-calls", "hook-share", "calls-at-least", "system-calls",
                              "nested-calls", "hook-time"):
        return list(counted(figure, [file for file in files if file["kind"] == "run"]))
    evaluate = ANSWERS.get(figure["quantity"])
    runs = [file for file in files if file["kind"] == "run"]
    if evaluate is None:
        return []
    return list(evaluate(figure, files if evaluate in (slopes, placed) else runs))


# Times of UML kernels: quiet rounds of each layout

ESTIMATORS = {"minimum": np.min, "median": np.median, "mean": np.mean}


def quiet_times(content):
    """(operation, stack) to the quiet rounds of each layout, in ns."""
    times = {}
    for measurement in content["measurements"]:
        key, timed = measurement["key"], measurement.get("evidence", {}).get("timed")
        if timed:
            layout = key["kernel"].rpartition(".")[2]
            times.setdefault((operation(key), ",".join(key["stack"])),
                             {})[layout] = timed.get("quiet") or timed["rounds"]
    return times


def centre(values):
    """The Hodges-Lehmann centre, and the exact signed-rank interval of at least 95 %."""
    n, walsh = len(values), np.sort([(a + b) / 2 for at, a in enumerate(values) for b in values[at:]])
    ranks = np.zeros(n * (n + 1) // 2 + 1)
    ranks[0] = 1
    for rank in range(1, n + 1):
        ranks = (ranks + np.concatenate([np.zeros(rank), ranks[:-rank]])) / 2
    out = int(np.searchsorted(np.cumsum(ranks), 0.025, side="right")) - 1
    if out < 0:
        raise Fault("times: an interval needs six layouts of a kernel or more")
    return float(np.median(walsh)), float(walsh[out]), float(walsh[-1 - out])


def timed(times, name, stack, base="none", absolute=False):
    """By estimator: overhead over `base` (or nanoseconds more), with its interval over layouts."""
    if (name, stack) not in times or (name, base) not in times:
        return None
    one, other = times[name, stack], times[name, base]
    layouts = sorted(set(one) & set(other))
    found = {}
    for label, estimate in ESTIMATORS.items():
        of = [(estimate(one[layout]), estimate(other[layout])) for layout in layouts]
        if absolute:
            found[label] = centre([a - b for a, b in of])
        else:
            found[label] = tuple(float(np.exp(x) - 1) for x in centre([np.log(a / b) for a, b in of]))
    return found
