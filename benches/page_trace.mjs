// SPDX-License-Identifier: GPL-2.0-or-later
// Measures how soon Chromium shows a page, and its work until then, from its own trace:
//   node benches/page_trace.mjs PAGE.html [ROUNDS]
// Uses playwright-core from $XDG_CACHE_HOME/lsmeter/browser-test, installed by the test of pages.
// Each round starts a browser. Prints for each round, in ms after the navigation began, the
// first contentful paint, the first frame with a picture (a map's row, or a drawing), the end of
// parsing, and of loading; and what the page's main thread spent on parsing, scripts, style, layout and
// painting.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join, resolve } from "node:path";
import { homedir } from "node:os";
import { statSync } from "node:fs";

const [file, rounds = "5"] = process.argv.slice(2);
if (!file) {
	console.error("usage: node benches/page_trace.mjs PAGE.html [ROUNDS]");
	process.exit(2);
}
const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const require = createRequire(pathToFileURL(join(cache, "lsmeter/browser-test/package.json")));
const { chromium } = require("playwright-core");
const WORK = { ParseHTML: "parse", EvaluateScript: "script", UpdateLayoutTree: "style", Layout: "layout", Paint: "paint" };

// Records the time of the first frame with a picture.
function watch() {
	const look = () => {
		if (document.querySelector(".map tbody tr td, figure.figure svg [data-value]"))
			requestAnimationFrame(() => { globalThis.pictureAt = performance.now(); });
		else
			requestAnimationFrame(look);
	};
	look();
}

async function traced() {
	const browser = await chromium.launch({
		executablePath: "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu"],
	});
	try {
		const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
		await browser.startTracing(page, { categories: ["devtools.timeline", "blink.user_timing", "loading"] });
		await page.addInitScript(watch);
		await page.goto(pathToFileURL(resolve(file)).href);
		await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50))));
		const picture = await page.evaluate(() => globalThis.pictureAt);
		return { picture, events: JSON.parse(await browser.stopTracing()).traceEvents };
	} finally {
		await browser.close();
	}
}

function figures({ picture, events }) {
	const named = name => events.filter(event => event.name === name);
	// The page's process is the one that painted it.
	const paint = named("firstContentfulPaint")[0];
	if (!paint)
		throw new Error("nothing was painted");
	const own = events.filter(event => event.pid === paint.pid && event.tid === paint.tid);
	const begun = Math.max(...own.filter(event => event.name === "navigationStart" && event.ts < paint.ts)
		.map(event => event.ts));
	const after = name => {
		const found = own.find(event => event.name === name && event.ts >= begun);
		return found ? (found.ts - begun) / 1e3 : NaN;
	};
	const row = { paint: (paint.ts - begun) / 1e3, picture, parsed: after("domInteractive"), load: after("loadEventEnd") };
	for (const [name, what] of Object.entries(WORK))
		row[what] = own.filter(event => event.name === name && event.ts >= begun && event.dur)
			.reduce((sum, event) => sum + event.dur / 1e3, 0);
	return row;
}

console.log(`${file}: ${statSync(file).size} bytes`);
const all = [];
for (let round = 0; round < Number(rounds); round++)
	all.push(figures(await traced()));
const names = Object.keys(all[0]);
const line = values => values.map(value => String(value).padStart(12)).join("");
console.log(line(["round", ...names]));
all.forEach((row, round) => console.log(line([round + 1, ...names.map(name => row[name].toFixed(0))])));
const middle = name => all.map(row => row[name]).sort((a, b) => a - b)[all.length >> 1];
console.log(line(["median", ...names.map(name => middle(name).toFixed(0))]));
