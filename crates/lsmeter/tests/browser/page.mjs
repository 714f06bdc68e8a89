// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a page in Chromium as a reader would: node page.mjs MODULES CHROMIUM PAGE.html KIND
// KIND is report, comparison, or lead, which checks the first screen only.
//
// Checks that figures react to pointer and keyboard, that tables sort and filter, and that the page
// requests nothing and logs no errors. axe must find nothing. A phone must not scroll sideways.
// Without scripts and in print all drawings must be visible.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, chromium, report, kind] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { chromium: browserType } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const url = pathToFileURL(resolve(report)).href;
const faults = [];

function check(holds, what) {
	if (!holds)
		faults.push(what);
}

// Longer than any step takes on a busy machine.
const PATIENCE_MS = 90000;

// Opens a page in a new browser. Headless Chromium sometimes stops making frames and then draws
// nothing, so a page that does not react is opened again.
async function reading(options, read) {
	for (let attempts = 3; ; attempts--) {
		const before = faults.length;
		const browser = await browserType.launch({
			executablePath: chromium,
			args: ["--no-sandbox", "--disable-gpu"],
		});
		try {
			await read(await show(browser, options));
			return;
		} catch (error) {
			if (attempts === 1) {
				console.error(faults.join("\n"));
				throw error;
			}
			faults.length = before;
			console.error("once more: " + error);
		} finally {
			await browser.close();
		}
	}
}

async function show(browser, options) {
	const context = await browser.newContext({ acceptDownloads: true, ...options });
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	page.on("console", message => {
		if (["error", "warning"].includes(message.type()))
			faults.push("console: " + message.text());
	});
	page.on("pageerror", error => faults.push("error: " + error));
	page.on("dialog", dialog => { faults.push("dialog: " + dialog.message()); dialog.dismiss(); });
	page.on("request", request => {
		const own = request.url() === url || /^(data|blob):/.test(request.url());
		check(own, "request: " + request.url());
	});
	await page.goto(url);
	return page;
}

// Every figure shows values under the pointer and for keys.
async function answers(page) {
	const figures = await page.locator("figure.figure").all();
	check(figures.length > 0, "the page has no figure");
	for (const figure of figures) {
		const name = await figure.getAttribute("data-name");
		const marks = figure.locator("svg [data-value]");
		check(await marks.count() > 0, name + ": no marks");
		await figure.scrollIntoViewIfNeeded();
		const mark = await lastWithArea(marks);
		check(mark, name + ": no mark can be pointed at");
		if (!mark)
			continue;
		const title = await mark.locator("title").textContent();
		await mark.hover({ force: true });
		await shown(page, title, name);
		await page.mouse.move(0, 0);
		await page.locator(".tip").waitFor({ state: "hidden" });
		await figure.locator("svg").focus();
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("End");
		const read = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
		check(read && /[0-9]/.test(read), name + ": a key leads to the mark " + read);
		await shown(page, read, name);
	}
}

// The last mark that a pointer can reach: a bar of 0 has no width and is reached by keys only.
async function lastWithArea(marks) {
	const last = await marks.evaluateAll(all => all.findLastIndex(mark => {
		const box = mark.getBoundingClientRect();
		return box.width > 0 && box.height > 0;
	}));
	return last < 0 ? null : marks.nth(last);
}

async function shown(page, text, name) {
	const tip = page.locator(".tip");
	await tip.waitFor({ state: "visible" });
	const found = await tip.textContent();
	check(found.split("\n").includes(text), name + ": a mark of " + text + " shows " + found);
}

// A selected frame of a flame graph fills the width; selecting it again restores all frames.
async function flames(page) {
	const figure = page.locator("figure.figure:has([data-start])").first();
	const width = mark => mark.locator("rect").getAttribute("width");
	const frames = figure.locator("svg [data-start]:has(text)");
	const [root, inner] = [frames.last(), figure.locator('svg [data-series="2"] [data-start]').first()];
	const [whole, before] = [await width(root), await width(inner)];
	await inner.focus();
	await page.keyboard.press("Enter");
	check(await width(inner) === whole && await width(root) === whole, "a frame does not fill the width");
	check(await figure.locator("svg .off").count() > 0, "other frames are not hidden");
	await page.keyboard.press("Enter");
	check(Math.abs(await width(inner) - before) < 0.1, "a frame is not as wide as it was");
	check(await figure.locator("svg .off").count() === 0, "frames stay hidden");
}

