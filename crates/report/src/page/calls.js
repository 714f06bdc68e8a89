// SPDX-License-Identifier: GPL-2.0-or-later
// The calls of an opened measurement: flame graphs of the baseline and the stack, side by side, the
// difference between them, and the hooks in call order. Optional: a measurement opens without it.
(function () {
"use strict";
// Width of a full-width drawing, and of one of two.
const WIDE = 1150, HALF = 560;
const ROW = 19, MARGIN = 2, LETTER = 6;
const SVG = "http://www.w3.org/2000/svg";
const whole = new Intl.NumberFormat("en-US");
const signed = n => (n > 0 ? "+" : "") + whole.format(n);
const times = n => n === 1 ? "1 call" : whole.format(n) + " calls";
const make = (name, text, kind) => {
	const node = document.createElement(name);
	if (text !== undefined)
		node.textContent = text;
	if (kind)
		node.className = kind;
	return node;
};
const shape = (name, attributes, text) => {
	const node = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes))
		node.setAttribute(key, value);
	if (text !== undefined)
		node.textContent = text;
	return node;
};

const kept = new Map();
function unpacked(id) {
	if (!kept.has(id)) {
		const node = document.querySelector(`[data-trees="${CSS.escape(id)}"]`);
		if (!node || !("DecompressionStream" in window))
			return Promise.resolve(null);
		const bytes = Uint8Array.from(atob(node.textContent), character => character.charCodeAt(0));
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
		kept.set(id, new Response(stream).json());
	}
	return kept.get(id);
}

// A tree's nodes as objects, callers first: inclusive instructions, and the hook or module of each.
function nodesOf(data, tree, operation, kindOf) {
	const nodes = tree.functions.map((symbol, at) => ({
		name: at ? data.names[symbol] : operation, symbol, calls: tree.calls[at], own: tree.instructions[at],
		all: tree.instructions[at], caller: at ? at - tree.callers[at] : -1, below: [], inside: new Map(),
	}));
	for (let at = nodes.length - 1; at > 0; at--) {
		const node = nodes[at], caller = nodes[node.caller];
		caller.all += node.all;
		caller.below.unshift(at);
		if (node.symbol in data.modules) {
			node.module = data.names[data.modules[node.symbol]];
			node.inside.set(node.module, node.all);
		}
		for (const [module, n] of node.inside)
			caller.inside.set(module, Math.max(n, caller.inside.get(module) || 0));
	}
	nodes.forEach((node, at) => {
		const caller = at ? nodes[node.caller] : null;
		node.hook = at && node.symbol in data.hooks ? data.names[data.hooks[node.symbol]] : caller && caller.hook;
		node.module = node.module || (caller && caller.module);
		const most = [...node.inside].sort((one, other) => other[1] - one[1])[0];
		if (node.hook && !node.module && most)
			node.kind = kindOf(most[0]);
		else
			node.kind = node.module && node.hook ? kindOf(node.module) : node.hook ? "mh" : "m0";
	});
	return nodes;
}

// Frames of a tree from the operation upwards, as in the page's other flame graphs: position,
// width, depth and text of each.
function framesOf(nodes, widthOf, wordsOf) {
	const frames = [];
	const lay = (at, start, depth) => {
		frames.push({ at, start, depth, width: widthOf(at), ...wordsOf(at) });
		for (const one of nodes[at].below) {
			if (widthOf(one) > 0)
				lay(one, start, depth + 1);
			start += widthOf(one);
		}
	};
	lay(0, 0, 0);
	return frames;
}

