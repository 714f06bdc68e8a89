// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts, filters and copies tables. Optional: the page works without it.
(function () {
"use strict";

// The number in a table cell's text: "+12.3 %", "1,234 ±5", "~0.4". Null for anything else.
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

// Indented rows belong to the one above them.
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
	const output = frame.querySelector("output");
	const all = blocks(table);
	const rows = table.tBodies[0].rows.length;
	const text = row => row.textContent.toLowerCase();
	input.addEventListener("input", () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;
		const fits = text => words.every(word => text.includes(word));
		for (const block of all) {
			const head = text(block[0]);
			for (const row of block)
				row.hidden = !fits(row === block[0] ? head : head + " " + text(row));
			block[0].hidden = block.every(row => row.hidden);
			shown += block.filter(row => !row.hidden).length;
		}
		output.textContent = words.length ? shown + " of " + rows + " rows" : "";
	});
	frame.querySelector(".controls").hidden = false;
}

// The visible rows, in their order, below the columns' names.
function shownRows(table) {
	const texts = row => [...row.cells].map(cell => cell.textContent.trim().replace(/\s+/g, " "));
	const groups = [...table.rows].filter(row => !row.hidden && row.closest("tbody, tfoot"));
	return [texts(table.querySelector("tr.headings")), ...groups.map(texts)];
}

function markdown(rows, table) {
	const line = texts => "| " + texts.map(text => text.replace(/[\\|]/g, "\\$&")).join(" | ") + " |";
	const rule = [...table.querySelectorAll("tr.headings th")]
		.map(heading => heading.classList.contains("right") ? "---:" : "---");
	return [line(rows[0]), line(rule), ...rows.slice(1).map(line)].join("\n") + "\n";
}

function copied(frame) {
	const table = frame.querySelector("table");
	const controls = frame.querySelector(".controls");
	const ways = [
		["Copy TSV", rows => rows.map(row => row.join("\t")).join("\n") + "\n"],
		["Copy Markdown", rows => markdown(rows, table)],
	];
	for (const [name, text] of ways) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = name;
		button.addEventListener("click", async () => {
			let message = "Copied";
			try {
				await navigator.clipboard.writeText(text(shownRows(table)));
			} catch {
				message = "Not copied: the browser does not allow it";
			}
			button.textContent = message;
			setTimeout(() => { button.textContent = name; }, 1500);
		});
		controls.append(button);
	}
}

document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll("div.table").forEach(filterable);
document.querySelectorAll("div.table").forEach(copied);
// Closed parts would not be printed.
addEventListener("beforeprint", () => {
	document.querySelectorAll("details").forEach(closed => { closed.open = true; });
});
})();
