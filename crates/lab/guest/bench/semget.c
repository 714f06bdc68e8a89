// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: semget of a new set of one semaphore. Undone outside: semctl(IPC_RMID). */
#include <linux/sem.h>
#include "../sysv.h"

static long op(struct cell *c, unsigned int i)
{
	long id = SYS(semget, IPC_PRIVATE, 1, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int undo(struct cell *c, unsigned int i)
{
	return SYS(semctl, *slot_fd(c, i), 0, IPC_RMID, NULL);
}

static int check(struct cell *c)
{
	return check_object(c, op(c, 0), "semget: wrong result", undo);
}

static const struct variant variants[] = {
	{ .name = "private" },
	{ }
};

BENCHMARK(bench_semget) = {
	.name = "semget",
	.summary = "semget of a new semaphore of System V",
	.source = "semget(2)",
	.syscalls = "semget",
	.variants = variants,
	.class = CLASS_IPC,
	.suite = SUITE_IPC,
	.number = 7,
	.measures = MEASURE_LATENCY,
	.max_batch = WARM_SLOTS,
	.check = check,
	.op = op,
	.undo = undo,
};
