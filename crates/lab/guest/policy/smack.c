// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Smack: subjects and objects have labels, and rules define the access of a subject to an object
 * (Documentation/admin-guide/LSM/Smack.rst). The working directory is labelled and passes its
 * label on (SMACK64TRANSMUTE). So every access by the agent is from its label to another one, and
 * a rule decides.
 */
#include <linux/capability.h>
#include <linux/prctl.h>
#include "../policy.h"
#include "../denials.h"
#include "../settings/given.h"

#define SMACKFS		"/sys/fs/smackfs"
#define AGENT		"lsmeter"
#define WORK		"lsmeter-work"
#define SECRET		"lsmeter-secret"
/* This is a separate file system, because nobody could unlink the file under the policy. */
#define PROOF		"/smack"
#define DENIED		PROOF "/denied"
#define ALLOWED		"smack-allowed"
#define RULES_MAX	(64u << 20)
#define LABEL_MAX	258	/* SMK_LONGLABEL, and a newline */
/* Custom policy: the label of the files' creator, which its directory passes on. */
#define OUTSIDE		"lsmeter-agent"
#define CURRENT		"/proc/self/attr/current"

static void set_label(const char *path, const char *attribute, const char *value)
{
	long err = SYS(setxattr, path, attribute, value, strlen(value), 0);

	or_fatal(err, "smack: setting %s of %s to %s", attribute, path, value);
}

/* Writes whole lines, less than a page at a time, which is the limit of load2. */
static size_t load_rules(void)
{
	static char text[4096];
	long in, out, n, end, written;
	size_t total = 0, held = 0;

	in = sys_open(POLICY_DIR "smack/rules", O_RDONLY | O_CLOEXEC, 0);
	out = sys_open(SMACKFS "/load2", O_WRONLY | O_CLOEXEC, 0);
	if (in < 0 || out < 0)
		fatal("smack: opening the rules and load2: %ld, %ld", in, out);
	while ((n = sys_read(in, text + held, sizeof(text) - 1 - held)) > 0) {
		held += n;
		for (end = held; end && text[end - 1] != '\n'; end--)
			;
		written = sys_write(out, text, end);
		if (!end || written != end)
			fatal("smack: writing rules to load2: %s (%ld)",
			      errno_name(written), -written);
		total += end;
		memcpy(text, text + end, held - end);
		held -= end;
		if (total > RULES_MAX)
			fatal("smack: more than %u bytes of rules", RULES_MAX);
	}
	if (n < 0 || held)
		fatal("smack: the rules cannot be read whole");
	sys_close(in);
	sys_close(out);
	return total;
}

static void bring_up(const char *label)
{
	write_line(SMACKFS "/unconfined", label);
	step("smack: wrote %s to " SMACKFS "/unconfined: bring-up mode", label);
}

static void bring_up_given(const struct policy *p)
{
	char label[LABEL_MAX];

	if (p->state == POLICY_PERMISSIVE)
		bring_up(given_line(p, "label", label, sizeof(label)));
}

/* A label, and the path that gets it. */
static void label_path(const struct policy *p, char *line)
{
	char *path = line, full[1700];

	(void)p;
	while (*path && *path != ' ')
		path++;
	if (*path)
		*path++ = '\0';
	format(full, sizeof(full), "%s%s", programs ? experiment.dir : "", path);
	set_label(full, "security.SMACK64", line);
	step("smack: security.SMACK64=%s on %s", line, path);
}

#define ANYBODY		"*"	/* Smack's label for objects that anyone may access */

/* The label of the programs' files. */
static const char *files_label(const struct policy *p)
{
	static char label[LABEL_MAX];

	if (!p->given)
		return WORK;
	return given_line(p, "files-label", label, sizeof(label));
}

static const char *root_option(const struct policy *p)
{
	static char option[LABEL_MAX + 16];

	if (p->state == POLICY_NONE)
		return "";
	format(option, sizeof(option), "smackfsdef=%s", files_label(p));
	return option;
}

static const char *copied_label(const struct policy *p, const char **attribute)
{
	*attribute = "security.SMACK64";
	return p->state == POLICY_NONE ? NULL : files_label(p);
}

/* Objects made in the root before it had a label have the kernel's, which nobody may write. */
static void label_programs(const struct policy *p)
{
	static const char *const writable[] = { "tmp", "dev", "dev/shm" };
	const char *work = files_label(p);
	char path[1100];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(writable); i++) {
		set_label(writable[i], "security.SMACK64", work);
		set_label(writable[i], "security.SMACK64TRANSMUTE", "TRUE");
	}
	for (i = 0; program_device(i, path, sizeof(path)); i++)
		set_label(path, "security.SMACK64", ANYBODY);
	step("smack: security.SMACK64=%s and SMACK64TRANSMUTE=TRUE on the root's /tmp, "
	     "/dev and /dev/shm, SMACK64=" ANYBODY " on its devices", work);
}

/*
 * The agent has its own label, with a single rule, for the working directory: new files there,
 * including each measurement's directory, pass the label on.
 */
static void label_given(const struct policy *p)
{
	char label[LABEL_MAX];

	if (programs)
		label_programs(p);
	given_lines(p, "labels", label_path);
	given_line(p, "files-label", label, sizeof(label));
	set_label(".", "security.SMACK64", label);
	set_label(".", "security.SMACK64TRANSMUTE", "TRUE");
	write_line(CURRENT, OUTSIDE);
	step("smack: security.SMACK64=%s and SMACK64TRANSMUTE=TRUE on the working directory; "
	     "the agent has the label " OUTSIDE, label);
}

