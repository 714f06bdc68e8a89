// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lockdown: nobody, including root, may change the running kernel (security/lockdown/lockdown.c).
 * It is set here instead of with lockdown= on the command line, which would also refuse unsigned
 * modules that a file system may need.
 */
#include "../policy.h"

#define LEVEL	"/sys/kernel/security/lockdown"

static void load(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING)
		return;
	write_line(LEVEL, "integrity");
	step("lockdown: wrote integrity to " LEVEL);
}

static void prove(const struct policy *p)
{
	char call[64];

	if (p->state != POLICY_ENFORCING)
		return;
	format(call, sizeof(call), ARCH_LOCKED_DOWN_TEXT, 1);
	prove_denied(p, call, ARCH_LOCKED_DOWN(1), -EPERM);
	format(call, sizeof(call), ARCH_LOCKED_DOWN_TEXT, 0);
	prove_allowed(p, call, ARCH_LOCKED_DOWN(0));
}

POLICY_MODULE(lockdown) = {
	.name = "lockdown",
	.load = load,
	.prove = prove,
};
