// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AppArmor: the host compiles a profile, the agent loads and enters it
 * (security/apparmor/apparmorfs.c, procattr.c). Its children inherit it through fork, and through
 * execve by the profile's `ix` rule.
 */
#include "../policy.h"
#include "../settings/given.h"

#define REPLACE	"/sys/kernel/security/apparmor/.replace"
#define CURRENT	"/proc/self/attr/apparmor/current"
#define DENIED	"/apparmor-denied"
#define ALLOWED	"apparmor-allowed"

static void load(const struct policy *p)
{
	u64 began_ns = busy_ns();
	size_t bytes;
	long err;

	if (p->state == POLICY_NONE)
		return;
	bytes = copy_whole(POLICY_DIR "apparmor/profile", REPLACE);
	step_took("apparmor", "loading", busy_ns() - began_ns);
	step("apparmor: wrote the compiled profile%s (%lu bytes) to " REPLACE,
	     p->given ? "s" : "", bytes);
	if (p->given)
		return;
	err = make_file(DENIED, 1);
	or_fatal(err, "making " DENIED);
}

/* AppArmor skips unchanged profiles, so every second time there is an additional one. */
static long load_again(const struct policy *p, u32 round)
{
	(void)p;
	return put_copy(round & 1 ? POLICY_DIR "apparmor/again" : POLICY_DIR "apparmor/profile",
			REPLACE);
}

static void confine(const struct policy *p)
{
	char command[512] = "changeprofile lsmeter";
	u64 began_ns;

	if (p->state == POLICY_NONE)
		return;
	if (p->given)
		given_line(p, "command", command, sizeof(command));
	began_ns = busy_ns();
	write_line(CURRENT, command);
	step_took("apparmor", "changing the profile", busy_ns() - began_ns);
	step("apparmor: wrote %s to " CURRENT, command);
}

/* Without a file, only profiles that attach to programs apply. */
static void start(const struct policy *p)
{
	char command[512];

	if (given_has(p, "start"))
		write_line("/proc/self/attr/apparmor/exec",
			   given_line(p, "start", command, sizeof(command)));
}

static void prove(const struct policy *p)
{
	long fd;

	if (p->state == POLICY_NONE)
		return;
	log_mark(p);
	fd = sys_open(DENIED, O_RDONLY | O_CLOEXEC, 0);
	if (p->state == POLICY_ENFORCING) {
		prove_denied(p, "open of " DENIED " for reading", fd, -EACCES);
	} else {
		prove_allowed(p, "open of " DENIED " for reading, which enforcing denies",
			      fd);
		prove_logged(p, "apparmor=\"ALLOWED\"", "name=\"" DENIED "\"");
		sys_close(fd);
	}
	prove_own_file(p, ALLOWED);
}

POLICY_MODULE(apparmor) = {
	.name = "apparmor",
	.load = load,
	.load_again = load_again,
	.confine = confine,
	.start = start,
	.subject_file = "apparmor/current",
	.prove = prove,
};
