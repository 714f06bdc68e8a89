// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SafeSetID: the identities that a process with CAP_SETUID may take (security/safesetid/). It hooks
 * no file access. A denied transition kills the process: safesetid_task_fix_setuid() sends SIGKILL.
 */
#include <linux/prctl.h>
#include <linux/securebits.h>
#include <asm/signal.h>
#include "../policy.h"

#define POLICY	"/sys/kernel/security/safesetid/uid_allowlist_policy"
#define FROM	1000
#define TO	1001
#define ELSE	1002
#define LISTED	9	/* exit status of a child whose transition passed */

static void load(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING)
		return;
	step("safesetid: wrote 1000:1001 and rules of other users (%lu bytes) to "
	     POLICY, copy_whole(POLICY_DIR "safesetid/policy", POLICY));
}

/* A child becomes FROM, keeps its capabilities, then becomes `uid`; returns its wait status. */
static int become(long uid)
{
	int status = -1;
	long pid = SYS(fork);

	or_fatal(pid, "safesetid: fork");
	if (!pid) {
		protocol_forget();
		if (SYS(prctl, PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0 ||
		    SYS(setresuid, FROM, FROM, FROM) < 0)
			exit_process(1);
		exit_process(SYS(setresuid, uid, uid, uid) < 0 ? 2 : LISTED);
	}
	while (SYS(wait4, pid, &status, 0, NULL) == -EINTR)
		;
	return status;
}

static void prove(const struct policy *p)
{
	int status;

	if (p->state != POLICY_ENFORCING)
		return;
	status = become(ELSE);
	if ((status & 0x7f) != SIGKILL)
		fatal("safesetid does not enforce: setresuid from %d to %d ended with "
		      "status 0x%x, not with SIGKILL", FROM, ELSE, status);
	step("safesetid: denied: setresuid from %d to %d: SIGKILL", FROM, ELSE);
	status = become(TO);
	if (status != LISTED << 8)
		fatal("safesetid: setresuid from %d to %d must pass: status 0x%x",
		      FROM, TO, status);
	step("safesetid: allowed: setresuid from %d to %d", FROM, TO);
}

POLICY_MODULE(safesetid) = {
	.name = "safesetid",
	.load = load,
	.prove = prove,
};
