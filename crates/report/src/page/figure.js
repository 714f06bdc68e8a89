// SPDX-License-Identifier: GPL-2.0-or-later
// Makes drawings interactive: a tip for the mark under the pointer or selected by arrow keys;
// legends that hide and show their series; frames of a flame graph that fill the width. Optional:
// the page works without it.
//
// A drawing is an svg[data-axis]. Its marks are [data-value], in groups [data-series] that
// [data-legend] names. With data-start they are stacked frames.
(function () {
"use strict";
const marksOf = node => [...node.querySelectorAll("[data-value]")];
const isFrame = mark => "start" in mark.dataset;
const drawn = new WeakMap();

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("aria-hidden", "true");
tip.hidden = true;
document.body.append(tip);

let marked = null;
function hide() {
	marked = null;
	tip.hidden = true;
}

// The tip of marks, next to a position on the screen and within its edges.
function showTip(marks, x, y) {
	const lines = marks.map(mark => mark.getAttribute("aria-label"));
	if (!isFrame(marks[0]))
		lines.push(marks[0].ownerSVGElement.dataset.axis);
	marked = marks[0];
	tip.textContent = lines.join("\n");
	tip.hidden = false;
	const [right, low] = [innerWidth - tip.offsetWidth - 8, innerHeight - tip.offsetHeight - 8];
	tip.style.left = Math.max(4, Math.min(x + 14, right)) + "px";
	tip.style.top = Math.max(4, y + 14 > low ? y - tip.offsetHeight - 10 : y + 14) + "px";
}

function beside(mark) {
	const box = mark.getBoundingClientRect();
	showTip([mark], box.right, box.bottom);
}

// Before the first interaction: keeps the drawing as it is, and turns the browser's own tip of a
// mark into its accessible name.
function wake(svg) {
	if (drawn.has(svg))
		return;
	drawn.set(svg, svg.cloneNode(true));
	for (const mark of marksOf(svg)) {
		const title = mark.querySelector("title");
		mark.setAttribute("role", "graphics-symbol");
		mark.setAttribute("aria-label", title.textContent);
		mark.setAttribute("tabindex", "-1");
		title.remove();
	}
}

// The mark to which an arrow key leads: along its series, or to the same position in another
// series.
function next(svg, mark, key) {
	const series = [...svg.querySelectorAll("[data-series]:not(.off)")]
		.map(group => marksOf(group).filter(one => !one.classList.contains("off")))
		.filter(marks => marks.length);
	const row = series.findIndex(marks => marks.includes(mark));
	if (row < 0)
		return series.length ? series[0][0] : null;
	const own = series[row], at = own.indexOf(mark);
	const end = one => Number(one.dataset.start) + Number(one.dataset.value);
	const beside = one => isFrame(one)
		? Number(one.dataset.start) < end(mark) && end(one) > Number(mark.dataset.start)
		: one.dataset.label === mark.dataset.label;
	const across = other => other && (other.find(beside) || (isFrame(mark) ? mark : other[0]));
	switch (key) {
	case "ArrowRight": return own[at + 1] || mark;
	case "ArrowLeft": return own[at - 1] || mark;
	case "ArrowDown": return across(series[row + 1]) || mark;
	case "ArrowUp": return across(series[row - 1]) || mark;
	case "Home": return own[0];
	default: return own[own.length - 1];
	}
}

// Hides or shows a series. alone: shows only it, or, if it is already alone, all.
function press(svg, name, alone) {
	const names = [...svg.querySelectorAll("[data-legend]")];
	const on = one => one.getAttribute("aria-pressed") === "true";
	const only = names.every(one => on(one) === (one === name));
	for (const one of names) {
		const shown = alone ? only || one === name : on(one) !== (one === name);
		one.setAttribute("aria-pressed", shown);
		svg.querySelector(`[data-series="${one.dataset.legend}"]`).classList.toggle("off", !shown);
	}
}

// Makes a frame fill the width. null, or a frame that already does: shows all of them.
function widen(svg, frame) {
	const all = marksOf(svg);
	const root = all[all.length - 1];
	const box = mark => mark.querySelector("rect");
	const [left, width] = ["x", "width"].map(name => Number(box(root).getAttribute(name)));
	if (!frame || Number(box(frame).getAttribute("width")) >= width)
		frame = root;
	const [start, whole] = [frame.dataset.start, frame.dataset.value].map(Number);
	const place = value => Math.max(0, Math.min(1, (value - start) / whole)) * width;
	for (const mark of all) {
		const from = place(Number(mark.dataset.start));
		const wide = place(Number(mark.dataset.start) + Number(mark.dataset.value)) - from;
		mark.classList.toggle("off", wide <= 0);
		box(mark).setAttribute("x", left + from);
		box(mark).setAttribute("width", wide);
		let text = mark.querySelector("text");
		if (!text) {
			text = document.createElementNS(svg.namespaceURI, "text");
			text.setAttribute("y", Number(box(mark).getAttribute("y")) + 13);
			text.setAttribute("fill", "#111111");
			mark.append(text);
		}
		text.setAttribute("x", left + from + 3);
		const [label, fits] = [mark.dataset.label, Math.floor((wide - 6) / 6)];
		text.textContent = fits < 4 ? "" : label.length > fits ? label.slice(0, fits - 3) + "..." : label;
	}
}

function answering(svg) {
	svg.setAttribute("role", "graphics-document");
	svg.setAttribute("tabindex", "0");
	svg.setAttribute("aria-description", "Arrow keys move through the marks.");
	for (const name of svg.querySelectorAll("[data-legend]")) {
		name.setAttribute("role", "button");
		name.setAttribute("aria-pressed", "true");
		name.setAttribute("tabindex", "0");
	}
	svg.addEventListener("focusin", event => {
		wake(svg);
		const mark = event.target.closest("[data-value]");
		mark ? beside(mark) : hide();
	});
	svg.addEventListener("focusout", hide);
	svg.addEventListener("pointerleave", hide);
	svg.addEventListener("pointermove", event => {
		wake(svg);
		// Points overlap where lines meet.
		const under = document.elementsFromPoint(event.clientX, event.clientY);
		const marks = new Set(under.map(one => one.closest("[data-value]")).filter(Boolean));
		marks.size ? showTip([...marks], event.clientX, event.clientY) : hide();
	});
	const act = (event, alone) => {
		wake(svg);
		const [name, mark] = ["[data-legend]", "[data-value]"].map(selector => event.target.closest(selector));
		if (name)
			press(svg, name, alone);
		else if (mark && isFrame(mark))
			widen(svg, mark);
	};
	svg.addEventListener("click", event => act(event, event.shiftKey));
	svg.addEventListener("keydown", event => {
		const name = event.target.closest("[data-legend]");
		if (["Enter", " "].includes(event.key))
			act(event, event.shiftKey);
		else if (/^(Arrow|Home$|End$)/.test(event.key) && !name)
			(next(svg, event.target.closest("[data-value]"), event.key) || svg).focus();
		else if (event.key === "Escape")
			hide();
		else
			return;
		event.preventDefault();
	});
}

function saved(frame) {
	const button = frame.querySelector("button.svg");
	const svg = frame.querySelector("svg");
	const shape = svg.cloneNode(false);
	button.addEventListener("click", () => {
		const whole = shape.cloneNode(false);
		whole.append(...(drawn.get(svg) || svg).cloneNode(true).childNodes);
		for (const name of whole.querySelectorAll("[data-legend]"))
			["role", "aria-pressed", "tabindex"].forEach(attribute => name.removeAttribute(attribute));
		const text = new XMLSerializer().serializeToString(whole);
		const link = document.createElement("a");
		link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
		link.download = frame.dataset.name + ".svg";
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	});
	button.hidden = false;
}

// A focused mark is scrolled into view, together with its tip.
addEventListener("scroll", () => marked && beside(marked), { passive: true, capture: true });
function alive(frame) {
	saved(frame);
	answering(frame.querySelector("svg"));
}
addEventListener("lsmeter-drawn", event => alive(event.target));
document.querySelectorAll("figure.figure").forEach(alive);
})();
