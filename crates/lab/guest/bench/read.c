// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read in pieces from a 100 KB file, from its start again when it ends. The
 * window holds the read only (section 4.1: each read is one operation), not the
 * open and close that Table 3 lists around the whole. In exact counts, prepare
 * goes back to the start; in a timed batch op has to, once in 25 to 100
 * reads, which costs less than half a per cent of them.
 */
#include "paths.h"

static int rewind_at_end(struct cell *c)
{
	long err;

	if (c->state[0] + c->variant->arg <= RW_FILE_SIZE)
		return 0;
	c->state[0] = 0;
	err = SYS(lseek, c->fd[0], 0, 0);
	return err < 0 ? err : 0;
}

static int setup(struct cell *c)
{
	long err;

	err = make_rw_file(c, "AA");
	if (err < 0)
		return failed(c, "writing the file", err);
	c->fd[0] = sys_open("AA", O_RDONLY, 0);
	return c->fd[0] < 0 ? failed(c, "open", c->fd[0]) : 0;
}

static int prepare(struct cell *c, unsigned int i)
{
	(void)i;
	return rewind_at_end(c);
}

static long op(struct cell *c, unsigned int i)
{
	long n;

	(void)i;
	if (c->state[0] + c->variant->arg > RW_FILE_SIZE) {
		n = rewind_at_end(c);
		if (n < 0)
			return n;
	}
	n = sys_read(c->fd[0], c->buffer, c->variant->arg);
	c->state[0] += c->variant->arg;
	return n;
}

static int check(struct cell *c)
{
	long n, total = 0, size = c->variant->arg, k;

	do {
		memset(c->buffer, 0, size);
		n = sys_read(c->fd[0], c->buffer, size);
		if (n < 0)
			return failed(c, "read", n);
		for (k = 0; k < n; k++)
			if (c->buffer[k] != 'x')
				return failed(c, "read: not what was written", 0);
		total += n;
	} while (n && total <= RW_FILE_SIZE);
	if (size && total != RW_FILE_SIZE)
		return failed(c, "read: the file has another size", 0);
	n = SYS(lseek, c->fd[0], 0, 0);
	return n < 0 ? failed(c, "lseek", n) : 0;
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
}

BENCH("read", READ_WRITE, PAPER, 12, "read from a 100 KB file",
      .source = "LMBench-Hook, Table 3 no. 12, section 4.1",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .variants = rw_variants,
      .setup = setup, .check = check, .prepare = prepare, .op = op, .teardown = teardown);
