// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: msgget of a new queue. Undone outside: msgctl(IPC_RMID). */
#include <linux/msg.h>
#include "../sysv.h"

static long op(struct cell *c, unsigned int i)
{
	long id = SYS(msgget, IPC_PRIVATE, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int undo(struct cell *c, unsigned int i)
{
	return SYS(msgctl, *slot_fd(c, i), IPC_RMID, NULL);
}

static int check(struct cell *c)
{
	return check_object(c, op(c, 0), "msgget: wrong result", undo);
}

static const struct variant variants[] = {
	{ .name = "private" },
	{ }
};

BENCHMARK(bench_msgget) = {
	.name = "msgget",
	.summary = "msgget of a new queue of System V",
	.source = "msgget(2)",
	.syscalls = "msgget",
	.variants = variants,
	.class = CLASS_IPC,
	.suite = SUITE_IPC,
	.number = 5,
	.measures = MEASURE_LATENCY,
	.max_batch = WARM_SLOTS,
	.check = check,
	.op = op,
	.undo = undo,
};
