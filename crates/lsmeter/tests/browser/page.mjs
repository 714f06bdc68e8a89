// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a report in Chromium as a reader would: node page.mjs MODULES CHROMIUM REPORT.html [SHOTS]
//
// Every figure draws, tables sort and filter, nothing is requested, no error is logged,
// axe finds nothing, a phone needs no sideways scrolling, and without scripts and in print
// the drawings stand. With SHOTS, screenshots go into that directory.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, chromium, report, shots] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { chromium: browserType } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const url = pathToFileURL(resolve(report)).href;
const faults = [];

function check(holds, what) {
	if (!holds)
		faults.push(what);
}

// Longer than anything takes, on a machine that is busy too.
const PATIENCE_MS = 90000;

// Reads a page in a browser of its own. Chromium without a screen sometimes stops making frames,
// and then nothing on the page is ever drawn: a page that does not answer is read once more.
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

async function drawAll(page) {
	const figures = await page.locator("figure.figure").all();
	check(figures.length > 0, "there is no figure");
	for (const figure of figures) {
		const name = await figure.getAttribute("data-name");
		await figure.evaluate(figure => figure.scrollIntoView());
		await page.waitForFunction(name => {
			const figure = document.querySelector(`figure[data-name="${name}"]`);
			return figure.classList.contains("drawn");
		}, name).catch(error => { throw new Error(name + " does not draw: " + error); });
		const marks = await figure.locator(".live svg path").count();
		check(marks > 3, name + ": only " + marks + " paths are drawn");
	}
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
	const told = await frame.locator("output").textContent();
	check(told === `0 of ${all} rows`, "the filter says " + told);
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
	}
}

async function picks(page) {
	const figure = page.locator("figure.figure:has(select)").first();
	const choice = figure.locator("select");
	const name = await figure.getAttribute("data-name");
	const faint = () => figure.locator('.live svg [opacity="0.12"]').count();
	const names = await choice.locator("option").allTextContents();
	check(names.length > 2 && names[0] === "all", name + ": picks of " + names.join());
	check(await faint() === 0, name + ": something is faint before anything is picked");
	await choice.focus();
	await page.keyboard.press("ArrowDown");
	const becomes = some => page.waitForFunction(([name, some]) => {
		const figure = document.querySelector(`figure[data-name="${name}"]`);
		return (figure.querySelectorAll('.live svg [opacity="0.12"]').length > 0) === some;
	}, [name, some]);
	await becomes(true);
	check(await choice.inputValue() === names[1], name + ": picked, but not shown as picked");
	await page.keyboard.press("ArrowUp");
	await becomes(false);
}

async function accessible(page, where) {
	await page.evaluate(() => document.querySelectorAll("details").forEach(d => { d.open = true; }));
	// The page's policy holds for what is put in, too: axe comes through the debugger.
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	for (const violation of found.violations)
		faults.push(`axe, ${where}: ${violation.id}: ${violation.nodes[0].html.slice(0, 200)}`);
}

async function shot(page, name, options) {
	if (shots)
		await page.screenshot({ path: join(shots, name + ".png"), ...options });
}

await reading({ viewport: { width: 1200, height: 900 } }, async page => {
	await drawAll(page);
	await tables(page);
	await downloads(page);
	await picks(page);
	await accessible(page, "light");
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, "report");
	await page.emulateMedia({ media: "print" });
	check(await page.locator("figure .live:visible").count() === 0, "print shows the interactive figures");
	check(await page.locator("figure .static:visible").count() > 0, "print shows no drawing");
});

await reading({ colorScheme: "dark", viewport: { width: 1200, height: 900 } }, async dark => {
	await drawAll(dark);
	await accessible(dark, "dark");
	await dark.locator("figure.figure").nth(1).evaluate(figure => figure.scrollIntoView());
	await shot(dark, "report-dark");
});

await reading({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 }, async phone => {
	await drawAll(phone);
	const over = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	check(over <= 0, "a phone has to scroll sideways by " + over + " pixels");
	await phone.evaluate(() => scrollTo(0, 0));
	await shot(phone, "report-phone");
});

await reading({ javaScriptEnabled: false }, async plain => {
	const drawings = await plain.locator("figure .static svg:visible").count();
	check(drawings === await plain.locator("figure.figure").count(), "without scripts drawings lack");
	check(await plain.locator("input:visible, button:visible").count() === 0,
		"without scripts there are controls that do nothing");
});

for (const fault of faults)
	console.error(fault);
process.exit(faults.length ? 1 : 0);
