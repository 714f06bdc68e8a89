// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rename within one directory, the file being the last of 1 to 5 components.
 * The file is made before the window and removed after it: in exact counts the
 * directory then holds one file only, and the search for it costs the same
 * every time.
 */
#include "rename.h"

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

BENCH("rename", FILE, PAPER, 3, "rename a file within its directory",
      .source = "LMBench-Hook, Table 3 no. 3, section 4.1", .max_batch = SLOTS,
      .variants = depth_variants,
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo);