async function tables(page) {
	const frame = page.locator("div.table").first();
	const all = await frame.locator("tbody tr").count();
	const first = await frame.locator("tbody tr th").first().textContent();
	await frame.getByRole("searchbox").fill(first.trim());
	const left = await frame.locator("tbody tr:visible").count();
	check(left >= 1 && left <= all, "the filter leaves " + left + " of " + all + " rows");
	await frame.getByRole("searchbox").fill("no row has this");
	check(await frame.locator("tbody tr:visible").count() === 0, "the filter leaves rows");
	const output = await frame.locator("output").textContent();
	check(output === `0 of ${all} rows`, "the filter shows " + output);
	await frame.getByRole("searchbox").fill("");
	const heading = frame.locator("tr.headings th").first();
	const names = () => frame.locator("tbody tr th").allTextContents();
	await heading.getByRole("button").press("Enter");
	check(await heading.getAttribute("aria-sort") === "ascending", "no aria-sort");
	const up = await names();
	await heading.getByRole("button").press("Enter");
	const down = await names();
	check(await heading.getAttribute("aria-sort") === "descending", "no aria-sort downwards");
	check(up.join() === [...down].reverse().join() || new Set(up).size < up.length,
		"sorting downwards is not the reverse of upwards");
}

// Copies the visible rows in their order, as TSV and Markdown.
async function copies(page) {
	const frame = page.locator("div.table").first();
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	const first = (await frame.locator("tbody tr th").first().textContent()).trim();
	const copied = async name => {
		await frame.getByRole("button", { name }).click();
		await frame.getByRole("button", { name: "Copied" }).waitFor();
		await frame.getByRole("button", { name }).waitFor();
		return (await page.evaluate(() => navigator.clipboard.readText())).trimEnd().split("\n");
	};
	const [tsv, markdown] = [await copied("Copy TSV"), await copied("Copy Markdown")];
	const all = await frame.locator("tbody tr:visible, tfoot tr:visible").count();
	check(tsv.length === all + 1, `${tsv.length} lines copied, from ${all} rows and a heading`);
	check(tsv.some(line => line.split("\t")[0] === first), "no copied line begins with " + first);
	check(markdown.length === all + 2 && /^\|( -{3}:? \|)+$/.test(markdown[1]), "no Markdown: " + markdown[1]);
}

async function downloads(page) {
	const figure = page.locator("figure.figure").first();
	const name = await figure.getAttribute("data-name");
	for (const [button, ending, begins] of [["button.svg", ".svg", "<svg"], ["a[download]", ".csv", ""]]) {
		const waiting = page.waitForEvent("download");
		await figure.locator(button).click();
		const download = await waiting;
		check(download.suggestedFilename() === name + ending, "saved as " + download.suggestedFilename());
		const text = readFileSync(await download.path(), "utf8");
		check(text.startsWith(begins) && text.length > 20, name + ending + " is empty");
		if (ending === ".svg") {
			check(text.includes("<title>") && text.includes("http://www.w3.org/2000/svg"), "the saved file is not a drawing");
			check(!/tabindex|aria-label=|aria-pressed/.test(text), "the saved drawing has attributes of scripts");
		}
	}
}

// Legend entries hide, show and isolate series, by pointer and keys.
async function picks(page) {
	const figure = page.locator('figure.figure:has([data-legend="2"])').first();
	const name = await figure.getAttribute("data-name");
	const all = await figure.locator("svg [data-series]").count();
	const left = async (n, what) => {
		const now = await figure.locator("svg [data-series]:not(.off)").count();
		check(now === n, `${name}: ${what}: ${now} of ${all} series are shown, not ${n}`);
	};
	const legend = figure.locator('[data-legend="1"]');
	check(await legend.getAttribute("role") === "button", name + ": its legend is not a button");
	await left(all, "before");
	await legend.locator("text").click();
	await left(all - 1, "clicked");
	check(await legend.getAttribute("aria-pressed") === "false", name + ": hidden, but pressed");
	await legend.press("Enter");
	await left(all, "Enter");
	await legend.locator("text").click({ modifiers: ["Shift"] });
	await left(1, "clicked with Shift");
	await legend.press("Shift+Enter");
	await left(all, "Shift and Enter");
	await legend.press(" ");
	await figure.locator("svg").focus();
	const walked = new Set();
	for (const key of ["ArrowRight", ...Array(all).fill("ArrowDown")]) {
		await page.keyboard.press(key);
		walked.add(await page.evaluate(() => document.activeElement.parentNode.dataset.series));
	}
	check(walked.size > 1 && !walked.has("1"), name + ": keys lead to series " + [...walked]);
	await legend.press(" ");
}

