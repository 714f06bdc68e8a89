// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files for the benchmark denied-open. They are in the working directory, and thus on the measured
 * file system. The benchmark opens them through a bind mount elsewhere, so that policies for the
 * working directory need no change, and Landlock can distinguish them. Landlock can allow
 * everything below a directory, but cannot exclude a part of it.
 *
 * A module's denials are checked by time: its files can be opened before its policy is in force,
 * but not afterwards. If several modules deny a file, the first one in the kernel's list returns
 * the error, because all modules that check paths do so in file_open.
 */
#include "../bench.h"
#include "../getdents.h"
#include "../policy.h"
#include "../denials.h"

#define MS_BIND		4096
#define HERE		"denials"
#define GRANTED		DENIALS "/granted"
#define REFUSED		DENIALS "/refused"
#define LSM		"/sys/kernel/security/lsm"
#define NAME_AT		(sizeof(GRANTED "/") - 1)
#define BY_DIRECTORY	4

static const struct denier {
	const char *module;
	unsigned int at;	/* its letter's position in the name, or BY_DIRECTORY */
	char letter;
	long error;
} deniers[] = {
	{ "apparmor", 0, 'a', -EACCES },
	{ "tomoyo", 1, 't', -EPERM },
	{ "selinux", 2, 's', -EACCES },
	{ "smack", 3, 'm', -EACCES },
	{ "landlock", BY_DIRECTORY, '\0', -EACCES },
};

static const char *const files[] = {
	GRANTED "/----", GRANTED "/a---", GRANTED "/-t--", GRANTED "/at--",
	GRANTED "/--s-", GRANTED "/---m", REFUSED "/----", REFUSED "/a---",
	REFUSED "/-t--",
};

static char stack[1024];	/* the kernel's list; empty: no files were made */
static u32 confined;		/* bits of deniers[] */
static char root[2048];		/* paths of the entries of /, except DENIALS, each with a NUL */

static int denies(const struct denier *d, const char *path)
{
	if (d->at == BY_DIRECTORY)
		return !strncmp(path, REFUSED, sizeof(REFUSED) - 1);
	return path[NAME_AT + d->at] == d->letter;
}

/* Position of a module in the kernel's list; past its end if missing. */
static size_t place_of(const char *module)
{
	size_t len = strlen(module), at = 0;

	while (stack[at]) {
		if (!strncmp(stack + at, module, len) &&
		    (stack[at + len] == ',' || !stack[at + len]))
			return at;
		while (stack[at] && stack[at++] != ',')
			;
	}
	return at;
}

/* The error of the first module that denies the file; 0 if none does. */
static long error_of(const char *path)
{
	size_t first = strlen(stack), place;
	long error = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(deniers); i++) {
		place = place_of(deniers[i].module);
		if (!(confined & 1u << i) || !denies(&deniers[i], path) || place >= first)
			continue;
		first = place;
		error = deniers[i].error;
	}
	return error;
}

int denials_expect(struct cell *c, const char *path, long *expected)
{
	char reason[96];
	unsigned int i;

	if (!stack[0])
		return unsupported(c, DENIALS_WANTED, 0);
	for (i = 0; i < ARRAY_SIZE(deniers); i++) {
		if (!denies(&deniers[i], path) || confined & 1u << i)
			continue;
		format(reason, sizeof(reason), "%s, which is to deny this file, has no policy here",
		       deniers[i].module);
		return unsupported(c, reason, 0);
	}
	*expected = error_of(path);
	return 0;
}

static void fail(const char *what, const char *path, long err)
{
	fatal("denials: %s %s: %s (%ld)", what, path, errno_name(err), -err);
}

static void prove_each(const char *when)
{
	unsigned int i;
	long fd, error;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		error = error_of(files[i]);
		fd = sys_open(files[i], O_RDONLY | O_CLOEXEC, 0);
		if (fd >= 0) {
			sys_close(fd);
			fd = 0;
		}
		if (fd != error)
			fatal("denials: %s open of %s for reading gave %ld instead of %ld",
			      when, files[i], fd, error);
	}
}

