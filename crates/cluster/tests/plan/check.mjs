// SPDX-License-Identifier: GPL-2.0-or-later
// Holds a YAML file against a JSON Schema: node check.mjs MODULES SCHEMA FILE prints it as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, schema, file] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { parse } = require("yaml");
const rules = JSON.parse(readFileSync(schema, "utf8"));
const Ajv = require(rules.$schema.includes("2020-12") ? "ajv/dist/2020" : "ajv").default;
const document = parse(readFileSync(file, "utf8"), { strict: true, uniqueKeys: true });
const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(rules);
if (!validate(document)) {
	console.error(JSON.stringify(validate.errors, null, 1));
	process.exit(1);
}
console.log(JSON.stringify(document));