// The first screen shows the cost of a stack and its map; a tile opens the hooks.
async function firstScreen(page) {
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.evaluate(() => scrollTo(0, 0));
	const low = await page.locator(".glance").first().evaluate(glance => {
		const bottom = of => glance.querySelector(of)?.getBoundingClientRect().bottom;
		return { sentence: bottom(".findings li"), rows: bottom(".map tbody tr") };
	});
	check(low.sentence < 800 && low.rows < 800, "sentences or map are not on the first screen: " + JSON.stringify(low));
	const sentence = await page.locator(".glance .findings li").first().textContent();
	check(/ over .*: open:[A-Z\/]+ [+-][0-9.]+ %.*; geometric mean over/.test(sentence), "the first sentence: " + sentence);
	const map = page.locator(".map").first();
	const rows = level => map.locator(`tr[data-level="${level}"]:not([hidden])`);
	check(await rows(1).count() === 0, "benchmarks are shown before their class is opened");
	const fold = rows(0).first().getByRole("button");
	await fold.press("Enter");
	check(await fold.getAttribute("aria-expanded") === "true", "an opened class is not marked as expanded");
	check(await rows(1).count() > 0, "a class does not open");
	if (await rows(1).first().getByRole("button").count())
		await rows(1).first().getByRole("button").click();
	const find = page.locator(".find input").first();
	const shown = () => map.locator("tbody tr:not([hidden]) th").allTextContents();
	await find.fill("stat:AA");
	check((await shown()).some(name => name.startsWith("stat:AA")), "an operation is not found: " + await shown());
	const hook = /open:\S+ [^;]*\((\w+)\)/.exec(sentence);
	if (hook) {
		await find.fill(hook[1]);
		check((await shown()).some(name => name.startsWith("open:")), `no operation that calls ${hook[1]}: ` + await shown());
		await find.fill("no_such_hook");
		check((await shown()).length === 0, "an unknown hook is found: " + await shown());
	}
	await find.fill("");
	await fold.press("Enter");
	if (await rows(1).first().getByRole("button").count())
		await rows(1).first().getByRole("button").click();
	const tile = map.locator("tbody tr:not([hidden]) a").first();
	const value = (await tile.textContent()).trim();
	await tile.press("Enter");
	const cell = page.locator("#cell");
	await cell.waitFor({ state: "visible" });
	const text = await cell.textContent();
	check(text.includes(value), "a tile of " + value + " opens " + text.slice(0, 200));
	check(/Measure this with hooks: lsmeter profile .*--bench [a-z]/.test(text), "a measurement shows no command: " + text.slice(-200));
	check(await page.evaluate(() => location.hash.startsWith("#cell=")), "a cell has no link");
	const link = page.url();
	if (await cell.locator("tbody tr").count()) {
		const rows = await cell.locator(".bars .stack").count();
		const frames = depth => cell.locator(`.bars .line:nth-child(${depth}) .part[title]`).count();
		check(rows === 3, `a measurement has ${rows} pictures, expected baseline, stack and difference`);
		check(await frames(1) >= 3 && await frames(2) > 4, "a cell with hooks has no picture");
		check(await frames(3) > 0, "a cell with hooks shows no module's function");
	}
	await accessible(page, "cell");
	await page.keyboard.press("Escape");
	check(!await cell.isVisible(), "Escape does not close a cell");
	await fold.press("Enter");
	check(await rows(1).count() === 0, "a class does not close");
	await page.evaluate(hash => { location.hash = hash; }, new URL(link).hash);
	await cell.waitFor({ state: "visible" });
	check(await map.locator(".chosen").isVisible(), "a link does not open the class of its measurement");
	const packed = page.locator("[data-trees]").first();
	if (await packed.count()) {
		const glance = await packed.getAttribute("data-trees");
		await page.evaluate(of => { location.hash = `#cell=${of}.0.1`; }, glance);
		await calls(page, cell);
		await accessible(page, "calls");
	}
	await cell.getByRole("button", { name: "Close" }).click();
	await fold.press("Enter");
	check(await rows(1).count() === 0, "a class does not close");
	await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
	await page.setViewportSize({ width: 1200, height: 900 });
}

