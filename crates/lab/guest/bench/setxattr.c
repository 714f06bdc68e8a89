// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: setxattr of an attribute that the file has, to another value of the
 * same length. Each operation of a batch has its own file and writes "new";
 * undone outside: setxattr to the old value. Writing the value that is there
 * would not do: ext4 notices and leaves early.
 */
#include "xattr.h"

#define NEW_VALUE	"new...new...new...new...new...!!"

static int undo(struct cell *c, unsigned int i)
{
	return SYS(setxattr, slot_name(c, i), c->path2, XATTR_VALUE, XATTR_SIZE, 0);
}

static int setup(struct cell *c)
{
	unsigned int i;
	int ret;

	ret = make_dirs("AA/");
	if (ret < 0)
		return ret;
	ret = slots_name(c, "AA/");
	if (ret < 0)
		return ret;
	ret = slots_make_files(c, 0);
	if (ret < 0)
		return ret;
	ret = xattr_choose(c, slot_name(c, 0));
	for (i = 1; ret >= 0 && i < c->batch; i++)
		ret = undo(c, i);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setxattr, slot_name(c, i), c->path2, NEW_VALUE, XATTR_SIZE, 0);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	ret = xattr_expect(c, slot_name(c, 0), NEW_VALUE);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return xattr_expect(c, slot_name(c, 0), XATTR_VALUE);
}

static const struct variant variants[] = {
	{ .name = "32B" },
	{ }
};

BENCHMARK(bench_setxattr) = {
	.name = "setxattr",
	.summary = "setxattr that replaces a value of 32 bytes",
	.source = "paper section 4.1, class 5; setxattr(2)",
	.syscalls = "setxattr",
	.variants = variants,
	.class = CLASS_XATTR,
	.suite = SUITE_BEYOND,
	.number = 14,
	.measures = MEASURE_LATENCY,
	.max_batch = WARM_SLOTS,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
};
