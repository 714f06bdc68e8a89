// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IMA: measures the same as `ima_policy=tcb` (dont_measure_rules and default_measurement_rules of
 * security/integrity/ima/ima_policy.c), including the measured file system, and appraises each of
 * its files: a file whose security.ima is missing or is not its hash cannot be opened. The kernel
 * sets a file's hash when its writer closes it.
 *
 * Each rule is written with its own write(), all to one descriptor; closing it puts the rules into
 * force.
 *
 * Alternatively, the kernel was booted with built-in policies: ima_policy=tcb measures everything
 * that root reads, except on tmpfs and similar file systems, and appraise_tcb appraises root's
 * files.
 *
 * Alternatively, custom rules are written once the files that check them exist.
 */
#include "../policy.h"
#include "../settings/given.h"
#include "../settings/signed.h"

#define IMA		"/sys/kernel/security/ima/"
#define ATTRIBUTE	"security.ima"
#define FIRST_UID	100001u

/* From the key ima_policy. If none is set, written rules do both. */
#define KERNEL_TCB		1u
#define KERNEL_APPRAISE_TCB	2u

#define WRONG		"ima-wrong"
#define MISSING		"ima-missing"
#define RIGHT		"ima-right"

static const char *const not_measured[] = {
	"fsmagic=0x9fa0",	/* proc */
	"fsmagic=0x62656572",	/* sysfs */
	"fsmagic=0x64626720",	/* debugfs */
	"fsmagic=0x1cd1",	/* devpts */
	"fsmagic=0x42494e4d",	/* binfmt_misc */
	"fsmagic=0x73636673",	/* securityfs */
	"fsmagic=0xf97cff8c",	/* selinuxfs */
	"fsmagic=0x43415d53",	/* smackfs */
	"fsmagic=0x27e0eb",	/* cgroup */
	"fsmagic=0x63677270",	/* cgroup2 */
	"fsmagic=0x6e736673",	/* nsfs */
	"fsmagic=0xde5e81e4",	/* efivarfs */
	"fsname=devtmpfs",
};

static const char *const measured[] = {
	"func=MMAP_CHECK mask=MAY_EXEC",
	"func=BPRM_CHECK mask=MAY_EXEC",
	"func=FILE_CHECK mask=^MAY_READ euid=0",
	"func=FILE_CHECK mask=^MAY_READ uid=0",
	"func=MODULE_CHECK",
	"func=FIRMWARE_CHECK",
};

/* security.ima of a file with a hash: type, algorithm, digest. */
struct digest {
	u8 type;	/* IMA_XATTR_DIGEST_NG */
	u8 algorithm;	/* HASH_ALGO_SHA256 */
	u8 hash[32];
};

static void write_rule(long fd, const char *rule)
{
	long n = sys_write(fd, rule, strlen(rule));

	or_fatal(n, "ima: writing \"%s\" to " IMA "policy", rule);
}

static void write_shown(long fd, const char *action, const char *conditions)
{
	char rule[128];

	format(rule, sizeof(rule), "%s %s", action, conditions);
	write_rule(fd, rule);
	step("ima: wrote to " IMA "policy: %s", rule);
}

static long open_policy(void)
{
	long fd = sys_open(IMA "policy", O_WRONLY | O_CLOEXEC, 0);

	or_fatal(fd, "ima: opening " IMA "policy");
	return fd;
}

static void close_policy(long fd)
{
	long err = sys_close(fd);

	or_fatal(err, "ima: closing " IMA "policy");
}

static void load(const struct policy *p)
{
	char rule[128];
	unsigned int i;
	long fd;

	if (p->given)
		return;
	if (p->ima_policy) {
		if (!strcmp(experiment.fs, "tmpfs"))
			fatal("ima: the kernel's own policies leave out tmpfs: measure on "
			      "another file system");
		return;
	}
	fd = open_policy();
	for (i = 0; i < p->rules; i++) {
		format(rule, sizeof(rule), "dont_measure func=FILE_CHECK fowner=%u",
		       FIRST_UID + i);
		write_rule(fd, rule);
	}
	if (p->rules)
		step("ima: wrote to " IMA "policy, before all others, %u rules "
		     "dont_measure func=FILE_CHECK fowner=%u, and so on up to %u",
		     p->rules, FIRST_UID, FIRST_UID + p->rules - 1);
	for (i = 0; i < ARRAY_SIZE(not_measured); i++)
		write_shown(fd, "dont_measure", not_measured[i]);
	for (i = 0; i < ARRAY_SIZE(measured); i++)
		write_shown(fd, "measure", measured[i]);
	format(rule, sizeof(rule), "func=FILE_CHECK fsname=%s", experiment.fs);
	write_shown(fd, "appraise", rule);
	close_policy(fd);
}

static long given_fd;
static u32 given_count;

static void write_given(const struct policy *p, char *rule)
{
	(void)p;
	write_rule(given_fd, rule);
	given_count++;
}

