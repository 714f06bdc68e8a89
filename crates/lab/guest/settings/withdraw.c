// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The paper's modules had a policy loaded and then disabled through their file systems.
 * Who is under a policy may not take it back. So a child that is not waits until it has
 * denied what it must, takes it back and ends; the agent then tries the same again, and
 * goes on as one that was under a policy.
 *
 * No module can be unloaded. What each has instead stands with its function.
 */
#include <linux/mman.h>
#include "withdraw.h"

#define SELINUX_DENIED	"selinux-denied"
#define SMACK_AGENT	"lsmeter"
#define TOMOYO		"/sys/kernel/security/tomoyo/"

/* What the child is told, and tells; shared with it. */
struct orders {
	int begin, done;
	long error;
	char what[128];
};

static volatile struct orders *orders;
static long child;

static void write_one(const char *path, const char *text)
{
	long fd, n = 0;

	if (orders->error < 0)
		return;
	fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		n = sys_write(fd, text, strlen(text));
		sys_close(fd);
	}
	if (fd < 0 || n < 0) {
		orders->error = fd < 0 ? fd : n;
		format((char *)orders->what, sizeof(orders->what), "writing %s to %s", text,
		       path);
	}
}

static void remove_one(const char *path, const char *attribute)
{
	long err = orders->error < 0 ? 0 : SYS(lremovexattr, path, attribute);

	if (err < 0) {
		orders->error = err;
		format((char *)orders->what, sizeof(orders->what), "removing %s of %s",
		       attribute, path);
	}
}

/*
 * /sys/fs/selinux/disable does nothing since 6.4, and before that worked only until a
 * policy was loaded (selinux_disable()). Permissive mode is what there is: the policy is
 * asked all the same.
 */
static void selinux(void)
{
	write_one("/sys/fs/selinux/enforce", "0");
}

static long selinux_again(void)
{
	const char *label = selinux_denied_label();
	long fd = make_file(SELINUX_DENIED, 1);

	if (fd == 0)
		fd = SYS(lsetxattr, SELINUX_DENIED, "security.selinux", label,
			 strlen(label) + 1, 0);
	if (fd == 0)
		fd = sys_open(SELINUX_DENIED, O_RDONLY | O_CLOEXEC, 0);
	sys_unlink(SELINUX_DENIED);
	return fd;
}

/* Who was under the profile is unconfined from then on (aa_label_remove()). */
static void apparmor(void)
{
	write_one("/sys/kernel/security/apparmor/.remove", "lsmeter");
}

static long apparmor_again(void)
{
	return sys_open("/apparmor-denied", O_RDONLY | O_CLOEXEC, 0);
}

/* Without rules labels decide by themselves, and so they go as well. */
static void smack(void)
{
	write_one("/sys/fs/smackfs/revoke-subject", SMACK_AGENT);
	remove_one(".", "security.SMACK64");
	remove_one(".", "security.SMACK64TRANSMUTE");
	remove_one("/smack/denied", "security.SMACK64");
}

static long smack_again(void)
{
	/* What is made is to have the label that all else has. */
	write_line("/proc/self/attr/current", "_");
	return sys_open("/smack/denied", O_RDONLY | O_CLOEXEC, 0);
}

/* The domain stays, in the profile that decides nothing. */
static void tomoyo(void)
{
	write_one(TOMOYO "domain_policy", "select <kernel> /lsmeter\nuse_profile 0\n");
}

static long tomoyo_again(void)
{
	return sys_open("/tomoyo-denied", O_RDONLY | O_CLOEXEC, 0);
}

static const struct way {
	const char *module;
	void (*take_back)(void);
	const char *taken_back;		/* in words */
	long (*again)(void);
	const char *what;
} ways[] = {
	{ "selinux", selinux, "wrote 0 to /sys/fs/selinux/enforce", selinux_again,
	  "open of ./" SELINUX_DENIED " for reading, with the same label, once withdrawn" },
	{ "apparmor", apparmor, "wrote lsmeter to /sys/kernel/security/apparmor/.remove",
	  apparmor_again, "open of /apparmor-denied for reading, once withdrawn" },
	{ "smack", smack, "wrote " SMACK_AGENT " to /sys/fs/smackfs/revoke-subject; removed "
	  "security.SMACK64 and SMACK64TRANSMUTE of the working directory, SMACK64 of "
	  "/smack/denied", smack_again,
	  "open of /smack/denied for reading, once withdrawn and with _ in "
	  "/proc/self/attr/current" },
	{ "tomoyo", tomoyo, "wrote select <kernel> /lsmeter, use_profile 0 to "
	  TOMOYO "domain_policy", tomoyo_again,
	  "open of /tomoyo-denied for reading, once withdrawn" },
};

static const struct way *way_of(const struct policy *p)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (p->withdrawn && !strcmp(ways[i].module, p->module->name))
			return &ways[i];
	if (p->withdrawn)
		fatal("%s: there is no way to take its policy back", p->module->name);
	return NULL;
}

/* Who may change its policy is said before it is activated. */
void withdraw_before_load(const struct policy *all, unsigned int count)
{
	const struct way *way;
	unsigned int i;

	for (i = 0; i < count; i++) {
		way = way_of(&all[i]);
		if (!way || strcmp(way->module, "tomoyo"))
			continue;
		write_line(TOMOYO "manager", "/init\n");
		step("tomoyo: wrote /init to " TOMOYO "manager");
	}
}

static void pause_shortly(void)
{
	struct {
		s64 sec, nsec;
	} pause = { 0, 1000000 };

	SYS(nanosleep, &pause, NULL);
}

static __attribute__((noreturn)) void wait_and_take_back(const struct policy *all,
							 unsigned int count)
{
	const struct way *way;
	unsigned int i;

	protocol_forget();
	while (!orders->begin)
		pause_shortly();
	for (i = 0; i < count; i++) {
		way = way_of(&all[i]);
		if (way)
			way->take_back();
	}
	orders->done = 1;
	exit_process(0);
}

void withdraw_before_confine(const struct policy *all, unsigned int count)
{
	unsigned int i, any = 0;
	long memory;

	for (i = 0; i < count; i++)
		any |= all[i].withdrawn;
	if (!any)
		return;
	memory = SYS(mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if ((unsigned long)memory > -4096ul)
		fatal("memory for who takes policies back: %s (%ld)", errno_name(memory),
		      -memory);
	orders = (volatile struct orders *)memory;
	child = SYS(fork);
	if (child < 0)
		fatal("fork: %s (%ld)", errno_name(child), -child);
	if (!child)
		wait_and_take_back(all, count);
}

void withdraw(const struct policy *all, unsigned int count)
{
	const struct way *way;
	unsigned int i;
	long fd;

	if (!orders)
		return;
	orders->begin = 1;
	while (SYS(wait4, child, NULL, 0, NULL) == -EINTR)
		;
	if (orders->error < 0)
		fatal("taking a policy back: %s: %s (%ld)", (const char *)orders->what,
		      errno_name(orders->error), -orders->error);
	if (!orders->done)
		fatal("taking a policy back: who should do it has died");
	SYS(munmap, orders, 4096);
	orders = NULL;
	for (i = 0; i < count; i++) {
		way = way_of(&all[i]);
		if (!way)
			continue;
		step("%s: who is not under the policy %s", way->module, way->taken_back);
		fd = way->again();
		prove_allowed(&all[i], way->what, fd);
		sys_close(fd);
	}
}