function drawn(frames, widest, title, pixels) {
	const rows = 1 + Math.max(...frames.map(frame => frame.depth));
	const height = rows * ROW + 4, scale = (pixels - 2 * MARGIN) / widest;
	const svg = shape("svg", { viewBox: `0 0 ${pixels} ${height}`, width: pixels, height,
		"aria-label": title, "data-axis": "instructions", "font-family": "Helvetica, Arial, sans-serif", "font-size": 11 });
	for (let depth = rows - 1; depth >= 0; depth--) {
		const series = shape("g", { "data-series": depth, "data-name": "depth " + depth });
		for (const frame of frames) {
			const width = frame.width * scale;
			if (frame.depth !== depth || (width < .2 && depth))
				continue;
			const [x, y] = [MARGIN + frame.start * scale, height - 2 - ROW * (depth + 1)];
			const mark = shape("g", { "data-label": frame.label, "data-value": frame.width, "data-start": frame.start });
			mark.append(shape("title", {}, frame.tip),
				shape("rect", { x, y, width, height: ROW - 1, class: frame.kind, stroke: "#ffffff", "stroke-width": .5 }));
			const fits = Math.floor((width - 6) / LETTER);
			if (fits >= 4)
				mark.append(shape("text", { x: x + 3, y: y + 13, fill: "#111111" },
					frame.label.length > fits ? frame.label.slice(0, fits - 3) + "..." : frame.label));
			series.append(mark);
		}
		svg.append(series);
	}
	return svg;
}

// Call chains as CSV: the values of each node, named by the heading.
function chains(nodes, heading, figuresOf) {
	const quoted = text => `"${text.replaceAll('"', '""')}"`;
	const all = [], lines = [`chain,${heading}`];
	nodes.forEach((node, at) => {
		all.push(at ? all[node.caller] + ";" + node.name : node.name);
		lines.push([quoted(all[at]), ...figuresOf(node)].join(","));
	});
	return lines.join("\n") + "\n";
}

function boxed(title, svg, name, csvOf) {
	const box = make("div", undefined, "calls"), drawing = make("div", undefined, "drawing");
	const downloads = make("div", undefined, "downloads");
	const button = (text, kind) => {
		const made = make("button", text, kind);
		made.type = "button";
		made.append(make("span", " of " + title, "hidden"));
		downloads.append(made);
		return made;
	};
	button("Data (CSV)", "csv").addEventListener("click", () => {
		const link = make("a");
		link.href = URL.createObjectURL(new Blob([csvOf()], { type: "text/csv" }));
		link.download = name + ".csv";
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	});
	button("Drawing (SVG)", "svg");
	box.dataset.name = name;
	drawing.append(svg);
	box.append(make("h4", title), drawing, downloads);
	return box;
}

function flame(nodes, widest, title, pixels, name) {
	const total = nodes[0].all;
	const words = at => {
		const node = nodes[at], place = [node.module, node.hook && "in " + node.hook].filter(Boolean).join(", ");
		return { label: node.name, kind: node.kind, tip: `${node.name}: ${whole.format(node.all)} instructions ` +
			`(${(100 * node.all / total).toFixed(1)} %), ${whole.format(node.own)} of its own` +
			(at ? ", " + times(node.calls) : "") + (place ? "; " + place : "") };
	};
	return boxed(`${title}: ${whole.format(total)} instructions`,
		drawn(framesOf(nodes, at => nodes[at].all, words), widest, `Calls under ${title}`, pixels), name,
		() => chains(nodes, "calls,instructions,own", node => [node.calls, node.all, node.own]));
}

