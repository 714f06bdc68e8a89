// SPDX-License-Identifier: GPL-2.0-or-later
#include "rename.h"

/*
 * rename within one directory, of a file at depth 1 to 5. prepare() makes the file and undo()
 * removes it, so in exact counts the directory has only one file, and the search for it costs the
 * same every time.
 */
static int rename_setup(struct cell *c)
{
	const char *dir = c->variant->path;
	unsigned int i;
	long err;

	err = make_dirs(dir);
	if (err < 0)
		return failed(c, "mkdir", err);
	for (i = 0; i < SLOTS; i++) {
		format(slot_name[i], SLOT_LEN, "%sa%04u", dir, i + c->number * SLOTS);
		format(slot_other[i], SLOT_LEN, "%sb%04u", dir, i + c->number * SLOTS);
	}
	c->is_named = 1;
	return 0;
}

BENCH("rename", FILE, PAPER, 3, "rename a file within its directory",
      .source = "LMBench-Hook, Table 3 no. 3, section 4.1", .max_batch = SLOTS,
      .variants = depth_variants,
      .setup = rename_setup, .check = check, .prepare = prepare, .op = op, .undo = undo);

/*
 * Measured: rename of a file into another existing directory: from the variant's path to the same
 * path with its last directory replaced by ZZ. prepare() makes the file and undo() removes it.
 */
static int rename_across_setup(struct cell *c)
{
	const char *above = c->variant->path;
	unsigned int i;
	long err;

	for (i = 0; i < SLOTS; i++) {
		format(slot_name[i], SLOT_LEN, "%sYY/a%04u", above, i);
		format(slot_other[i], SLOT_LEN, "%sZZ/b%04u", above, i);
	}
	err = make_dirs(slot_name[0]);
	if (err == 0)
		err = make_dirs(slot_other[0]);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

BENCH("rename-across", FILE, BEYOND, 37, "rename a file into another directory",
      .source = "paper Table 7, its footnote; rename(2)", .syscalls = "rename", .max_batch = SLOTS,
      .variants = VARIANTS({ "depth2", .path = "", .arg = 2, .depth = 2 },
			   { "depth5", .path = "AA/BB/CC/", .arg = 5, .depth = 5 }),
      .setup = rename_across_setup, .check = check, .prepare = prepare, .op = op, .undo = undo);