static void hash_file(const char *path)
{
	/* Of an empty file, as these files are. */
	static const struct digest empty = {
		.type = 4, .algorithm = 4,
		.hash = {
			0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14,
			0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
			0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c,
			0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
		},
	};
	int is_signed = sign_file(path, 0) == 0;
	long err = is_signed ? 0 : SYS(setxattr, path, ATTRIBUTE, &empty, sizeof(empty), 0);

	/* Without such attributes, no file is appraised by them. */
	if (err < 0 && err != -EOPNOTSUPP)
		fatal("ima: setting " ATTRIBUTE " of %s: %s (%ld)", path, errno_name(err), -err);
	if (!err)
		step("ima: " ATTRIBUTE " of %s is its %s", path, is_signed ?
		     "signature (evmctl ima_sign -a sha256)" :
		     "hash (evmctl ima_hash -a sha256)");
}

static void label(const struct policy *p)
{
	if (!p->given || programs)
		return;
	signed_start();
	given_passing_files(p, hash_file);
}

/* Custom rules are in force for all tasks from here on. */
static void confine(const struct policy *p)
{
	u64 began_ns;

	if (!p->given)
		return;
	began_ns = busy_ns();
	given_fd = open_policy();
	given_lines(p, "rules", write_given);
	close_policy(given_fd);
	step_took("ima", "loading", busy_ns() - began_ns);
	step("ima: wrote %u rules to " IMA "policy", given_count);
}

/* Whether a line of the list has this path, between blanks or at the end. */
static int names(const char *line, const char *path)
{
	const char *at, *of;

	for (; *line; line++) {
		if (*line != ' ')
			continue;
		/* The list contains _ instead of blanks. */
		for (at = line + 1, of = path; *of && *at == (*of == ' ' ? '_' : *of); at++)
			of++;
		if (!*of && (!*at || *at == ' '))
			return 1;
	}
	return 0;
}

static int has_measured(const char *path)
{
	static char text[8192];
	size_t held = 0, start, end;
	int found = 0;
	long fd, n;

	fd = open_own(IMA "ascii_runtime_measurements", O_RDONLY);
	or_fatal(fd, "ima: opening " IMA "ascii_runtime_measurements");
	while (!found && (n = sys_read(fd, text + held, sizeof(text) - 1 - held)) > 0) {
		held += n;
		for (start = end = 0; end < held; end++) {
			if (text[end] != '\n')
				continue;
			text[end] = '\0';
			found |= names(text + start, path);
			start = end + 1;
		}
		held -= start;
		memmove(text, text + start, held);
		/* The kernel's lines are shorter. */
		if (held == sizeof(text) - 1)
			held = 0;
	}
	sys_close(fd);
	return found;
}

static u32 measurements(void)
{
	static const char path[] = IMA "runtime_measurements_count";
	char text[16], *end;
	u32 count = 0;

	read_text(path, text, sizeof(text));
	for (end = text; *end && *end != '\n'; end++)
		;
	*end = '\0';
	if (parse_u32(text, ~0u, &count))
		fatal("ima: %s holds no number: %s", path, text);
	return count;
}

static void make(const char *path)
{
	int err = make_file(path, 1);

	or_fatal(err, "ima: making ./%s", path);
}

static void discard(const char *path)
{
	long err = sys_unlink(path);

	or_fatal(err, "ima: unlink of ./%s", path);
}

/* An access that appraisal denies. */
static void prove_appraised(const struct policy *p)
{
	const struct digest wrong = { .type = 4, .algorithm = 4 };
	long fd, err;

	make(WRONG);
	make(MISSING);
	err = SYS(setxattr, WRONG, ATTRIBUTE, &wrong, sizeof(wrong), 0);
	if (err == 0)
		err = SYS(removexattr, MISSING, ATTRIBUTE);
	or_fatal(err, "ima: changing " ATTRIBUTE);
	fd = sys_open(WRONG, O_RDONLY | O_CLOEXEC, 0);
	prove_denied(p, "open of ./" WRONG ", whose " ATTRIBUTE " is not its hash", fd,
		     -EACCES);
	fd = sys_open(MISSING, O_RDONLY | O_CLOEXEC, 0);
	prove_denied(p, "open of ./" MISSING ", which has no " ATTRIBUTE, fd, -EACCES);
	discard(WRONG);
	discard(MISSING);
}

static void prove(const struct policy *p)
{
	const int measures = !p->ima_policy || p->ima_policy & KERNEL_TCB;
	const int appraises = !p->ima_policy || p->ima_policy & KERNEL_APPRAISE_TCB;
	u32 before = measurements(), after;
	long fd;

	if (appraises)
		prove_appraised(p);
	make(RIGHT);
	fd = sys_open(RIGHT, O_RDONLY | O_CLOEXEC, 0);
	prove_allowed(p, appraises ? "open of ./" RIGHT ", whose " ATTRIBUTE
				     " its close has set" : "open of ./" RIGHT, fd);
	sys_close(fd);
	discard(RIGHT);
	after = measurements();
	if (measures != (after > before))
		fatal("ima: files were opened, and " IMA "runtime_measurements_count went "
		      "from %u to %u", before, after);
	step("ima: %s: " IMA "runtime_measurements_count went from %u to %u",
	     measures ? "measured" : "not measured", before, after);
}

POLICY_MODULE(ima) = {
	.name = "ima",
	.load = load,
	.prove = prove,
	.global = 1,
	.label = label,
	.confine = confine,
	.has_measured = has_measured,
};