// Differences between two trees, by call chain: the width of a frame is the sum of instructions
// that its functions execute more and fewer.
function difference(base, cell, title) {
	const nodes = [], places = new Map();
	for (const [side, tree] of [[0, base], [1, cell]]) {
		const here = [];
		tree.forEach((node, at) => {
			const caller = at ? here[node.caller] : -1, key = caller + " " + node.symbol;
			if (!places.has(key)) {
				places.set(key, nodes.length);
				nodes.push({ name: node.name, caller, own: [0, 0], all: [0, 0], calls: [0, 0], below: [] });
				if (at)
					nodes[caller].below.push(nodes.length - 1);
			}
			here.push(places.get(key));
			const sum = nodes[here[at]];
			sum.own[side] += node.own;
			sum.all[side] += node.all;
			sum.calls[side] += node.calls;
		});
	}
	for (let at = nodes.length - 1; at >= 0; at--) {
		const node = nodes[at];
		const own = node.own[1] - node.own[0];
		node.more = Math.max(0, own);
		node.fewer = Math.max(0, -own);
		for (const one of node.below) {
			node.more += nodes[one].more;
			node.fewer += nodes[one].fewer;
		}
	}
	const { more, fewer } = nodes[0];
	const heading = `What differs: ${whole.format(more)} instructions more` +
		(fewer ? `, ${whole.format(fewer)} fewer (green)` : "");
	if (!more && !fewer)
		return make("p", "Nothing differs between the two.");
	const words = at => {
		const { name, all, calls } = nodes[at], adds = all[1] - all[0];
		const called = calls[0] === calls[1] ? times(calls[1]) : `${calls[0]} → ${times(calls[1])}`;
		return { label: `${name} ${signed(adds)}`, kind: adds > 0 ? "adds" : adds < 0 ? "saves" : "m0",
			tip: `${name}: ${signed(adds)} instructions (${whole.format(all[0])} → ${whole.format(all[1])})` +
				(at ? ", " + called : "") };
	};
	const width = at => nodes[at].more + nodes[at].fewer;
	return boxed(heading, drawn(framesOf(nodes, width, words), more + fewer, `What ${title} adds, by calls`, WIDE),
		"calls-difference", () => chains(nodes, "baseline_calls,calls,baseline_instructions,instructions,difference",
			node => [...node.calls, ...node.all, node.all[1] - node.all[0]]));
}

// Hooks in call order, as in lsmeter profile --trace.
function orderOf(data, tree, title) {
	const box = make("details"), list = make("ol", undefined, "order");
	const n = tree.order.reduce((sum, call) => sum + call[1], 0);
	box.append(make("summary", `Hooks in the order of their calls under ${title}: ${n}`));
	let number = 1;
	for (const [hook, repeated, depth, chain] of tree.order) {
		const item = make("li");
		item.value = number;
		item.style.marginLeft = Math.min(depth, 6) * 1.5 + "rem";
		item.append(make("strong", data.names[hook] + (repeated > 1 ? ` ×${repeated}` : "")),
			chain.length ? " from " + chain.map(symbol => data.names[symbol]).join(" › ") : "");
		list.append(item);
		number += repeated;
	}
	box.append(list);
	return box;
}

addEventListener("lsmeter-cell", async event => {
	const { place, glance, row, columns, titles, operation, modules } = event.detail;
	const data = await unpacked(glance);
	const [base, cell] = columns.map(at => data && data.trees[row][at]);
	if (!base || !cell || !place.isConnected)
		return;
	const kindOf = module => {
		if (!modules.has(module))
			modules.set(module, "m" + (1 + modules.size % 6));
		return modules.get(module);
	};
	const [without, over] = [base, cell].map(tree => nodesOf(data, tree, operation, kindOf));
	const widest = Math.max(without[0].all, over[0].all);
	const pair = make("div", undefined, "pair");
	const order = orderOf(data, cell, titles[1]);
	if (columns[0] === columns[1]) {
		place.append(flame(over, widest, titles[1], WIDE, "calls"), order);
	} else {
		pair.append(flame(without, widest, titles[0], HALF, "calls-baseline"),
			flame(over, widest, titles[1], HALF, "calls"));
		place.append(difference(without, over, titles[1]), pair, order);
	}
	for (const box of place.querySelectorAll(".calls")) {
		// A saved drawing does not have this page's style.
		for (const frame of box.querySelectorAll("rect"))
			frame.setAttribute("fill", getComputedStyle(frame).fill);
		box.dispatchEvent(new Event("lsmeter-drawn", { bubbles: true }));
	}
});
})();
