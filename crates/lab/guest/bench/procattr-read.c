// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a read of /proc/self/attr/current, which calls modules for the process's label; EINVAL
 * if it has none. Nothing to undo.
 */
#include "../label.h"

#define ANSWER	0	/* c->state[]: -EINVAL, or 0 */

static int setup(struct cell *c)
{
	int err = open_as(c, 0, LABEL_FILE, O_RDONLY | O_CLOEXEC);

	return err < 0 ? unsupported(c, "no " LABEL_FILE " here", err) : 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(pread64, c->fd[0], slot_data(c), LABEL_MAX - 1, 0);

	return ret < 0 && ret == c->state[ANSWER] ? 0 : ret;
}

static int check(struct cell *c)
{
	char again[LABEL_MAX];
	long ret = op(c, 0);

	if (ret == -EINVAL)
		c->state[ANSWER] = ret;
	else if (ret < 0)
		return ret;
	if (read_label(again) != ret)
		return failed(c, "read: wrong result", 0);
	if (ret > 0 && memcmp(again, slot_data(c), ret))
		return failed(c, "read: wrong label", 0);
	/* Without modules the answer is the same at any offset. */
	return SYS(pread64, c->fd[0], slot_data(c), 1, LABEL_MAX) == c->state[ANSWER] ? 0 :
	       failed(c, "read: more than there is", 0);
}

BENCH("procattr-read", CREDENTIALS, PROCESS, 24,
      "a read of the label of the process in /proc/self/attr",
      .source = "getcon(3); Linux: Documentation/ABI/testing/procfs-attr-current",
      .syscalls = "pread64", .variants = VARIANTS({ "current" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
