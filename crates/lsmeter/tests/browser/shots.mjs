// SPDX-License-Identifier: GPL-2.0-or-later
// Takes pictures of pages in Chromium: node shots.mjs MODULES CHROMIUM DIRECTORY NAME=PAGE.html[#HASH]...
//
// Of each page four, as NAME.png, NAME-dark.png, NAME-phone.png and NAME-phone-dark.png: 1280 x 800 and
// 390 x 844 pixels, light and dark. Each is a PNG of at most 256 colours, and none may be blank.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { join, resolve } from "node:path";

const [modules, chromium, directory, ...pages] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { chromium: browserType } = require("playwright-core");
const { PNG } = require("playwright-core/lib/utilsBundle");

const SIZES = [["", { width: 1280, height: 800 }], ["-phone", { width: 390, height: 844 }]];
const SCHEMES = [["", "light"], ["-dark", "dark"]];
const PATIENCE_MS = 90000;
const faults = [];

const CRC = Array.from({ length: 256 }, (_, n) => {
	for (let bit = 0; bit < 8; bit++)
		n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
	return n >>> 0;
});

function chunk(kind, data) {
	const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
	let crc = 0xffffffff;
	for (const byte of body)
		crc = CRC[(crc ^ byte) & 255] ^ crc >>> 8;
	const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	check.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
	return Buffer.concat([length, body, check]);
}

// The pixels as places in a palette: the 256 commonest colours of five bits a channel, and for
// others the nearest of these.
function reduced({ width, height, data }, name) {
	const counts = new Map(), whole = width * height;
	const key = at => data[at] >> 3 << 10 | data[at + 1] >> 3 << 5 | data[at + 2] >> 3;
	const sums = new Map();
	for (let at = 0; at < 4 * whole; at += 4) {
		const one = key(at);
		counts.set(one, (counts.get(one) || 0) + 1);
		const sum = sums.get(one) || [0, 0, 0];
		for (let channel = 0; channel < 3; channel++)
			sum[channel] += data[at + channel];
		sums.set(one, sum);
	}
	const commonest = [...counts].sort((a, b) => b[1] - a[1]);
	if (commonest.length < 16 || commonest[0][1] > .97 * whole)
		faults.push(`${name} is blank: ${commonest.length} colours, one on ${commonest[0][1]} of ${whole} pixels`);
	const palette = commonest.slice(0, 256).map(([one, n]) => sums.get(one).map(sum => Math.round(sum / n)));
	const places = new Map(commonest.slice(0, 256).map(([one], place) => [one, place]));
	const distance = (one, other) => one.reduce((sum, of, channel) => sum + (of - other[channel]) ** 2, 0);
	for (const [one, n] of commonest.slice(256)) {
		const colour = sums.get(one).map(sum => sum / n);
		let nearest = 0;
		palette.forEach((other, place) => {
			if (distance(colour, other) < distance(colour, palette[nearest]))
				nearest = place;
		});
		places.set(one, nearest);
	}
	const rows = Buffer.alloc(height * (width + 1));
	for (let y = 0; y < height; y++)
		for (let x = 0; x < width; x++)
			rows[y * (width + 1) + 1 + x] = places.get(key(4 * (y * width + x)));
	const head = Buffer.alloc(13);
	head.writeUInt32BE(width, 0);
	head.writeUInt32BE(height, 4);
	head.set([8, 3, 0, 0, 0], 8);
	return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head),
		chunk("PLTE", Buffer.from(palette.flat())), chunk("IDAT", deflateSync(rows, { level: 9 })),
		chunk("IEND", Buffer.alloc(0))]);
}

async function picture(browser, url, options) {
	const context = await browser.newContext(options);
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	await page.goto(url);
	// Rings around what has the focus are of a reader who is there.
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
			// As in page.mjs: a browser of its own, and once more if it makes no frames.
			for (let attempts = 3; ; attempts--) {
				const browser = await browserType.launch({
					executablePath: chromium,
					args: ["--no-sandbox", "--disable-gpu"],
				});
				try {
					const png = await picture(browser, url, { viewport, colorScheme, deviceScaleFactor: 1 });
					const whole = PNG.sync.read(png);
					const file = name + size + dark + ".png";
					writeFileSync(join(directory, file), reduced(whole, file));
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
