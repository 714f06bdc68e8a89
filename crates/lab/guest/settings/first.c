// SPDX-License-Identifier: GPL-2.0-or-later
/* First operations after loading a policy, or after relabelling files: first.h. */
#include "../getdents.h"
#include "../policy.h"
#include "first.h"
#include "labels.h"
#include "outside.h"

#define ENFORCE		"/sys/fs/selinux/enforce"
#define REVISION	"/sys/kernel/security/apparmor/revision"
#define ATTRIBUTE	"security.selinux"
#define CELL		"cell"
#define PROBE		CELL "/first"
#define DEPTH_MAX	32
#define SETTLE_MS	50
#define TYPE_FILE	8	/* DT_REG */
#define TYPE_DIR	4	/* DT_DIR */

static const struct policy *policies;
static unsigned int policy_count;
static enum first_after after;
static const struct policy *of;		/* the first policy with the setting */
static u32 labels;			/* number of labels used in this measurement */

/* -- run by the process outside policies */

struct labelling {
	char path[1100];
	char context[512];
};

static long relabel_in(int dir, const char *context, unsigned int depth)
{
	char records[1024] __attribute__((aligned(8)));
	const struct dirent64 *entry;
	long n, pos, fd, err = 0;

	while (!err && (n = SYS(getdents64, dir, records, sizeof(records))) > 0)
		for (pos = 0; pos < n && !err; pos += entry->d_reclen) {
			entry = dirent_at(records, n, pos);
			if (!entry)
				return -EIO;
			if (is_dot_or_dotdot(entry->d_name) ||
			    (entry->d_type != TYPE_FILE && entry->d_type != TYPE_DIR))
				continue;
			fd = SYS(openat, dir, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
			if (fd < 0)
				return fd;
			if (entry->d_type == TYPE_FILE) {
				err = SYS(fsetxattr, fd, ATTRIBUTE, context, strlen(context) + 1, 0);
			} else if (depth < DEPTH_MAX) {
				err = relabel_in(fd, context, depth + 1);
			}
			sys_close(fd);
		}
	return err ? err : n;
}

static long relabel(const void *argument)
{
	const struct labelling *as = argument;
	long dir = sys_open(as->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), err;

	if (dir < 0)
		return dir;
	err = relabel_in(dir, as->context, 0);
	sys_close(dir);
	return err;
}

static long load_again(const void *none)
{
	static u32 round;
	unsigned int i;
	long err = 0;

	(void)none;
	round++;
	for (i = 0; i < policy_count && err >= 0; i++)
		if (policies[i].state != POLICY_NONE && policies[i].module->load_again)
			err = policies[i].module->load_again(&policies[i], round);
	/* Other tasks write records of the load, and free the replaced policy. */
	pause_ms(SETTLE_MS);
	return err < 0 ? err : 0;
}

/* Switching to enforcing mode forgets cached decisions (sel_write_enforce()). */
static long forget(const void *state)
{
	int enforcing = *(const enum policy_state *)state == POLICY_ENFORCING;
	long err = put_whole(ENFORCE, enforcing ? "0" : "1", 1);

	return err < 0 ? err : put_whole(ENFORCE, enforcing ? "1" : "0", 1);
}

static long revision(const void *none)
{
	long fd = sys_open(REVISION, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0), n;
	char text[24] = "";
	u32 value = 0;

	(void)none;
	if (fd < 0)
		return fd;
	/* Read only once, because the next read would wait for the next change. */
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (n <= 0 || text[n - 1] != '\n')
		return n < 0 ? n : -EIO;
	text[n - 1] = '\0';
	return parse_u32(text, ~0u >> 1, &value) ? -EIO : (long)value;
}

/* -- run by the agent, or its child */

static long relabel_anew(void)
{
	struct labelling as;

	if (!fresh_context(as.context, sizeof(as.context), of, labels))
		return -ENOSPC;
	labels++;
	format(as.path, sizeof(as.path), "%s/" CELL, experiment.dir);
	return outside_do(relabel, &as, sizeof(as));
}

static long make_first(void)
{
	if (after == FIRST_AFTER_LOAD)
		return outside_do(load_again, NULL, 0);
	return after == FIRST_AFTER_RELABEL ? relabel_anew() : 0;
}

int first_begin(struct cell *c)
{
	long err;

	if (after != FIRST_AFTER_RELABEL)
		return 0;
	labels = 0;
	err = outside_do(forget, &of->state, sizeof(of->state));
	return err < 0 ? explain(c, "forgetting what was decided", err) : 0;
}

int first_before(struct cell *c)
{
	long err = make_first();

	if (err == -ENOSPC)
		failed(c, "relabelling: all labels were used: ask for fewer `samples` or less "
		       "`warmup`", 0);
	else if (err == -EINVAL && after == FIRST_AFTER_RELABEL)
		failed(c, "relabelling: has the policy no categories?", err);
	else if (err < 0)
		explain(c, after == FIRST_AFTER_LOAD ? "loading a policy again" : "relabelling",
			err);
	return err < 0 ? err : 0;
}

void first_prepare(const struct policy *all, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count && !of; i++)
		if (all[i].first_after && all[i].state != POLICY_NONE)
			of = &all[i];
	if (!of)
		return;
	policies = all;
	policy_count = count;
	outside_start();
}

