/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte to a child and back: the kernel work of both tasks, and of switching between them, belongs
 * to the operation.
 */
#ifndef LSMETER_PING_PONG_H
#define LSMETER_PING_PONG_H

#include "child.h"

/* The child with the other ends: returns each byte plus one. */
static inline __attribute__((noreturn)) void give_back(int in, int out)
{
	char byte;

	SYS(prctl, PR_SET_PDEATHSIG, SIGKILL);
	while (sys_read(in, &byte, 1) == 1) {
		byte++;
		sys_write(out, &byte, 1);
	}
	for (;;)
		SYS(exit_group, 0);
}

/* When this returns the child waits for a byte. */
static inline int start_partner(struct cell *c, int in, int out)
{
	struct timespec time = { 0, SETTLE_NS };
	long pid = SYS(fork);

	if (pid == 0)
		give_back(in, out);
	if (pid == -ENOSYS)
		return unsupported(c, "it needs a second task, and in this kernel there is one", 0);
	if (pid < 0)
		return failed(c, "fork", pid);
	c->state[CHILD] = pid;
	SYS(nanosleep, &time, NULL);
	return 0;
}

static inline long there_and_back(struct cell *c, int out, int in)
{
	long ret = sys_write(out, slot_data(c), 1);

	return ret < 0 ? ret : sys_read(in, slot_data(c), 1);
}

static inline int check_there_and_back(struct cell *c, int out, int in)
{
	long ret;

	*slot_data(c) = 'a';
	ret = there_and_back(c, out, in);
	return wrong_if(c, ret, *slot_data(c) != 'b', "read: wrong byte");
}

#endif
