// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lockdown: nobody, root included, changes the running kernel (security/
 * lockdown/lockdown.c). Set from here and not by lockdown= on the command line,
 * which would also refuse the unsigned modules that a file system may need.
 */
#include "../policy.h"

#define LEVEL	"/sys/kernel/security/lockdown"
#define PORT	0x80	/* of power-on self tests: nothing listens */

static void load(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING)
		return;
	write_line(LEVEL, "integrity");
	step("lockdown: wrote integrity to " LEVEL);
}

static void prove(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING)
		return;
	prove_denied(p, "ioperm(0x80, 1, 1)", SYS(ioperm, PORT, 1, 1), -EPERM);
	prove_allowed(p, "ioperm(0x80, 1, 0)", SYS(ioperm, PORT, 1, 0));
}

POLICY_MODULE(lockdown) = {
	.name = "lockdown",
	.load = load,
	.prove = prove,
};
