// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: init_module of 4 KB that are no module: refused by a module that lets none be loaded
 * from memory, or as no ELF file. Nothing to undo.
 */
#include "refused.h"

static long load(struct cell *c)
{
	return SYS(init_module, slot_data(c), 4096, "");
}

static int setup(struct cell *c)
{
	return keep_refusal(c, load(c), -ENOEXEC, CAP_SYS_MODULE);
}

static long op(struct cell *c, unsigned int i)
{
	return refused(c, load(c));
}

static int check(struct cell *c)
{
	return op(c, 0);
}

static const struct variant variants[] = {
	{ .name = "damaged" },
	{ }
};

BENCHMARK(bench_init_module) = {
	.name = "init_module",
	.summary = "init_module of what is no module",
	.source = "init_module(2)",
	.syscalls = "init_module",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 18,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
