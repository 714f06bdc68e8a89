// SPDX-License-Identifier: GPL-2.0-or-later
// Draws flow charts as web pages that show Mermaid do: node mermaid.mjs MODULES CHROMIUM FILE...
//
// Of each, a line of JSON: the texts of its nodes and groups, and how many arrows it has.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, chromium, ...files] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { chromium: browserType } = require("playwright-core");

const browser = await browserType.launch({
	executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu"],
});
try {
	const page = await browser.newPage();
	page.setDefaultTimeout(300000);
	const fail = what => { throw new Error(what); };
	page.on("pageerror", error => fail("error: " + error));
	page.on("dialog", dialog => fail("dialog: " + dialog.message()));
	page.on("request", request => fail("request: " + request.url()));
	await page.addScriptTag({
		path: join(resolve(modules), "node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js"),
	});
	for (const file of files) {
		const drawn = await page.evaluate(async text => {
			mermaid.initialize({ startOnLoad: false });
			const { svg } = await mermaid.render("drawing", text);
			document.body.innerHTML = svg;
			const texts = of => [...document.querySelectorAll(of)].map(found => found.textContent);
			return {
				nodes: texts(".node .nodeLabel"),
				groups: texts(".cluster .nodeLabel"),
				arrows: document.querySelectorAll("path.flowchart-link").length,
				scripts: document.body.querySelectorAll("script").length,
			};
		}, readFileSync(file, "utf8"));
		console.log(JSON.stringify(drawn));
	}
} finally {
	await browser.close();
}
