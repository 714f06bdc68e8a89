// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Yama: nobody may trace any process (security/yama/yama_lsm.c). It hooks no file access, so its
 * only cost for files is its place in the stack.
 */
#include <linux/ptrace.h>
#include "../policy.h"

#define SCOPE	"/proc/sys/kernel/yama/ptrace_scope"

static void load(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING)
		return;
	write_line(SCOPE, "3");
	step("yama: wrote 3 to " SCOPE);
}

static long trace_me(const void *argument)
{
	(void)argument;
	return SYS(ptrace, PTRACE_TRACEME, 0, 0, 0);
}

static long signal_parent(const void *argument)
{
	(void)argument;
	long parent = SYS(getppid);

	return SYS(kill, parent, 0);
}

static void prove(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING)
		return;
	prove_denied(p, "ptrace(PTRACE_TRACEME)", in_child(trace_me, NULL), -EPERM);
	prove_allowed(p, "kill(parent, 0)", in_child(signal_parent, NULL));
}

POLICY_MODULE(yama) = {
	.name = "yama",
	.load = load,
	.prove = prove,
};