// The calls of a measurement: the difference, the baseline's and the stack's, and hooks in order.
async function calls(page, cell) {
	await cell.locator("svg").last().waitFor();
	const drawings = cell.locator("svg");
	const same = (await cell.textContent()).includes("Nothing differs between the two.");
	check(await drawings.count() === (same ? 2 : 3), `a cell draws calls ${await drawings.count()} times`);
	for (let at = 0; at < await drawings.count(); at++) {
		const faulty = await drawings.nth(at).evaluate(svg => {
			const marks = [...svg.querySelectorAll("[data-value]")];
			const [start, end] = [of => Number(of.dataset.start), of => Number(of.dataset.start) + Number(of.dataset.value)];
			const root = marks[marks.length - 1], rows = [...svg.querySelectorAll("[data-series]")].reverse();
			const holds = (row, mark) => [...row.querySelectorAll("[data-value]")].some(of => start(of) <= start(mark) && end(of) >= end(mark));
			const lost = rows.slice(1).flatMap((row, at) => [...row.children].filter(mark => !holds(rows[at], mark)));
			return lost.map(of => of.dataset.label).concat(Number(root.dataset.start) === 0 ? [] : ["no root"]);
		});
		check(!faulty.length, "frames without a caller below: " + faulty.slice(0, 3));
	}
	const own = drawings.last(), frame = own.locator("[data-series='4'] [data-value]").first();
	const width = () => frame.locator("rect").evaluate(rect => Number(rect.getAttribute("width")));
	await own.focus();
	await page.keyboard.press("ArrowUp");
	check((await page.locator(".tip").textContent()).includes("instructions"), "a frame of a measurement's calls shows no value");
	if (await frame.count()) {
		const narrow = await width();
		await frame.click();
		check(await width() > narrow, "a frame of a cell's calls does not widen");
		await frame.click();
	}
	const order = cell.locator("details", { hasText: "Hooks in the order of their calls" });
	await order.locator("summary").click();
	const [count, listed] = [Number(/: (\d+)$/.exec(await order.locator("summary").textContent())[1]), await order.locator("li").count()];
	check(listed > 0 && listed <= count, `${count} hooks are called, ${listed} are listed`);
}

// The first screen shows whether the patch made it worse, by how much, and the hook and function
// that account for it. Equal measurements are folded.
async function comparisonScreen(page) {
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.evaluate(() => scrollTo(0, 0));
	const bottom = of => page.locator(of).first().evaluate(node => node.getBoundingClientRect().bottom);
	for (const of of [".answer", "figure.figure svg", ".front .side tbody tr"])
		check(await bottom(of) < 800, `${of} ends at ${await bottom(of)} pixels, beyond the first screen`);
	const answer = await page.locator(".answer").first().textContent();
	const over = await page.locator(".front .side").evaluate(side => side.scrollWidth - side.clientWidth);
	check(over <= 0, `the table next to the figure is cut off by ${over} pixels`);
	check(/^Worse: \d+ of \d+ cells changed, all for the worse .*; most: \S+ under capability,selinux, \+\d+ instructions \(\+[0-9.]+ %\), by inode_permission \(selinux_inode_permission\), which accounts for most of every change/
		.test(answer), "the answer: " + answer);
	const [changed, all] = /(\d+) of (\d+)/.exec(answer).slice(1).map(Number);
	const rows = page.locator("#changed-table-1 tbody tr");
	check(await rows.count() === changed, `${changed} cells changed, ${await rows.count()} are listed`);
	for (const row of await rows.allTextContents())
		check(/inode_permission.*selinux_inode_permission \+\d+/.test(row), "a row without its hook: " + row);
	const share = text => Number(/([+-][0-9.]+) %/.exec(text)[1]);
	const shares = (await rows.allTextContents()).map(share);
	check(shares.every((one, at) => at === 0 || one <= shares[at - 1]), "changes are not sorted: " + shares);
	const bars = await page.locator("figure.figure svg [data-value]").count();
	check(bars > 10 && bars <= changed, bars + " bars are drawn");
	const folds = page.locator("details:not([open]) summary");
	const folded = await folds.allTextContents();
	check(folded.includes("Every cell") && changed < all, "folded: " + folded);
	check(!await page.locator("#rest tbody tr").first().isVisible(), "equal measurements are shown");
	await page.setViewportSize({ width: 1200, height: 900 });
}

