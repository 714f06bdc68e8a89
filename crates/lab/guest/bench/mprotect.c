// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: mprotect of a page, from now on read-only. Undone outside: it may be written to again. */
#include <linux/mman.h>
#include "slots.h"

#define AT		0	/* c->state[]: where it is */
#define READ_WRITE	(PROT_READ | PROT_WRITE)

static int setup(struct cell *c)
{
	long at = SYS(mmap, NULL, PAGE_SIZE, READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return failed(c, "mmap", at);
	*(char *)at = 'x';
	c->state[AT] = at;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(mprotect, c->state[AT], PAGE_SIZE, PROT_READ);
}

static int undo(struct cell *c, unsigned int i)
{
	long ret = SYS(mprotect, c->state[AT], PAGE_SIZE, READ_WRITE);

	/* As it was, not only as it may become. */
	if (ret >= 0)
		*(char *)c->state[AT] = 'x';
	return ret;
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(uname, c->state[AT]) != -EFAULT)
		return failed(c, "mprotect: it can be written to", 0);
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return SYS(uname, c->state[AT]) ? failed(c, "mprotect: it cannot be written to", 0) : 0;
}

static void teardown(struct cell *c)
{
	SYS(munmap, c->state[AT], PAGE_SIZE);
}

BENCH("mprotect", PROCESS, PROCESS, 22, "mprotect of a page, which becomes read-only",
      .max_batch = 1, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
