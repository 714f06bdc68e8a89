/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a program's tasks. */
#ifndef LSMETER_PROGRAM_TASKS_H
#define LSMETER_PROGRAM_TASKS_H

#include "agent.h"

#define TASKS_NAMED	2048	/* later tasks have no name */

struct task {
	long pid;
	u32 creator;		/* its position in the list, from 1; 0 for the first task */
	char name[16];		/* as in /proc/PID/comm */
};

/* In memory that the traced program shares until it starts. */
struct tasks {
	u32 may_begin;
	long error;		/* why the program could not be traced, or 0 */
	unsigned int count;
	struct task task[TASKS_NAMED];	/* in order of creation */
};

/* Traces the task and its descendants, if permitted, and lets the task begin. */
void tasks_trace(struct tasks *t, long pid);
/* Called in the task: waits until it is traced. */
void tasks_await_trace(struct tasks *t);
/* Handles a stop of any of them. */
void tasks_stopped(struct tasks *t, long pid, int status);
void tasks_send(const struct tasks *t, u32 cell);

#endif