/* How often opening the probe missed the access vector cache. */
static u32 misses(void)
{
	u32 lookups, before, behind;
	long fd;

	avc_read(&lookups, &before);
	fd = sys_open(PROBE, O_RDONLY | O_CLOEXEC, 0);
	or_fatal(fd, "%s: open of ./" PROBE, of->module->name);
	sys_close(fd);
	avc_read(&lookups, &behind);
	return behind - before;
}

static void prove_misses(void)
{
	u32 warm, first;
	long err;

	misses();
	warm = misses();
	err = make_first();
	or_fatal(err, "selinux: %s again", after == FIRST_AFTER_LOAD ? "loading" : "labelling");
	first = misses();
	if (warm || !first)
		fatal("selinux: opening ./" PROBE " again missed the cache %u times, and %u times "
		      "after %s", warm, first,
		      after == FIRST_AFTER_LOAD ? "loading" : "relabelling");
	step("selinux: %s again before each operation, by a process that no policy confines: an open "
	     "of ./" PROBE " misses the cache %u times then, and %u times before",
	     after == FIRST_AFTER_LOAD ? "the policy is loaded" : "files are labelled", first, warm);
}

/*
 * With custom policies the agent is not confined. Setting the label has cached a decision for the
 * agent's domain, but not for a confined child's.
 */
static void prove_label(void)
{
	char wanted[512], got[512];
	long err, n;

	err = make_first();
	if (err < 0)
		fatal("selinux: labelling again: %s (%ld): it takes a policy with categories, and one "
		      "that lets the kernel's own domain relabel", errno_name(err), -err);
	fresh_context(wanted, sizeof(wanted), of, labels - 1);
	n = SYS(lgetxattr, PROBE, ATTRIBUTE, got, sizeof(got) - 1);
	got[n > 0 ? n : 0] = '\0';
	if (strcmp(got, wanted))
		fatal("selinux: ./" PROBE " should have the label %s, and has %s", wanted, got);
	step("selinux: files are labelled again before each operation, by a process that no policy "
	     "confines: ./" PROBE " has %s then, and the next category the next time", got);
}

static void prove_revision(void)
{
	long before = outside_do(revision, NULL, 0), behind;
	long err = make_first();

	behind = outside_do(revision, NULL, 0);
	if (err < 0 || before < 0 || behind <= before)
		fatal("apparmor: the profiles cannot be replaced once more: %s (%ld); " REVISION
		      " was %ld, and is %ld", errno_name(err), -err, before, behind);
	step("apparmor: the profiles are replaced again before each operation, by a process that no "
	     "policy confines: " REVISION " was %ld, and is %ld", before, behind);
}

void first_prove(void)
{
	long err;

	if (!of)
		return;
	after = of->first_after;
	if (strcmp(of->module->name, "selinux")) {
		prove_revision();
		return;
	}
	err = sys_mkdir(CELL, 0755);
	if (!err)
		err = make_file(PROBE, 1);
	or_fatal(err, "selinux: making ./" PROBE);
	if (of->given && after == FIRST_AFTER_RELABEL)
		prove_label();
	else
		prove_misses();
	remove_tree(CELL);
}