/* Makes the child create files as the confined subject, with all permissions. */
static void enter(const struct policy *p)
{
	char label[LABEL_MAX];

	write_line(CURRENT, given_line(p, "label", label, sizeof(label)));
}

/* The label of a file, or of its directory if it does not exist; empty if it is not a path. */
static void label_of(const char *path, char *label, size_t size)
{
	char copy[640];
	size_t end;
	long n;

	label[0] = '\0';
	if (*path != '/')
		return;
	end = format(copy, sizeof(copy), "%s", path);
	n = SYS(lgetxattr, copy, "security.SMACK64", label, size - 1);
	if (n == -ENOENT) {
		while (end > 1 && copy[end - 1] != '/')
			end--;
		copy[end] = '\0';
		n = SYS(lgetxattr, copy, "security.SMACK64", label, size - 1);
	}
	or_fatal(n, "smack: security.SMACK64 of %s", copy);
	label[n] = '\0';
}

/* Accesses allowed by bring-up mode are in the kernel log, with both labels. */
static void prove_noticed(const struct policy *p, const char *access, const char *path)
{
	char subject[LABEL_MAX], object[LABEL_MAX], text[2 * LABEL_MAX + 32];

	(void)access;
	given_line(p, "label", subject, sizeof(subject));
	label_of(path, object, sizeof(object));
	format(text, sizeof(text), "Smack Unconfined Subject: (%s %s", subject, object);
	prove_logged(p, text, "");
}

static void load(const struct policy *p)
{
	u64 began_ns;
	size_t bytes;
	long err;

	if (p->state == POLICY_NONE)
		return;
	err = SYS(mount, "smackfs", SMACKFS, "smackfs", 0, NULL);
	if (err < 0 && err != -EBUSY)
		fatal("mounting smackfs on " SMACKFS ": %s (%ld)", errno_name(err), -err);
	began_ns = busy_ns();
	bytes = load_rules();
	step_took("smack", "loading", busy_ns() - began_ns);
	step("smack: mounted smackfs, wrote the rules (%lu bytes) to " SMACKFS "/load2", bytes);
	if (p->given) {
		bring_up_given(p);
		return;
	}
	sys_mkdir(PROOF, 0755);
	err = SYS(mount, "tmpfs", PROOF, "tmpfs", 0, NULL);
	if (err >= 0)
		err = make_file(DENIED, 1);
	or_fatal(err, "making " DENIED);
	set_label(DENIED, "security.SMACK64", SECRET);
	step("smack: security.SMACK64=" SECRET " on " DENIED);
	if (p->state == POLICY_PERMISSIVE)
		bring_up(AGENT);
}

static void label(const struct policy *p)
{
	if (p->state == POLICY_NONE)
		return;
	if (p->given) {
		label_given(p);
		return;
	}
	if (programs)
		label_programs(p);
	set_label(".", "security.SMACK64", WORK);
	set_label(".", "security.SMACK64TRANSMUTE", "TRUE");
	step("smack: security.SMACK64=" WORK " and SMACK64TRANSMUTE=TRUE on the "
	     "working directory");
	if (p->denials) {
		write_line(SMACKFS "/logging", "0");
		step("smack: wrote 0 to " SMACKFS "/logging");
		denials_label(p, "security.SMACK64", WORK, SECRET);
	}
}

/* This capability lets root pass every rule; an execve would restore it. */
static void drop_override(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	long err;

	err = SYS(prctl, PR_CAPBSET_DROP, CAP_MAC_OVERRIDE, 0, 0, 0);
	if (err == 0)
		err = SYS(capget, &header, data);
	if (err == 0) {
		data[1].effective &= ~CAP_TO_MASK(CAP_MAC_OVERRIDE);
		data[1].permitted &= ~CAP_TO_MASK(CAP_MAC_OVERRIDE);
		data[1].inheritable &= ~CAP_TO_MASK(CAP_MAC_OVERRIDE);
		err = SYS(capset, &header, data);
	}
	or_fatal(err, "smack: dropping CAP_MAC_OVERRIDE");
}

static void confine(const struct policy *p)
{
	char label[LABEL_MAX] = AGENT;

	if (p->state == POLICY_NONE)
		return;
	if (p->given)
		given_line(p, "label", label, sizeof(label));
	write_line(CURRENT, label);
	drop_override();
	step("smack: wrote %s to " CURRENT "; dropped CAP_MAC_OVERRIDE", label);
}

static void start(const struct policy *p)
{
	char label[LABEL_MAX];

	write_line(CURRENT, given_line(p, "start", label, sizeof(label)));
	drop_override();
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
		prove_logged(p, "Smack Unconfined Subject: (" AGENT " " SECRET " r)", "");
		sys_close(fd);
	}
	prove_own_file(p, ALLOWED);
}

POLICY_MODULE(smack) = {
	.name = "smack",
	.root_option = root_option,
	.copied_label = copied_label,
	.load = load,
	.label = label,
	.confine = confine,
	.start = start,
	.subject_file = "current",
	.prove = prove,
	.enter = enter,
	.prove_noticed = prove_noticed,
};
