// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of a program's tasks. The tasks are traced in a run that is not measured, which gives each
 * task's creator, the order of creation, and its last name. The plugin identifies tasks by their
 * creators, in the same order.
 */
#include <linux/ptrace.h>
#include <asm/signal.h>
#include <linux/wait.h>
#include "../settings/given.h"
#include "tasks.h"

#define EVENTS	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
		 PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)
#define EVENT_STOP	128	/* PTRACE_EVENT_STOP */

static struct task *task_of(struct tasks *t, long pid)
{
	unsigned int i;

	/* Search from the latest task, because PIDs are reused. */
	for (i = t->count; i > 0; i--)
		if (t->task[i - 1].pid == pid)
			return &t->task[i - 1];
	return NULL;
}

static void add_task(struct tasks *t, long pid, const struct task *creator)
{
	struct task *task;

	if (t->count == TASKS_NAMED)
		return;
	task = &t->task[t->count++];
	*task = (struct task){ .pid = pid };
	if (!creator)
		return;
	task->creator = creator - t->task + 1;
	memcpy(task->name, creator->name, sizeof(task->name));
}

/* Reads its current name. */
static void name_task(struct task *task)
{
	char path[1100], *p;

	format(path, sizeof(path), "%s/proc/%ld/comm", experiment.dir, task->pid);
	read_text(path, task->name, sizeof(task->name));
	for (p = task->name; *p; p++)
		if ((u8)*p < ' ' || *p == 0x7f)
			*p = p[1] ? '?' : '\0';
}

void tasks_trace(struct tasks *t, long pid)
{
	t->count = 0;
	t->error = SYS(ptrace, PTRACE_SEIZE, pid, 0, EVENTS);
	if (!t->error)
		add_task(t, pid, NULL);
	__atomic_store_n(&t->may_begin, 1, __ATOMIC_RELEASE);
}

void tasks_await_trace(struct tasks *t)
{
	while (!__atomic_load_n(&t->may_begin, __ATOMIC_ACQUIRE))
		SYS(sched_yield);
}

/* Continues a stopped traced task. */
void tasks_stopped(struct tasks *t, long pid, int status)
{
	int event = status >> 16, signal = status >> 8 & 0xff;
	struct task *task = task_of(t, pid);
	long created = 0;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (task && SYS(ptrace, PTRACE_GETEVENTMSG, pid, 0, &created) == 0)
			add_task(t, created, task);
		break;
	case PTRACE_EVENT_EXEC:
	case PTRACE_EVENT_EXIT:
		if (task)
			name_task(task);
		given_look_at(pid);
		break;
	case EVENT_STOP:
		/* A task stopped by a signal stays stopped; a new one begins. */
		if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		    signal == SIGTTOU) {
			SYS(ptrace, PTRACE_LISTEN, pid, 0, 0);
			return;
		}
		break;
	default:
		SYS(ptrace, PTRACE_CONT, pid, 0, signal);
		return;
	}
	SYS(ptrace, PTRACE_CONT, pid, 0, 0);
}

void tasks_send(const struct tasks *t, u32 cell)
{
	size_t at = 4;
	unsigned int i;

	if (!t->count)
		return;
	for (i = 0; i < 4; i++)
		scratch[i] = cell >> 8 * i;
	for (i = 0; i < t->count; i++)
		at += format(scratch + at, sizeof(scratch) - at, "%u %s\n", t->task[i].creator,
			     t->task[i].name);
	send_frame(FRAME_TASKS, scratch, at);
}