// Findings, the main figure and its table are on the first screen.
async function leads(page) {
	await page.setViewportSize({ width: 1280, height: 800 });
	for (const of of [".findings li", ".front figure.figure svg", ".front .side tbody tr"]) {
		const bottom = await page.locator(of).first().evaluate(node => node.getBoundingClientRect().bottom);
		check(bottom < 800, `${of} ends at ${bottom} pixels, beyond the first screen`);
	}
	const over = await page.locator(".front .side").first().evaluate(side => side.scrollWidth - side.clientWidth);
	check(over <= 0, `the table next to the figure is cut off by ${over} pixels`);
	await page.setViewportSize({ width: 1200, height: 900 });
}

// A link selects its figure.
async function links(page) {
	const figure = page.locator("figure.figure").last();
	const name = await figure.getAttribute("data-name");
	await figure.locator("a.link").focus();
	await page.keyboard.press("Enter");
	// The browser follows it a moment later.
	await page.waitForURL(url => url.hash === "#figure=" + name)
		.catch(() => check(false, name + ": its link is " + page.url()));
	const chosen = await page.evaluate(() => document.querySelector("figure.figure:target")?.dataset.name);
	check(chosen === name, `the link of ${name} selects ${chosen}`);
	const seen = await figure.evaluate(one => {
		const box = one.getBoundingClientRect();
		return box.top < innerHeight && box.bottom > 0;
	});
	check(seen, name + ": its link does not lead to it");
	const axis = await page.evaluate(() => document.activeElement.closest("figure")?.dataset.name);
	check(axis === name, name + ": its link leaves the focus at " + axis);
}

async function accessible(page, where) {
	await page.evaluate(() => document.querySelectorAll("details").forEach(d => { d.open = true; }));
	// The page's content security policy blocks added scripts, so axe is injected by the debugger.
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	for (const violation of found.violations)
		faults.push(`axe, ${where}: ${violation.id}: ${violation.nodes[0].html.slice(0, 200)}`);
}


await reading({ viewport: { width: 1200, height: 900 } }, async page => {
	if (kind === "lead") {
		await leads(page);
		await links(page);
		await accessible(page, "light");
		return;
	}
	if (kind === "comparison")
		await comparisonScreen(page);
	await answers(page);
	await tables(page);
	await copies(page);
	if (await page.locator(".map").count())
		await firstScreen(page);
	await downloads(page);
	await links(page);
	if (kind === "report") {
		await picks(page);
		await flames(page);
	}
	await accessible(page, "light");
	await page.emulateMedia({ media: "print" });
	const drawings = await page.locator("figure svg:visible").count();
	check(drawings === await page.locator("figure.figure").count(), "drawings are missing in print");
	check(await page.locator("figure button:visible").count() === 0, "print shows buttons");
});

await reading({ colorScheme: "dark", viewport: { width: 1200, height: 900 } }, async dark => {
	if (kind !== "lead")
		await answers(dark);
	await accessible(dark, "dark");
});

await reading({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 }, async phone => {
	await accessible(phone, "phone");
	const over = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	check(over <= 0, "a phone has to scroll sideways by " + over + " pixels");
});

await reading({ javaScriptEnabled: false }, async plain => {
	const drawings = await plain.locator("figure svg:visible").count();
	check(drawings === await plain.locator("figure.figure").count(), "drawings are missing without scripts");
	check(await plain.locator("input:visible, button:visible").count() === 0,
		"controls are visible without scripts");
});

for (const fault of faults)
	console.error(fault);
process.exit(faults.length ? 1 : 0);
