// SPDX-License-Identifier: GPL-2.0-or-later
/* A process outside all policies, for requests of the agent and its children: see outside.h. */
#include <linux/prctl.h>
#include "orders.h"
#include "outside.h"

#define SIGKILL		9

static volatile struct shared {
	u32 order;
	long (*what)(const void *argument);
	long result;
	u8 argument[2048];
} *shared;

static __attribute__((noreturn)) void attend(void)
{
	for (;;) {
		while (!shared->order)
			order_wait(&shared->order, 0, NULL);
		shared->result = shared->what((const void *)shared->argument);
		order_set(&shared->order, 0);
	}
}

void outside_start(void)
{
	long pid;

	if (shared)
		return;
	shared = map_shared(sizeof(*shared));
	pid = SYS(fork);
	or_fatal(pid, "fork");
	if (!pid) {
		protocol_forget();
		SYS(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		attend();
	}
}

long outside_do(long (*what)(const void *argument), const void *argument, size_t size)
{
	if (size > sizeof(shared->argument))
		return -EOVERFLOW;
	memcpy((void *)shared->argument, argument, size);
	shared->what = what;
	order_give(&shared->order, 1);
	return shared->result;
}
