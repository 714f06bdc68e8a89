// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: readlink of a symbolic link. Nothing to undo. */
#include "slots.h"

#define TARGET	"../target/of/the/link"

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret == 0)
		ret = SYS(symlink, TARGET, "AA/BB");
	return ret < 0 ? ret : settle_atime("AA/BB");
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(readlink, "AA/BB", slot_data(c), 4096);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (ret != sizeof(TARGET) - 1 || memcmp(slot_data(c), TARGET, ret))
		return failed(c, "readlink: wrong result", 0);
	return 0;
}

static const struct variant variants[] = {
	{ .name = "AA/BB" },
	{ }
};

BENCHMARK(bench_readlink) = {
	.name = "readlink",
	.summary = "readlink of a symbolic link",
	.source = "readlink(2)",
	.syscalls = "readlink",
	.variants = variants,
	.class = CLASS_LINK,
	.suite = SUITE_BEYOND,
	.number = 6,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
