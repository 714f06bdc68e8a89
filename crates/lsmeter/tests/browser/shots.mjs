// SPDX-License-Identifier: GPL-2.0-or-later
// Takes pictures of pages in Chromium: node shots.mjs MODULES CHROMIUM DIRECTORY NAME=PAGE.html[#HASH]...
//
// Four pictures of each page: NAME.png, NAME-dark.png, NAME-phone.png and NAME-phone-dark.png, of 1280 x
// 800 and 390 x 844 pixels, light and dark. Each is a PNG of at most 256 colours. None may be blank.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, chromium, directory, ...pages] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { chromium: browserType } = require("playwright-core");
const sharp = require("sharp");

const SIZES = [["", { width: 1280, height: 800 }], ["-phone", { width: 390, height: 844 }]];
const SCHEMES = [["", "light"], ["-dark", "dark"]];
const PATIENCE_MS = 90000;
const faults = [];

// Reduces the colours of a picture, and reports it as blank if one colour fills nearly all of it.
async function reduced(png, name) {
	const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
	const counts = new Map(), whole = info.width * info.height;
	for (let at = 0; at < data.length; at += 3) {
		const colour = data[at] >> 3 << 10 | data[at + 1] >> 3 << 5 | data[at + 2] >> 3;
		counts.set(colour, (counts.get(colour) || 0) + 1);
	}
	const most = Math.max(...counts.values());
	if (counts.size < 16 || most > .97 * whole)
		faults.push(`${name} is blank: ${counts.size} colours, one on ${most} of ${whole} pixels`);
	return sharp(png).png({ palette: true, colours: 256, dither: 0, effort: 10 }).toBuffer();
}

async function picture(browser, url, options) {
	const context = await browser.newContext(options);
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	await page.goto(url);
	// No focus rings in pictures.
	await page.evaluate(() => document.activeElement.blur());
	const png = await page.screenshot();
	await context.close();
	return png;
}

for (const one of pages) {
	const [name, page] = one.split(/=(.*)/s);
	const [file, hash] = page.split("#");
	const url = pathToFileURL(resolve(file)).href + (hash ? "#" + hash : "");
	for (const [size, viewport] of SIZES)
		for (const [dark, colorScheme] of SCHEMES) {
			// As in page.mjs: a new browser, and another attempt if it makes no frames.
			for (let attempts = 3; ; attempts--) {
				const browser = await browserType.launch({
					executablePath: chromium,
					args: ["--no-sandbox", "--disable-gpu"],
				});
				try {
					const png = await picture(browser, url, { viewport, colorScheme, deviceScaleFactor: 1 });
					const file = name + size + dark + ".png";
					writeFileSync(join(directory, file), await reduced(png, file));
					break;
				} catch (error) {
					if (attempts === 1)
						throw error;
					console.error("once more: " + error);
				} finally {
					await browser.close();
				}
			}
		}
}
for (const fault of faults)
	console.error(fault);
process.exit(faults.length ? 1 : 0);
