// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts and filters tables, draws figures, saves drawings. The page stands without it.
(function () {
"use strict";

// A figure out of a cell's text: "+12.3 %", "1,234 ±5", "~0.4". Null for anything else.
function figure(text) {
	const found = /^\s*[~≤≥]?\s*([+-]?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?)/.exec(text);
	return found ? Number(found[1].replaceAll(",", "")) : null;
}

function compare(a, b) {
	const [x, y] = [figure(a), figure(b)];
	if (x !== null && y !== null)
		return x - y;
	if (x === null && y === null)
		return a.localeCompare(b, "en", { numeric: true });
	return x === null ? 1 : -1;
}

// Rows that are indented belong to the one above them.
function blocks(table) {
	const found = [];
	for (const row of table.tBodies[0].rows) {
		const inner = row.cells[0] && row.cells[0].querySelector(".indent");
		if (inner && found.length)
			found[found.length - 1].push(row);
		else
			found.push([row]);
	}
	return found;
}

function sortable(table) {
	const headings = [...table.querySelectorAll("tr.headings th")];
	headings.forEach((heading, column) => {
		const button = document.createElement("button");
		button.type = "button";
		button.append(...heading.childNodes);
		if (!button.textContent.trim())
			button.setAttribute("aria-label", "column " + (column + 1));
		heading.append(button);
		button.addEventListener("click", () => {
			const down = heading.getAttribute("aria-sort") === "ascending";
			headings.forEach(other => other.removeAttribute("aria-sort"));
			heading.setAttribute("aria-sort", down ? "descending" : "ascending");
			const text = row => row.cells[column] ? row.cells[column].textContent.trim() : "";
			const all = blocks(table).map(block => [block, text(block[0])]);
			all.sort((a, b) => down ? compare(b[1], a[1]) : compare(a[1], b[1]));
			table.tBodies[0].append(...all.flatMap(([block]) => block));
		});
	});
}

function filterable(frame) {
	const table = frame.querySelector("table");
	const input = frame.querySelector("input");
	const told = frame.querySelector("output");
	const all = blocks(table);
	const rows = table.tBodies[0].rows.length;
	const text = row => row.textContent.toLowerCase();
	input.addEventListener("input", () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;
		const fits = said => words.every(word => said.includes(word));
		for (const block of all) {
			const head = text(block[0]);
			for (const row of block)
				row.hidden = !fits(row === block[0] ? head : head + " " + text(row));
			block[0].hidden = block.every(row => row.hidden);
			shown += block.filter(row => !row.hidden).length;
		}
		told.textContent = words.length ? shown + " of " + rows + " rows" : "";
	});
	frame.querySelector(".controls").hidden = false;
}

function colours() {
	const style = getComputedStyle(document.documentElement);
	const of = name => style.getPropertyValue(name).trim();
	const [ink, grid] = [of("--ink"), of("--grid")];
	const text = { labelColor: ink, titleColor: ink };
	return {
		aria: false,
		background: null,
		font: "system-ui, Helvetica, Arial, sans-serif",
		axis: { ...text, gridColor: grid, domainColor: ink, tickColor: ink, titleFontWeight: "normal" },
		legend: { ...text, titleFontWeight: "normal" },
		rule: { color: ink },
		view: { stroke: grid },
	};
}

// The interactive figure takes the drawing's place once it is there.
async function draw(frame) {
	const live = frame.querySelector(".live");
	const spec = JSON.parse(frame.querySelector("script.spec").textContent);
	spec.config = colours();
	spec.autosize = { type: "fit-x", contains: "padding" };
	const quiet = { level: () => quiet, warn: () => quiet, info: () => quiet, debug: () => quiet,
		error: (...what) => { console.error(...what); return quiet; } };
	const compiled = vegaLite.compile(spec, { logger: quiet }).spec;
	live.hidden = false;
	const runtime = vega.parse(compiled, null, { ast: true });
	const view = new vega.View(runtime, {
		expr: vegaInterpreter.expressionInterpreter,
		renderer: "svg", container: live, hover: true, logger: quiet,
	});
	if (frame.view)
		frame.view.finalize();
	frame.view = view;
	await view.runAsync();
	// The frame around it is an image with a name; its parts are none of their own.
	live.querySelector("svg").setAttribute("aria-hidden", "true");
	pickable(frame, spec);
	frame.classList.add("drawn");
}

// What a click on a name of the legend does, without a pointer.
function pickable(frame, spec) {
	const layers = spec.layer || [];
	if (!layers.some(layer => (layer.params || []).some(param => param.name === "picked")))
		return;
	const names = layers[0].encoding.color.scale.domain;
	if (names.length < 2)
		return;
	let choice = frame.querySelector("select");
	if (!choice) {
		choice = document.createElement("select");
		choice.append(new Option("all"), ...names.map(name => new Option(name)));
		choice.addEventListener("change", () => {
			const values = [names[choice.selectedIndex - 1]];
			const picked = { unit: "", fields: [{ type: "E", field: "s" }], values };
			frame.view.data("picked_store", choice.selectedIndex ? [picked] : []).runAsync();
		});
		choice.setAttribute("aria-label", "Show of " + frame.dataset.name);
		const label = document.createElement("label");
		label.append("Show ", choice);
		frame.querySelector(".downloads").append(label);
	}
	choice.selectedIndex = 0;
	frame.view.addDataListener("picked_store", (_, picked) => {
		choice.selectedIndex = picked.length === 1 ? names.indexOf(picked[0].values[0]) + 1 : 0;
	});
}

function saved(frame) {
	const button = frame.querySelector("button.svg");
	button.addEventListener("click", () => {
		const drawing = frame.querySelector(".static svg").cloneNode(true);
		drawing.setAttribute("xmlns", "http://www.w3.org/2000/svg");
		const text = new XMLSerializer().serializeToString(drawing);
		const link = document.createElement("a");
		link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
		link.download = frame.dataset.name + ".svg";
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	});
	button.hidden = false;
}

document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll("div.table").forEach(filterable);
const frames = [...document.querySelectorAll("figure.figure")];
frames.forEach(saved);

function attempt(frame) {
	draw(frame).catch(error => {
		// The drawing stays.
		frame.querySelector(".live").hidden = true;
		frame.classList.remove("drawn");
		console.error(frame.dataset.name, error);
	});
}
const seen = new IntersectionObserver(entries => {
	for (const entry of entries) {
		if (entry.isIntersecting) {
			seen.unobserve(entry.target);
			attempt(entry.target);
		}
	}
}, { rootMargin: "400px" });
frames.forEach(frame => seen.observe(frame));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	frames.filter(frame => frame.view).forEach(attempt);
});

// What is closed would not be printed.
addEventListener("beforeprint", () => {
	document.querySelectorAll("details").forEach(closed => { closed.open = true; });
});
})();
