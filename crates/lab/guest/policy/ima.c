// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IMA: measures what `ima_policy=tcb` measures (dont_measure_rules and
 * default_measurement_rules of security/integrity/ima/ima_policy.c), the file
 * system that is worked on included, and appraises each file of it: one whose
 * security.ima is missing or not its hash cannot be opened. The kernel gives a file
 * its hash when who wrote it closes it.
 *
 * One rule a write(), all on one descriptor; they are in force when it is closed.
 */
#include "../policy.h"

#define IMA		"/sys/kernel/security/ima/"
#define ATTRIBUTE	"security.ima"
#define FIRST_UID	100001u

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

	if (n < 0)
		fatal("ima: writing \"%s\" to " IMA "policy: %s (%ld)", rule,
		      errno_name(n), -n);
}

static void write_shown(long fd, const char *action, const char *conditions)
{
	char rule[128];

	format(rule, sizeof(rule), "%s %s", action, conditions);
	write_rule(fd, rule);
	step("ima: wrote to " IMA "policy: %s", rule);
}

static void load(const struct policy *p)
{
	char rule[128];
	unsigned int i;
	long fd, err;

	fd = sys_open(IMA "policy", O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		fatal("ima: opening " IMA "policy: %s (%ld)", errno_name(fd), -fd);
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
	err = sys_close(fd);
	if (err < 0)
		fatal("ima: closing " IMA "policy: %s (%ld)", errno_name(err), -err);
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

	if (err < 0)
		fatal("ima: making ./%s: %s (%d)", path, errno_name(err), -err);
}

static void prove(const struct policy *p)
{
	const struct digest wrong = { .type = 4, .algorithm = 4 };
	static const char *const files[] = { WRONG, MISSING, RIGHT };
	unsigned int i;
	u32 before, after;
	long fd, err;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		make(files[i]);
	err = SYS(setxattr, WRONG, ATTRIBUTE, &wrong, sizeof(wrong), 0);
	if (err == 0)
		err = SYS(removexattr, MISSING, ATTRIBUTE);
	if (err < 0)
		fatal("ima: changing " ATTRIBUTE ": %s (%ld)", errno_name(err), -err);
	before = measurements();
	fd = sys_open(WRONG, O_RDONLY | O_CLOEXEC, 0);
	prove_denied(p, "open of ./" WRONG ", whose " ATTRIBUTE " is not its hash", fd,
		     -EACCES);
	fd = sys_open(MISSING, O_RDONLY | O_CLOEXEC, 0);
	prove_denied(p, "open of ./" MISSING ", which has no " ATTRIBUTE, fd, -EACCES);
	fd = sys_open(RIGHT, O_RDONLY | O_CLOEXEC, 0);
	prove_allowed(p, "open of ./" RIGHT ", whose " ATTRIBUTE " its close has set", fd);
	sys_close(fd);
	after = measurements();
	if (after <= before)
		fatal("ima: three files were opened, and " IMA
		      "runtime_measurements_count stays at %u", before);
	step("ima: measured: " IMA "runtime_measurements_count went from %u to %u",
	     before, after);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		err = sys_unlink(files[i]);
		if (err < 0)
			fatal("ima: unlink of ./%s: %s (%ld)", files[i],
			      errno_name(err), -err);
	}
}

POLICY_MODULE(ima) = {
	.name = "ima",
	.load = load,
	.prove = prove,
};
