// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "paths.h"

#define FILES	256

static long stat_op(struct cell *c, unsigned int i)
{
	long err;

	(void)i;
	err = SYS(stat, c->path, c->buffer);
	return err == c->state[0] ? 0 : err;
}

static int stat_check(struct cell *c)
{
	struct stat st;
	long err;

	err = SYS(stat, c->path, &st);
	if (c->state[0])
		return err == c->state[0] ? 0 : failed(c, "stat of a missing file", err);
	if (err < 0)
		return failed(c, "stat", err);
	if (!S_ISREG(st.st_mode) || st.st_size != 0)
		return failed(c, "stat: not the empty file that was made", 0);
	if (!strcmp(c->variant->name, "hardlink") && st.st_nlink != 2)
		return failed(c, "stat: a hard link's count is not 2", 0);
	return 0;
}

BENCH("stat", ATTR, PAPER, 10, "stat a path",
      .source = "LMBench-Hook, Table 3 no. 10, section 4.1; Table 6", .variants = lookup_variants,
      .setup = make_lookup_file, .check = stat_check, .op = stat_op);

static int setup(struct cell *c)
{
	char path[SLOT_LEN + 4];
	unsigned int i;
	long err;

	err = sys_mkdir("AA", 0755);
	if (err < 0)
		return failed(c, "mkdir", err);
	for (i = 0; i < FILES; i++) {
		random_name(c, slot_name[i], "");
		format(path, sizeof(path), "AA/%s", slot_name[i]);
		err = make_file(path, i);
		if (err < 0)
			return failed(c, "creating a file", err);
	}
	c->fd[0] = sys_open("AA", O_RDONLY | O_DIRECTORY, 0);
	return c->fd[0] < 0 ? failed(c, "open of the directory", c->fd[0]) : 0;
}

static int fstatat_check(struct cell *c)
{
	struct stat st;
	unsigned int i;
	long err;

	for (i = 0; i < FILES; i++) {
		err = SYS(newfstatat, c->fd[0], slot_name[i], &st, 0);
		if (err < 0)
			return failed(c, "fstatat", err);
		if (!S_ISREG(st.st_mode) || st.st_size != i)
			return failed(c, "fstatat: not the file that was made", 0);
	}
	return 0;
}

/* fstatat (newfstatat) below a directory's descriptor; random names. */
OP(fstatat_op, SYS(newfstatat, c->fd[0], slot_name[i % FILES], c->buffer, 0));

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
}

BENCH("fstatat", ATTR, PAPER, 11, "stat a file below a directory descriptor; random names",
      .source = "LMBench-Hook, Table 3 no. 11, section 4.1", .syscalls = "newfstatat",
      .variants = VARIANTS({ "random" }),
      .setup = setup, .check = fstatat_check, .op = fstatat_op, .teardown = teardown);
