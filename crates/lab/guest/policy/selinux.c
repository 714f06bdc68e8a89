// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SELinux: the host compiled a policy and names its contexts; the agent labels files, and enters a
 * domain with /proc/self/attr/current.
 *
 * The policy is loaded before the measured file system is mounted: earlier mounts are labelled only
 * by their file system type. Everything until the agent enters the domain happens in the kernel's
 * own domain and in permissive mode, in which kernels with CONFIG_SECURITY_SELINUX_DEVELOP start.
 */
#include "../policy.h"

#include "../denials.h"
#include "../settings/decisions.h"
#include "../settings/given.h"
#include "../settings/labels.h"

#define FILES		POLICY_DIR "selinux/"
#define ATTRIBUTE	"security.selinux"
#define FSCREATE	"/proc/self/attr/fscreate"
#define CONTEXT_MAX	256

#define DENIED		"selinux-denied"
#define ALLOWED		"selinux-allowed"

#define CONTEXTS_MAX	32768	/* with the labels for proofs of a custom policy */
static char contexts[CONTEXTS_MAX];	/* the host's file, as lines of words */
static char work[CONTEXT_MAX], denied[CONTEXT_MAX], agent[CONTEXT_MAX];
/*
 * At each change of `enforce` the kernel serialises the policy, for IMA to measure it: tens of
 * millions of instructions. A custom policy can stay enforced between measurements if it never
 * denies accesses of the kernel's own domain, in which unconfined tasks run.
 */
static int own_is_permissive, stays_enforced;

/* As in the policy's header (policydb_read() of security/selinux/ss/policydb.c). */
static u32 policy_version(void)
{
	struct __attribute__((packed)) {
		u32 magic;
		u32 length;
		char name[8];
		u32 version;
	} head;
	long fd, n;

	fd = sys_open(FILES "policy", O_RDONLY | O_CLOEXEC, 0);
	or_fatal(fd, "selinux: opening " FILES "policy");
	n = sys_read(fd, &head, sizeof(head));
	sys_close(fd);
	if (n != sizeof(head) || head.magic != 0xf97cff8c || head.length != 8 ||
	    memcmp(head.name, "SE Linux", 8))
		fatal("selinux: " FILES "policy is not a binary policy of the kernel");
	return head.version;
}

static void load_policy(void)
{
	u32 version = policy_version(), newest = 0;
	char text[16];
	size_t bytes;
	u64 began_ns;

	read_text(SELINUXFS "/policyvers", text, sizeof(text));
	if (parse_u32(text, ~0u, &newest) || newest < version)
		fatal("selinux: the policy has version %u, this kernel takes up to %s",
		      version, text);
	began_ns = busy_ns();
	bytes = copy_whole(FILES "policy", SELINUXFS "/load");
	step_took("selinux", "loading", busy_ns() - began_ns);
	step("selinux: wrote the policy of version %u, %lu bytes, to "
	     SELINUXFS "/load", version, bytes);
}

static const char *root_option(const struct policy *p)
{
	static char option[CONTEXT_MAX + 16];
	const char *at;
	size_t n;

	if (p->state == POLICY_NONE)
		return "";
	read_text(FILES "contexts", contexts, sizeof(contexts));
	for (at = contexts; *at && strncmp(at, "\nwork ", 6); at++)
		;
	at += *at ? 6 : 0;
	for (n = 0; at[n] && at[n] != '\n'; n++)
		;
	if (!n || n >= CONTEXT_MAX)
		fatal("selinux: " FILES "contexts says no context of work");
	/* Files on a tmpfs start without labels, and take their directory's. */
	format(option, sizeof(option), "%scontext=",
	       strcmp(experiment.fs, "tmpfs") ? "def" : "root");
	memcpy(option + strlen(option), at, n);
	return option;
}

