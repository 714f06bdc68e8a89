// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Custom policies of whole programs. The programs' root is moved over the agent's, as
 * switch_root(8) does, because AppArmor and TOMOYO compare paths from the topmost root. The agent
 * stays in its own root, where its files are, and keeps a descriptor of the programs' root.
 *
 * A program enters its domain, profile or label at its execve(), as services do.
 */
#include <linux/mount.h>
#include "given.h"

#define AGENT_ROOT	"/proc/1/root"
#define SUBJECT_MAX	512
#define LINE_MAX	512

static const struct policy *policies;
static unsigned int policy_count;

/*
 * Mapped only if there are such policies, because fork copies the page tables of the agent's
 * memory.
 */
static struct noted {
	struct {
		char expected[SUBJECT_MAX];
		char last[SUBJECT_MAX];	/* another task's */
		int seen;
	} subjects[POLICIES_MAX];
	u32 denials;		/* in the measured runs, or in the additional one */
	int logs_more;		/* this is the additional run */
	char first[LINE_MAX];
	char last[LINE_MAX];	/* of the last run, measured or not */
} *noted;

void given_choose_policies(const struct policy *all, unsigned int count)
{
	unsigned int i;

	for (i = 0; programs && i < count; i++)
		if (all[i].given)
			policies = all;
	policy_count = policies ? count : 0;
	if (policies)
		noted = map_shared(sizeof(*noted));
}

static const struct policy *next_given(const struct policy *p)
{
	const struct policy *end = policies + policy_count;

	for (p = p ? p + 1 : policies; p < end; p++)
		if (p->given && !p->module->global)
			return p;
	return NULL;
}

void given_move_root(void)
{
	long fd, err;

	if (!policies)
		return;
	fd = SYS(openat, AT_FDCWD, experiment.dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	or_fatal(fd, "opening %s", experiment.dir);
	err = SYS(mount, experiment.dir, "/", NULL, MS_MOVE, NULL);
	or_fatal(err, "moving %s to /", experiment.dir);
	format(experiment.dir, sizeof(experiment.dir), "/proc/1/fd/%ld", fd);
}

void given_enter_root(void)
{
	long err;

	if (!programs)
		return;
	err = SYS(chroot, experiment.dir);
	if (err >= 0)
		err = SYS(chdir, "/");
	or_fatal(err, "entering the programs' root");
	agent_root = AGENT_ROOT;
}

void given_start_program(void)
{
	const struct policy *p = NULL;
	unsigned int last;

	agent_root = AGENT_ROOT;
	steps_are_reported = 0;
	for (last = 0; last < 2; last++)
		while ((p = next_given(p)))
			if (p->module->last == last && p->module->start)
				p->module->start(p);
}

void given_begin_program(void)
{
	const struct policy *p = NULL;
	char text[LINE_MAX];

	if (!policies)
		return;
	noted->last[0] = '\0';
	given_write_records();
	given_log_skip();
	while ((p = next_given(p)))
		while (p->module->next_denial && p->module->next_denial(text, sizeof(text)))
			;
}

/*
 * A policy may not let the agent send signals. With this request, the kernel itself sends them to
 * all tasks except the agent (sysrq_handle_kill() in drivers/tty/sysrq.c).
 */
void given_kill_all(void)
{
	if (policies)
		put_whole("/proc/sysrq-trigger", "i", 1);
}

int given_log_denials(void)
{
	const struct policy *p = NULL;

	while ((p = next_given(p)))
		if (p->module->log_denials && p->module->log_denials())
			noted->logs_more = 1;
	return noted && noted->logs_more;
}

static void note_denial(const char *line, int measured)
{
	format(noted->last, sizeof(noted->last), "%s", line);
	/* Other modules log the same in each run. */
	if (noted->logs_more)
		measured = find_text(line, GIVEN_LANDLOCK) != NULL;
	if (measured && !noted->denials++)
		format(noted->first, sizeof(noted->first), "%s", line);
}

void given_end_program(int measured)
{
	const struct policy *p = NULL;
	char text[LINE_MAX];
	const char *line;
	int more;

	if (!policies)
		return;
	given_release();
	/* The audit thread writes records asynchronously. */
	do {
		pause_ms(10);
		for (more = 0; (line = given_log_next()); more = 1)
			note_denial(line, measured);
	} while (more);
	while ((p = next_given(p)))
		while (p->module->next_denial && p->module->next_denial(text, sizeof(text)))
			note_denial(text, measured);
}

void given_add_denial(char *reason, size_t size)
{
	size_t len = strlen(reason);

	if (noted && noted->last[0])
		format(reason + len, size - len, "; denied: %s", noted->last);
}

static void subject_of(const struct policy *p, long pid, char *text, size_t size)
{
	char path[1100];

	text[0] = '\0';
	if (p->module->subject_of) {
		p->module->subject_of(pid, text, size);
	} else if (p->module->subject_file) {
		format(path, sizeof(path), "/proc/%ld/attr/%s", pid, p->module->subject_file);
		read_text(path, text, size);
	}
}

static int has_subject(const struct policy *p)
{
	return p->module->subject_of || p->module->subject_file;
}

void given_look_at(long pid)
{
	const struct policy *p = NULL;
	char text[SUBJECT_MAX];

	while ((p = next_given(p))) {
		char *subject = noted->subjects[p - policies].expected;
		size_t len;

		if (!has_subject(p))
			continue;
		if (!*subject)
			given_line(p, "subject", subject, SUBJECT_MAX);
		len = strlen(subject);
		subject_of(p, pid, text, sizeof(text));
		/* AppArmor adds the mode: "(enforce)". */
		if (!strncmp(text, subject, len) && (u8)text[len] <= ' ')
			noted->subjects[p - policies].seen = 1;
		else
			memcpy(noted->subjects[p - policies].last, text, sizeof(text));
	}
}

long given_unseen(struct cell *c, long traced)
{
	const struct policy *p = NULL;
	char what[64];

	while ((p = next_given(p))) {
		if (!has_subject(p) || noted->subjects[p - policies].seen)
			continue;
		format(what, sizeof(what), "%s: ptrace of the program, to find its subjects",
		       p->module->name);
		if (traced < 0)
			return failed(c, what, traced);
		format(c->reason, sizeof(c->reason), "%s: no task of the program ran as %s; the "
		       "last one was %s", p->module->name, noted->subjects[p - policies].expected,
		       noted->subjects[p - policies].last);
		return -EIO;
	}
	return 0;
}

void given_send_denials(u32 cell)
{
	size_t at = 8;
	unsigned int i;

	if (!noted || !noted->denials)
		return;
	for (i = 0; i < 4; i++) {
		scratch[i] = cell >> 8 * i;
		scratch[4 + i] = noted->denials >> 8 * i;
	}
	at += format(scratch + at, sizeof(scratch) - at, "%s", noted->first);
	send_frame(FRAME_DENIED, scratch, at);
	noted->denials = 0;
}
