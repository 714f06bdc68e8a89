// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rename within one directory, the file being the last of 1 to 5 components.
 * The file is made before the window and removed after it: in exact counts the
 * directory then holds one file only, and the search for it costs the same
 * every time.
 */
#include "paths.h"

static int setup(struct cell *c)
{
	const char *dir = c->variant->path;
	unsigned int i;
	long err;

	err = make_dirs(dir);
	if (err < 0)
		return failed(c, "mkdir", err);
	for (i = 0; i < SLOTS; i++) {
		format(slot_name[i], SLOT_LEN, "%sa%04u", dir, i);
		format(slot_other[i], SLOT_LEN, "%sb%04u", dir, i);
	}
	return 0;
}

static int prepare(struct cell *c, unsigned int i)
{
	(void)c;
	return make_file(slot_name[i], 0);
}

static long op(struct cell *c, unsigned int i)
{
	(void)c;
	return SYS(rename, slot_name[i], slot_other[i]);
}

static int undo(struct cell *c, unsigned int i)
{
	(void)c;
	return sys_unlink(slot_other[i]);
}

static int check(struct cell *c)
{
	long err, size;

	err = make_file(slot_name[0], 7);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = op(c, 0);
	if (err < 0)
		return failed(c, "rename", err);
	err = file_size(slot_name[0], &size);
	if (err != -ENOENT)
		return failed(c, "rename: the old name is still there", err);
	err = file_size(slot_other[0], &size);
	if (err < 0 || size != 7)
		return failed(c, "rename: the file is not under its new name", err);
	err = undo(c, 0);
	return err < 0 ? failed(c, "unlink", err) : 0;
}

BENCHMARK(rename_file) = {
	.name = "rename",
	.summary = "rename a file within its directory",
	.source = "LMBench-Hook, Table 3 no. 3, section 4.1",
	.syscalls = "rename",
	.variants = depth_variants,
	.class = CLASS_FILE,
	.suite = SUITE_PAPER,
	.number = 3,
	.measures = MEASURE_LATENCY,
	.max_batch = SLOTS,
	.setup = setup,
	.check = check,
	.prepare = prepare,
	.op = op,
	.undo = undo,
};
