// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: shmget of a new segment of 4 KB. Undone outside: shmctl(IPC_RMID). */
#include <linux/shm.h>
#include "../sysv.h"

static long op(struct cell *c, unsigned int i)
{
	long id = SYS(shmget, IPC_PRIVATE, PAGE_SIZE, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int undo(struct cell *c, unsigned int i)
{
	return SYS(shmctl, *slot_fd(c, i), IPC_RMID, NULL);
}

static int check(struct cell *c)
{
	return check_object(c, op(c, 0), "shmget: wrong result", undo);
}

static const struct variant variants[] = {
	{ .name = "4KB" },
	{ }
};

BENCHMARK(bench_shmget) = {
	.name = "shmget",
	.summary = "shmget of a new segment of System V's shared memory",
	.source = "shmget(2)",
	.syscalls = "shmget",
	.variants = variants,
	.class = CLASS_IPC,
	.suite = SUITE_IPC,
	.number = 9,
	.measures = MEASURE_LATENCY,
	.max_batch = WARM_SLOTS,
	.check = check,
	.op = op,
	.undo = undo,
};
