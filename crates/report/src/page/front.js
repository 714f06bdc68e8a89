// SPDX-License-Identifier: GPL-2.0-or-later
// Makes maps of overheads open: a class into benchmarks, a benchmark into variants, a tile into its
// measurement, which also has a link (#cell=...). Optional: without it all rows are open.
(function () {
"use strict";
const make = (name, text, kind) => {
	const node = document.createElement(name);
	if (text !== undefined)
		node.textContent = text;
	if (kind)
		node.className = kind;
	return node;
};
const level = row => Number(row.dataset.level);

// The rows below one that belong to it.
function below(row) {
	const rows = [];
	for (let next = row.nextElementSibling; next && level(next) > level(row); next = next.nextElementSibling)
		rows.push(next);
	return rows;
}

function open(row, is_open) {
	row.querySelector("button.fold").setAttribute("aria-expanded", is_open);
	for (const one of below(row)) {
		const own = level(one) === level(row) + 1;
		one.hidden = !(is_open && own);
		const button = one.querySelector("button.fold");
		if (button)
			button.setAttribute("aria-expanded", "false");
	}
}

for (const row of document.querySelectorAll(".map tr[data-level]")) {
	const button = row.querySelector("button.fold");
	if (!button)
		continue;
	button.hidden = false;
	row.querySelector(".name").hidden = true;
	button.addEventListener("click", () => open(row, button.getAttribute("aria-expanded") !== "true"));
}
const close = map => {
	for (const row of map.querySelectorAll("tr[data-level='0']")) {
		row.hidden = false;
		open(row, false);
	}
};
for (const map of document.querySelectorAll(".map"))
	close(map);

// The rows above one, which it belongs to.
function above(row) {
	const rows = [];
	for (let last = row, one = row.previousElementSibling; one; one = one.previousElementSibling)
		if (level(one) < level(last)) {
			rows.push(one);
			last = one;
		}
	return rows;
}

// Shows a row with those above it, and nothing else of their folds.
function reveal(row) {
	row.hidden = false;
	for (const one of above(row)) {
		one.hidden = false;
		one.querySelector("button.fold").setAttribute("aria-expanded", "true");
	}
}

const whole = new Intl.NumberFormat("en-US");
const signed = n => (n > 0 ? "+" : "") + whole.format(n);
const kept = new Map();
function dataOf(id) {
	if (!kept.has(id)) {
		const node = document.querySelector(`[data-cells="${CSS.escape(id)}"]`);
		kept.set(id, node ? JSON.parse(node.textContent) : null);
	}
	return kept.get(id);
}

// Operations by a part of their names, or of the name of a hook that they call.
function find(glance, text) {
	const map = glance.querySelector(".map"), data = dataOf(glance.id);
	close(map);
	if (!text)
		return;
	const calls = row => row.cells.some(cell =>
		(cell && cell.hooks || []).some(([hook]) => data.names[hook].includes(text)));
	const titles = new Set(data.rows.filter(row => row.title.includes(text) || calls(row)).map(row => row.title));
	for (const row of map.querySelectorAll("tr[data-level]"))
		row.hidden = true;
	for (const row of map.querySelectorAll("tr[data-level]"))
		if (titles.has(row.querySelector("th").textContent))
			reveal(row);
}
for (const glance of document.querySelectorAll(".glance")) {
	const box = glance.querySelector(".find"), field = box.querySelector("input");
	box.hidden = false;
	field.addEventListener("input", () => find(glance, field.value.trim()));
}

const panel = make("section");
panel.id = "cell";
panel.tabIndex = -1;
panel.hidden = true;
panel.setAttribute("aria-labelledby", "cell-title");
let opener = null;

function shut() {
	panel.hidden = true;
	history.replaceState(null, "", location.pathname + location.search);
	if (opener)
		opener.focus();
}
document.addEventListener("keydown", event => {
	if (event.key === "Escape" && !panel.hidden)
		shut();
});

// Calls and instructions of hooks in both measurements, the largest difference first.
function hooksOf(base, cell) {
	const rows = new Map();
	for (const [side, at] of [[base, 0], [cell, 1]])
		for (const [hook, calls, instructions, own] of side.hooks || []) {
			if (!rows.has(hook))
				rows.set(hook, { calls: [0, 0], instructions: [0, 0], own: [[], []] });
			const row = rows.get(hook);
			row.calls[at] = calls;
			row.instructions[at] = instructions;
			row.own[at] = own;
		}
	const added = row => row.instructions[1] - row.instructions[0];
	return [...rows].sort((one, other) => added(other[1]) - added(one[1]));
}

// Frames of one depth of a measurement, each as wide as its share of the widest.
function lineOf(parts, widest) {
	const line = make("div", undefined, "line");
	for (const [what, n, kind, more] of parts) {
		if (n <= 0)
			continue;
		const part = make("span", undefined, "part " + kind);
		part.style.width = 100 * n / widest + "%";
		if (what)
			part.title = `${what}: ${whole.format(n)} instructions` + (more ? ` (${more})` : "");
		if (what && n / widest > .02 + .009 * what.length)
			part.textContent = what;
		line.append(part);
	}
	return line;
}

// Both measurements as flame graphs on one scale, from the operation down: the part outside hooks,
// each hook by its most expensive module, and the modules' functions below it. Then the difference.
function picture(data, base, cell, baseTitle, title, operation, modules) {
	const box = make("div", undefined, "bars");
	const widest = Math.max(base.value, cell.value);
	const kindOf = module => {
		if (!modules.has(module))
			modules.set(module, "m" + (1 + modules.size % 6));
		return modules.get(module);
	};
	const mostOf = own => own.slice().sort((a, b) => b[2] - a[2])[0];
	const add = (name, lines) => {
		const row = make("div", undefined, "stack"), depths = make("div", undefined, "depths");
		depths.append(...lines);
		row.append(make("span", name, "who"), depths);
		box.append(row);
	};
	for (const [name, side] of [[baseTitle, base], [title, cell]]) {
		const hooks = side.hooks || [], outer = [], inner = [];
		const inside = hooks.reduce((sum, hook) => sum + hook[2], 0);
		outer.push(["outside hooks", side.value - inside, "m0"]);
		inner.push(["", side.value - inside, "none"]);
		for (const [hook, calls, instructions, own] of hooks) {
			const most = mostOf(own), module = most ? data.names[most[0]] : "";
			outer.push([data.names[hook], instructions, module ? kindOf(module) : "m0",
				`${calls} calls` + (module ? `, ${module}` : "")]);
			// The modules' functions of nested calls are unknown.
			let left = instructions;
			if (own.reduce((sum, one) => sum + one[2], 0) <= instructions)
				for (const [from, name, n] of own) {
					inner.push([data.names[name], n, kindOf(data.names[from]), data.names[from]]);
					left -= n;
				}
			inner.push(["", left, "none"]);
		}
		add(name, [lineOf([[operation, side.value, "m0"]], widest), lineOf(outer, widest), lineOf(inner, widest)]);
	}
	const added = hooksOf(base, cell).map(([hook, row]) => {
		const most = mostOf(row.own[1]), module = most ? data.names[most[0]] : "";
		return [data.names[hook], row.instructions[1] - row.instructions[0], module ? kindOf(module) : "m0", module];
	});
	const total = cell.value - base.value;
	const outside = total - added.reduce((sum, one) => sum + one[1], 0);
	const more = [...added, ["outside hooks", outside, "m0"]];
	const sum = more.reduce((sum, one) => sum + Math.max(0, one[1]), 0);
	if (sum > 0)
		add("difference " + signed(total), [lineOf(more, sum)]);
	const less = more.filter(one => one[1] < 0).map(([what, n]) => `${what} ${signed(n)}`);
	if (less.length)
		box.append(make("p", "Less: " + less.join(", ") + " instructions.", "key"));
	const key = make("p", undefined, "key");
	for (const [module, kind] of modules)
		key.append(make("span", "", "part " + kind), " " + module + " ");
	box.append(key);
	return box;
}

function tableOf(data, base, cell, titles) {
	const table = make("table"), head = make("tr"), body = make("tbody");
	table.append(make("caption", "Hooks on the operation's path; instructions of nested calls are those of the outer hook."));
	for (const [name, kind] of [["hook", "left"], ["calls", "right"], [titles[0], "right"], [titles[1], "right"],
		["adds", "right"], ["implemented by", "left"]]) {
		const th = make("th", name, kind);
		th.scope = "col";
		head.append(th);
	}
	const top = make("thead");
	top.append(head);
	for (const [hook, row] of hooksOf(base, cell)) {
		const tr = make("tr"), th = make("th", data.names[hook], "left");
		th.scope = "row";
		const calls = row.calls[0] === row.calls[1] ? row.calls[1] : `${row.calls[0]} → ${row.calls[1]}`;
		const own = row.own[1].map(([module, name, n]) => `${data.names[name]} (${data.names[module]}) ${whole.format(n)}`);
		tr.append(th, make("td", calls, "right"), make("td", whole.format(row.instructions[0]), "right"),
			make("td", whole.format(row.instructions[1]), "right"),
			make("td", signed(row.instructions[1] - row.instructions[0]), "right"),
			make("td", own.join(", "), "left"));
		body.append(tr);
	}
	table.append(top, body);
	const scroll = make("div", undefined, "scroll");
	scroll.tabIndex = 0;
	scroll.setAttribute("role", "region");
	scroll.setAttribute("aria-label", "Hooks");
	scroll.append(table);
	return scroll;
}

// Maximum number of listed paths other than the most frequent.
const PATHS_SHOWN = 4;

function pathsOf(name, cell) {
	if (!cell.paths)
		return "";
	const [[, dominant], ...others] = cell.paths, shown = others.slice(0, PATHS_SHOWN);
	const parts = shown.map(([instructions, regions]) =>
		`${regions} took one of ${whole.format(instructions)} instructions`);
	if (others.length > shown.length)
		parts.push(`the rest took ${others.length - shown.length} or more others`);
	return `${name}: ${dominant} of ${cell.regions} measured regions took the path that is shown` +
		parts.map(part => ", " + part).join("") + ". ";
}

// Shows the measurement in the page's address, if there is one.
function show() {
	const found = /^#cell=(glance-\d+-\d+)\.(\d+)\.(\d+)$/.exec(location.hash);
	const data = found && dataOf(found[1]);
	const row = data && data.rows[found[2]];
	const at = found && Number(found[3]);
	if (!row || !(at in data.columns)) {
		panel.hidden = true;
		return;
	}
	const cell = row.cells[at], base = row.cells[data.baseline];
	let opened = null;
	const titles = [data.columns[data.baseline], data.columns[at]];
	const title = make("h3", `${row.title}, ${titles[1]}`);
	title.id = "cell-title";
	const close = make("button", "Close");
	close.type = "button";
	close.addEventListener("click", shut);
	panel.replaceChildren(title, close);
	if (!cell || !cell.figure)
		panel.append(make("p", cell ? cell.why : "Not measured."));
	else if (!base || !base.figure)
		panel.append(make("p", `${cell.figure} ${data.metric}. The baseline has no figure: ` +
			(base ? base.why : "it was not measured.")));
	else {
		const line = make("p");
		line.append(make("strong", cell.overhead || "n/a"),
			` over ${titles[0]}: ${base.figure} → ${cell.figure} in ${data.metric} (${data.place}).`);
		panel.append(line);
		if (base.hooks && cell.hooks) {
			const modules = new Map(), calls = make("div");
			panel.append(picture(data, base, cell, titles[0], titles[1], row.title, modules),
				tableOf(data, base, cell, titles), calls);
			opened = { place: calls, glance: found[1], row: Number(found[2]), columns: [data.baseline, at],
				titles, operation: row.title, modules };
		}
		panel.append(make("p", pathsOf(titles[0], base) + pathsOf(titles[1], cell), "faint"));
	}
	const command = make("p", "Measure this with hooks: ");
	command.append(make("code", data.commands[at] + " " + row.title));
	panel.append(command);
	const tiles = [...document.querySelectorAll(".map a")];
	const tile = tiles.find(one => one.getAttribute("href") === location.hash);
	if (tile) {
		reveal(tile.closest("tr"));
		opener = tile;
		for (const one of document.querySelectorAll(".map .chosen"))
			one.classList.remove("chosen");
		tile.parentElement.classList.add("chosen");
		const place = document.getElementById(found[1]).querySelector(".front");
		place.after(panel);
	}
	panel.hidden = false;
	panel.focus({ preventScroll: true });
	panel.scrollIntoView({ block: "nearest" });
	if (opened)
		panel.dispatchEvent(new CustomEvent("lsmeter-cell", { bubbles: true, detail: opened }));
}
document.body.append(panel);
addEventListener("hashchange", show);
show();
})();
