// SPDX-License-Identifier: GPL-2.0-or-later
// Asks DuckDB: node query.mjs MODULES 'SQL' prints the rows as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join, resolve } from "node:path";

const [modules, sql] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), "package.json")));
const { DuckDBInstance } = require("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const reader = await connection.runAndReadAll(sql);
console.log(JSON.stringify(reader.getRowObjectsJson()));
