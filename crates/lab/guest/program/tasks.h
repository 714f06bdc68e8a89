/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program's tasks are called. */
#ifndef LSMETER_PROGRAM_TASKS_H
#define LSMETER_PROGRAM_TASKS_H

#include "agent.h"

#define TASKS_NAMED	2048	/* those behind them stay without a name */

struct task {
	long pid;
	u32 creator;		/* its place in the list, from 1; 0: the first has none */
	char name[16];		/* as /proc/PID/comm has it */
};

/* In memory that the traced program shares until it is started. */
struct tasks {
	u32 may_begin;
	unsigned int count;
	struct task task[TASKS_NAMED];	/* in the order in which they were created */
};

/* Traces the task and all that it creates, if it may, and lets it begin. */
void tasks_trace(struct tasks *t, long pid);
/* In the task: waits for that. */
void tasks_await_trace(struct tasks *t);
/* To be told of each that has stopped. */
void tasks_stopped(struct tasks *t, long pid, int status);
void tasks_send(const struct tasks *t, u32 cell);

#endif