/* A name, and 1 or 0. */
static void set_boolean(const struct policy *p, char *line)
{
	char path[CONTEXT_MAX + 64], *value = line;

	(void)p;
	while (*value && *value != ' ')
		value++;
	if (*value)
		*value++ = '\0';
	format(path, sizeof(path), SELINUXFS "/booleans/%s", line);
	write_line(path, value);
	step("selinux: wrote %s to %s", value, path);
}

/*
 * SELinux is permissive during this, so that the policy need not allow the kernel's own domain to
 * load another policy.
 */
static long load_again(const struct policy *p, u32 round)
{
	char mode[4] = "";
	int enforcing;
	long err;

	(void)p;
	(void)round;
	enforcing = read_text(SELINUXFS "/enforce", mode, sizeof(mode)) > 0 && mode[0] == '1';
	err = enforcing ? put_whole(SELINUXFS "/enforce", "0", 1) : 0;
	if (err >= 0)
		err = put_copy(FILES "policy", SELINUXFS "/load");
	return err < 0 || !enforcing ? err : put_whole(SELINUXFS "/enforce", "1", 1);
}

/* The policy need not allow the child to enter its domain. */
static void release(const struct policy *p)
{
	if (p->state != POLICY_ENFORCING || stays_enforced)
		return;
	if (own_is_permissive) {
		/*
		 * The first confined child has written `enforce`, and the policy denies nothing to
		 * unconfined tasks.
		 */
		stays_enforced = 1;
		return;
	}
	write_line(SELINUXFS "/enforce", "0");
}

static void load(const struct policy *p)
{
	char text[16];
	long err;

	err = SYS(mount, "selinuxfs", SELINUXFS, "selinuxfs", 0, NULL);
	if (err < 0 && err != -EBUSY)
		fatal("selinux: mounting selinuxfs on " SELINUXFS
		      ": %s (%ld): does SELinux run?", errno_name(err), -err);
	if (p->avc_entries) {
		format(text, sizeof(text), "%u", p->avc_entries);
		write_line(SELINUXFS "/avc/cache_threshold", text);
		step("selinux: wrote %s to " SELINUXFS "/avc/cache_threshold", text);
	}
	if (p->state == POLICY_NONE)
		return;
	write_line(SELINUXFS "/enforce", "0");
	load_policy();
	if (p->given && SYS(access, FILES "booleans", 0) == 0) {
		given_lines(p, "booleans", set_boolean);
		write_line(SELINUXFS "/commit_pending_bools", "1");
	}
}