/* Until now, files that only this module denies could be opened. */
static void tell(const struct denier *d)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (denies(d, files[i]) && error_of(files[i]) == d->error)
			step("%s: denied from now on: open of %s for reading: %s (%ld)", d->module,
			     files[i], errno_name(d->error), -d->error);
}

void denials_confined(const struct policy *p)
{
	unsigned int i;

	if (!stack[0])
		return;
	if (!p) {
		prove_each("without a policy, ");
		step("denials: allowed without a policy: open of each for reading");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(deniers); i++) {
		if (strcmp(deniers[i].module, p->module->name) || p->state != POLICY_ENFORCING)
			continue;
		confined |= 1u << i;
		prove_each(p->module->name);
		tell(&deniers[i]);
	}
}

void denials_label(const struct policy *p, const char *attribute, const char *allowed,
		   const char *denied)
{
	static const char *const dirs[] = { DENIALS, GRANTED, REFUSED };
	const char *path, *label;
	unsigned int i, d;
	long err;

	for (d = 0; strcmp(deniers[d].module, p->module->name); d++)
		;
	for (i = 0; i < ARRAY_SIZE(dirs) + ARRAY_SIZE(files); i++) {
		path = i < ARRAY_SIZE(dirs) ? dirs[i] : files[i - ARRAY_SIZE(dirs)];
		label = i >= ARRAY_SIZE(dirs) && denies(&deniers[d], path) ? denied : allowed;
		err = SYS(lsetxattr, path, attribute, label, strlen(label), 0);
		if (err < 0)
			fail("labelling", path, err);
	}
	step("%s: %s=%s on " DENIALS " and all below, and %s on what it denies",
	     p->module->name, attribute, allowed, denied);
}

/* Runs while no policy prevents it. */
static void list_root(void)
{
	char records[1024] __attribute__((aligned(8)));
	const struct dirent64 *entry;
	long fd, n, at;
	size_t len = 0;

	fd = sys_open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	while ((n = fd < 0 ? fd : SYS(getdents64, fd, records, sizeof(records))) > 0) {
		for (at = 0; at < n; at += entry->d_reclen) {
			entry = dirent_at(records, n, at);
			if (!entry || len + strlen(entry->d_name) + 3 > sizeof(root))
				fatal("denials: / has too many entries, or a broken one");
			if (is_dot_or_dotdot(entry->d_name) ||
			    !strcmp(entry->d_name, DENIALS + 1))
				continue;
			len += 1 + format(root + len, sizeof(root) - len, "/%s", entry->d_name);
		}
	}
	if (n < 0)
		fail("listing", "/", n);
	sys_close(fd);
}

void denials_readable(void (*add)(long ruleset, const char *path), long ruleset)
{
	const char *path;

	for (path = root; *path; path += strlen(path) + 1)
		add(ruleset, path);
	add(ruleset, GRANTED);
}

/*
 * Runs before other modules label files, because modules are called in the order of the
 * directives.
 */
static void make(const struct policy *p __attribute__((unused)))
{
	unsigned int i;
	long err;

	if (read_text(LSM, stack, sizeof(stack)) <= 0)
		fatal("denials: " LSM " cannot be read");
	err = sys_mkdir(HERE, 0755);
	if (err >= 0)
		err = sys_mkdir(DENIALS, 0755);
	if (err >= 0)
		err = SYS(mount, HERE, DENIALS, NULL, MS_BIND, NULL);
	if (err < 0)
		fail("mounting ./" HERE " on", DENIALS, err);
	list_root();
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		err = make_dirs(files[i]);
		if (err >= 0)
			err = make_file(files[i], 0);
		if (err < 0)
			fail("making", files[i], err);
	}
	step("denials: made %lu empty files in ./" HERE ", mounted on " DENIALS " (mount --bind)",
	     ARRAY_SIZE(files));
}

POLICY_MODULE(denials) = {
	.name = "denials",
	.label = make,
};
