// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TOMOYO: profiles and domains are written before activation, when no manager is needed yet
 * (security/tomoyo/common.c, tomoyo_manager()). Executing /sbin/init activates TOMOYO if there is
 * a /sbin/tomoyo-init (load_policy.c). Here both are the program that exits at once.
 *
 * The agent then moves from <kernel>, where no policy applies, into its own domain through
 * self_domain.
 */
#include "../policy.h"
#include "../settings/given.h"

#define TOMOYO		"/sys/kernel/security/tomoyo/"
#define HERE		POLICY_DIR "tomoyo/"
#define DOMAIN		"<kernel> /lsmeter"
#define DENIED		"/tomoyo-denied"
#define ALLOWED		"tomoyo-allowed"

static void run_init(void)
{
	char *const argv[] = { "/sbin/init", NULL };
	char *const envp[] = { NULL };
	long pid = SYS(fork);
	int status = -1;

	if (pid == 0) {
		SYS(execve, "/sbin/init", argv, envp);
		exit_process(127);
	}
	or_fatal(pid, "tomoyo: fork");
	while (SYS(wait4, pid, &status, 0, NULL) == -EINTR)
		;
	if (status)
		fatal("tomoyo: /sbin/init did not run: status %d", status);
}

static void link_program(const char *name)
{
	long err = SYS(symlink, exit_program, name);

	if (err < 0 && err != -EEXIST)
		fatal("tomoyo: symlink %s: %s (%ld)", name, errno_name(err), -err);
}

static void load(const struct policy *p)
{
	u64 began_ns = busy_ns();
	size_t bytes;
	long err;

	if (p->state == POLICY_NONE)
		return;
	copy_whole(HERE "profile", TOMOYO "profile");
	copy_whole(HERE "exception_policy", TOMOYO "exception_policy");
	bytes = copy_whole(HERE "domain_policy", TOMOYO "domain_policy");
	step_took("tomoyo", "loading", busy_ns() - began_ns);
	step("tomoyo: wrote profile, exception_policy and domain_policy (%lu bytes) to "
	     TOMOYO, bytes);
	sys_mkdir("/sbin", 0755);
	link_program("/sbin/init");
	link_program("/sbin/tomoyo-init");
	run_init();
	step("tomoyo: activated by execve of /sbin/init");
	if (p->given)
		return;
	err = make_file(DENIED, 1);
	or_fatal(err, "making " DENIED);
}

static void confine(const struct policy *p)
{
	char domain[1024] = DOMAIN;

	if (p->state == POLICY_NONE)
		return;
	if (p->given)
		given_line(p, "domain", domain, sizeof(domain));
	write_line(TOMOYO "self_domain", domain);
	step("tomoyo: wrote %s to " TOMOYO "self_domain", domain);
}

/* Otherwise the program starts in <kernel>, and moves into its domain by its path. */
static void start(const struct policy *p)
{
	char domain[1024];

	if (given_has(p, "start"))
		write_line(TOMOYO "self_domain", given_line(p, "start", domain, sizeof(domain)));
}

/* Writing a PID requests `PID PROFILE DOMAIN`: tomoyo_read_pid(). */
static long subject_of(long pid, char *dst, size_t size)
{
	char text[1024], *at = text;
	unsigned int blanks = 0;
	long fd, n;

	fd = sys_open(TOMOYO ".process_status", O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	n = format(text, sizeof(text), "%ld\n", pid);
	n = sys_write(fd, text, n);
	if (n > 0)
		n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (; *at && blanks < 2; at++)
		blanks += *at == ' ';
	format(dst, size, "%s", at);
	return n;
}

/*
 * Its records are not in the kernel's log (security/tomoyo/audit.c): a line about the access, the
 * domain, and the permission that is missing, then an empty line.
 */
static int next_denial(char *dst, size_t size)
{
	char *record = scratch;
	long fd = sys_open(TOMOYO "audit", O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0), n;
	char *domain, *missing, *p;

	if (fd < 0)
		return 0;
	do {
		n = sys_read(fd, record, sizeof(scratch) - 1);
		record[n > 0 ? n : 0] = '\0';
		/* Permissive mode lets the access pass. */
	} while (n > 0 && !find_text(record, "mode=enforcing granted=no"));
	sys_close(fd);
	for (domain = record; *domain && *domain != '\n'; domain++)
		;
	if (!*domain)
		return 0;
	for (missing = ++domain; *missing && *missing != '\n'; missing++)
		;
	if (*missing)
		*missing++ = '\0';
	for (p = missing; *p && *p != '\n'; p++)
		;
	*p = '\0';
	format(dst, size, "%s: %s", domain, missing);
	return 1;
}

/* TOMOYO's own count of accesses that permissive mode allowed. */
static u32 let_pass(void)
{
	static const char key[] = "Policy violation in permissive mode:";
	static char text[4096];
	char digits[16];
	const char *at;
	unsigned int n;
	long err;
	u32 count;

	err = read_text(own_path(TOMOYO "stat"), text, sizeof(text));
	or_fatal(err, "tomoyo: reading " TOMOYO "stat");
	for (at = text; *at; at++)
		if (!strncmp(at, key, sizeof(key) - 1))
			break;
	if (!*at)
		fatal("tomoyo: " TOMOYO "stat has no line \"%s\"", key);
	for (at += sizeof(key) - 1; *at == ' '; at++)
		;
	for (n = 0; n + 1 < sizeof(digits) && at[n] >= '0' && at[n] <= '9'; n++)
		digits[n] = at[n];
	digits[n] = '\0';
	if (parse_u32(digits, ~0u, &count))
		fatal("tomoyo: " TOMOYO "stat: no count after \"%s\"", key);
	return count;
}

static void prove(const struct policy *p)
{
	u32 before;
	long fd;

	if (p->state == POLICY_NONE)
		return;
	if (p->state == POLICY_ENFORCING) {
		fd = sys_open(DENIED, O_RDONLY | O_CLOEXEC, 0);
		prove_denied(p, "open of " DENIED " for reading", fd, -EPERM);
	} else {
		before = let_pass();
		fd = sys_open(DENIED, O_RDONLY | O_CLOEXEC, 0);
		prove_allowed(p, "open of " DENIED " for reading, which enforcing denies",
			      fd);
		sys_close(fd);
		if (let_pass() <= before)
			fatal("tomoyo does not notice: stat counts no violation");
		step("tomoyo: noticed: stat counts a violation in permissive mode");
	}
	prove_own_file(p, ALLOWED);
}

POLICY_MODULE(tomoyo) = {
	.name = "tomoyo",
	.load = load,
	.confine = confine,
	.start = start,
	.subject_of = subject_of,
	.next_denial = next_denial,
	.prove = prove,
	.let_pass = let_pass,
};
