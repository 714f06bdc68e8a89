// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: open for reading and close of an empty file below nested directories named d. In each
 * of them, Landlock looks for a rule on its way up to the working directory, as in
 * tools/testing/selftests/landlock/fs_bench.c of Linux. `denied` is a creat above the working
 * directory, which is measured, without a close, only if a module denies it. Nothing to undo.
 */
#include <asm/stat.h>
#include "slots.h"

#define DENIED		"../../.lsmeter-denied"
#define FLAGS		0	/* c->state[]: of the open */
#define EXPECTED	1	/* its error; 0: none */

static int setup_denied(struct cell *c)
{
	long fd;

	format(c->path, sizeof(c->path), DENIED);
	c->state[FLAGS] = O_WRONLY | O_CREAT | O_EXCL;
	fd = sys_open(c->path, c->state[FLAGS], 0600);
	if (fd >= 0) {
		sys_close(fd);
		sys_unlink(c->path);
		return unsupported(c, "nothing denies a creat above the working directory", 0);
	}
	if (fd != -EACCES && fd != -EPERM)
		return failed(c, "open", fd);
	c->state[EXPECTED] = fd;
	return 0;
}

static int setup(struct cell *c)
{
	size_t len = 0;
	long depth;
	int ret;

	if (!c->variant->arg)
		return setup_denied(c);
	for (depth = 0; depth < c->variant->arg; depth++)
		len += format(c->path + len, sizeof(c->path) - len, "d/");
	format(c->path + len, sizeof(c->path) - len, "file");
	c->state[FLAGS] = O_RDONLY;
	ret = make_dirs(c->path);
	return ret < 0 ? ret : make_file(c->path, 0);
}

static long op(struct cell *c, unsigned int i)
{
	long fd = sys_open(c->path, c->state[FLAGS], 0600);

	if (fd < 0)
		return fd == c->state[EXPECTED] ? 0 : fd;
	return sys_close(fd);
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	if (!c->variant->arg)
		return op(c, 0);
	st->st_mode = 0;
	ret = SYS(stat, c->path, st);
	if (ret >= 0 && (!S_ISREG(st->st_mode) || st->st_size))
		return failed(c, "stat: wrong result", 0);
	return ret < 0 ? ret : op(c, 0);
}

BENCH("landlock-open", FILE, BEYOND, 33,
      "open and close of a file below nested directories; a denied creat",
      .source = "tools/testing/selftests/landlock/fs_bench.c; open(2)", .syscalls = "open close",
      .variants = VARIANTS({ "depth1", .arg = 1, .depth = 1 },
			   { "depth4", .arg = 4, .depth = 4 },
			   { "depth10", .arg = 10, .depth = 10 },
			   { "depth29", .arg = 29, .depth = 29 },
			   { "denied" }),
      .setup = setup, .check = check, .op = op);
