// SPDX-License-Identifier: GPL-2.0-or-later
/* rmdir over the paper's 9,437 distinct names: how many are used, see mkdir.c. */
#include "paths.h"

static int prepare(struct cell *c, unsigned int i)
{
	(void)c;
	return sys_mkdir(dir_name[i], 0755);
}

static long op(struct cell *c, unsigned int i)
{
	(void)c;
	return sys_rmdir(dir_name[i]);
}

static int check(struct cell *c)
{
	unsigned int mode;
	long err;

	err = prepare(c, 0);
	if (err < 0)
		return failed(c, "mkdir", err);
	err = op(c, 0);
	if (err < 0)
		return failed(c, "rmdir", err);
	err = file_mode(dir_name[0], &mode);
	return err == -ENOENT ? 0 : failed(c, "rmdir: the name is still there", err);
}

BENCH("rmdir", DIR, PAPER, 6, "remove directories under distinct names",
      .source = "LMBench-Hook, Table 3 no. 6, section 4.1",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .max_batch = DIR_NAMES,
      .variants = VARIANTS({ "one" }, { "9437-names", .together = DIR_NAMES }),
      .setup = make_dir_names, .check = check, .prepare = prepare, .op = op);