static char *next_word(char **rest)
{
	char *word = *rest, *end;

	while (*word == ' ')
		word++;
	for (end = word; *end && *end != ' '; end++)
		;
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static long set_label(const char *path, const char *context)
{
	/* The label includes its NUL, as with setfiles(8). */
	return SYS(lsetxattr, path, ATTRIBUTE, context, strlen(context) + 1, 0);
}

static void give_label(const char *path, const char *context)
{
	long err = set_label(path, context);

	or_fatal(err, "selinux: setting " ATTRIBUTE " of %s to %s", path, context);
	step("selinux: setfattr -n " ATTRIBUTE " -v %s %s", context, path);
}

static void keep(char *dst, const char *context)
{
	if (!*context || strlen(context) >= CONTEXT_MAX)
		fatal("selinux: " FILES "contexts: a context of %lu bytes",
		      strlen(context));
	memcpy(dst, context, strlen(context) + 1);
}

static void apply_line(char *line)
{
	char *rest = line, *word = next_word(&rest);

	if (!*word || *word == '#')
		return;
	if (!strcmp(word, "label")) {
		word = next_word(&rest);
		give_label(word, next_word(&rest));
	} else if (!strcmp(word, "work")) {
		keep(work, next_word(&rest));
	} else if (!strcmp(word, "denied")) {
		keep(denied, next_word(&rest));
	} else if (!strcmp(word, "agent")) {
		keep(agent, next_word(&rest));
	} else {
		fatal("selinux: " FILES "contexts: unknown word: %s", word);
	}
}

size_t fresh_context(char *dst, size_t size, const struct policy *p, u32 number)
{
	const char *level;
	int colons = 0;

	if (!p->given)
		return number < FRESH_LABELS ? label_context(dst, size, work, number) : 0;
	for (level = work; *level && colons < 3; level++)
		colons += *level == ':';
	/* A policy without levels and categories rejects such contexts. */
	if (number >= FRESH_CATEGORIES)
		return 0;
	return format(dst, size, "%s%s:c%u", work, colons < 3 ? ":s0" : "", number);
}

static void make(const char *path)
{
	int err = make_file(path, 1);

	or_fatal(err, "selinux: making ./%s", path);
}

/* Finds out whether the policy also confines the kernel's own domain. */
static void note_own_domain(void)
{
	char own[CONTEXT_MAX];

	if (read_text("/proc/self/attr/current", own, sizeof(own)) <= 0)
		return;
	own_is_permissive = decide(own, own, "process").flags & FLAG_PERMISSIVE;
	if (own_is_permissive)
		step("selinux: " SELINUXFS "/access says that %s is permissive", own);
}

static u32 labelled;

/* A context, and the path in the programs' root that gets it. */
static void label_in_root(const struct policy *p, char *line)
{
	char *path = line, full[5000];
	long err;

	(void)p;
	while (*path && *path != ' ')
		path++;
	if (*path)
		*path++ = '\0';
	format(full, sizeof(full), "%s%s", experiment.dir, path);
	err = set_label(full, line);
	/* Not all roots have all devices. */
	if (err == -ENOENT)
		return;
	or_fatal(err, "selinux: setting " ATTRIBUTE " of %s to %s", path, line);
	labelled++;
}

static void label_root(const struct policy *p)
{
	if (!given_has(p, "root-labels"))
		return;
	given_lines(p, "root-labels", label_in_root);
	step("selinux: setfiles: %u files of the root have the labels of file_contexts",
	     labelled);
}

static void label(const struct policy *p)
{
	char *line, *end;
	long n;

	if (p->state == POLICY_NONE)
		return;
	n = read_text(FILES "contexts", contexts, sizeof(contexts));
	if (n <= 0 || n == sizeof(contexts) - 1)
		fatal("selinux: " FILES "contexts cannot be read whole (%ld)", n);
	for (line = contexts; *line; line = end) {
		for (end = line; *end && *end != '\n'; end++)
			;
		if (*end)
			*end++ = '\0';
		apply_line(line);
	}
	if (!*work || !*agent || (!*denied && !p->given))
		fatal("selinux: " FILES "contexts says not all of work, denied, agent");
	give_label(".", work);
	if (p->given && programs)
		label_root(p);
	if (p->given) {
		note_own_domain();
		/*
		 * If the policy has levels, it would otherwise give the file the agent's level,
		 * which is the highest.
		 */
		write_line(FSCREATE, work);
		step("selinux: wrote %s to " FSCREATE ": what the agent makes has that label", work);
		return;
	}
	make(DENIED);
	give_label(DENIED, denied);
	if (p->denials)
		denials_label(p, ATTRIBUTE, work, denied);
}

static const char current[] = "/proc/self/attr/current";

static void confine(const struct policy *p)
{
	char text[CONTEXT_MAX];
	u64 began_ns;

	if (p->state == POLICY_NONE)
		return;
	/* A confined process labels files as its domain does. */
	if (p->given)
		write_line(FSCREATE, "\n");
	began_ns = busy_ns();
	write_line(current, agent);
	step_took("selinux", "entering the domain", busy_ns() - began_ns);
	if (read_text(current, text, sizeof(text)) < 0 || strcmp(text, agent))
		fatal("selinux: the agent wrote %s to %s, and runs as %s", agent,
		      current, text);
	step("selinux: wrote %s to %s: the agent runs as that", agent, current);
	if (p->state == POLICY_PERMISSIVE)
		return;
	if (stays_enforced)
		return;
	/* SELinux is still permissive here, so the domain needs no permission for this. */
	write_line(SELINUXFS "/enforce", "1");
	step("selinux: wrote 1 to " SELINUXFS "/enforce");
}

/*
 * The program's own domain opens the program, and its input and output, because few domains may
 * use the kernel's descriptors.
 */
static void start(const struct policy *p)
{
	char context[CONTEXT_MAX];

	write_line(FSCREATE, "\n");
	write_line(current, given_line(p, "start", context, sizeof(context)));
	if (p->state == POLICY_ENFORCING && !stays_enforced)
		write_line(SELINUXFS "/enforce", "1");
	given_open_standard_files();
}

/* The access passed; the kernel must report that enforcing mode would deny it. */
static void prove_noticed(long fd)
{
	u32 mask = permission_bit("file", "read");
	u32 on_denied = decide(agent, denied, "file").allowed;
	u32 on_work = decide(agent, work, "file").allowed;

	if (fd < 0)
		fatal("selinux: permissive, and open of ./" DENIED " gave %s (%ld)",
		      errno_name(fd), -fd);
	if (!mask || on_denied & mask || !(on_work & mask))
		fatal("selinux: permissive: the policy gives permissions %x on ./"
		      DENIED " and %x on ./" ALLOWED ", read being %x",
		      on_denied, on_work, mask);
	step("selinux: would be denied: open of ./" DENIED " for reading: it passed; "
	     SELINUXFS "/access gives %s permissions %x of class file on %s, "
	     "without read (%x)", agent, on_denied, denied, mask);
}

/* The name as it is logged: the last component of the path. */
static void prove_given_noticed(const struct policy *p, const char *access, const char *path)
{
	char context[CONTEXT_MAX], name[CONTEXT_MAX];
	const char *last = path, *at;

	for (at = path; *at; at++)
		if (*at == '/')
			last = at + 1;
	format(name, sizeof(name), "name=\"%s\"", last);
	if (is_logged("avc:  denied", *path == '/' ? name : "")) {
		step("%s: logged: avc:  denied %s", p->module->name, name);
		return;
	}
	memset(context, 0, sizeof(context));
	SYS(lgetxattr, path, ATTRIBUTE, context, sizeof(context) - 1);
	fatal("selinux does not notice: the kernel's log has no avc record of `%s %s`: %s", access,
	      path, why_unlogged(agent, context, access));
}

static void take_away(const char *path)
{
	long err = sys_unlink(path);

	or_fatal(err, "selinux: unlink of ./%s", path);
}

static void prove(const struct policy *p)
{
	long fd;

	if (p->state == POLICY_NONE)
		return;
	fd = sys_open(DENIED, O_RDONLY | O_CLOEXEC, 0);
	if (p->state == POLICY_ENFORCING)
		prove_denied(p, "open of ./" DENIED " for reading", fd, -EACCES);
	else
		prove_noticed(fd);
	if (fd >= 0)
		sys_close(fd);
	make(ALLOWED);
	fd = sys_open(ALLOWED, O_RDONLY | O_CLOEXEC, 0);
	prove_allowed(p, "open of ./" ALLOWED " for reading", fd);
	sys_close(fd);
	/* An administrator may relabel it, and only then remove it. */
	give_label(DENIED, work);
	take_away(DENIED);
	take_away(ALLOWED);
	if (p->labels)
		labels_start(p, work);
}

POLICY_MODULE(selinux) = {
	.name = "selinux",
	.release = release,
	.load_again = load_again,
	.root_option = root_option,
	.load = load,
	.label = label,
	.confine = confine,
	.start = start,
	.subject_file = "current",
	.prove = prove,
	.prove_noticed = prove_given_noticed,
};
