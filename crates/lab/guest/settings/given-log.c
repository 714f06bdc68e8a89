// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's log: denials as modules write them, and checks that an access was noticed. */
#include "given.h"

#define TRIES	100	/* of 10 ms */

static long kernel_log = -1;
static long since_mark = -1;
static char record[8192];	/* longer than the kernel's records */

static long open_log(void)
{
	return open_own("/dev/kmsg", O_RDONLY | O_NONBLOCK);
}

/* Reads the next one; 0 if none is left. */
static int next_record(long log)
{
	long n;

	/* EPIPE means that records were overwritten before they were read; continue. */
	do {
		n = sys_read(log, record, sizeof(record) - 1);
	} while (n == -EPIPE);
	record[n > 0 ? n : 0] = '\0';
	return n > 0;
}

void given_log_open(void)
{
	/* Logs each denial, not only those of five seconds. */
	write_line("/proc/sys/kernel/printk_ratelimit", "0");
	kernel_log = open_log();
}

void given_log_skip(void)
{
	if (kernel_log >= 0)
		SYS(lseek, kernel_log, 0, 2 /* SEEK_END */);
}

static char *denial_in(char *text)
{
	static const char *const marks[] = {
		"apparmor=\"DENIED\"", "avc:  denied", GIVEN_LANDLOCK, "lsm=SMACK",
	};
	const char *at;
	unsigned int i;

	/* Accesses that passed because nothing was enforced. */
	if (find_text(text, "permissive=1"))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		at = find_text(text, marks[i]);
		if (at)
			return text + (at - text);
	}
	return NULL;
}

const char *given_log_next(void)
{
	char *line, *end;

	while (kernel_log >= 0 && next_record(kernel_log)) {
		line = denial_in(record);
		if (!line)
			continue;
		for (end = line; *end && *end != '\n'; end++)
			;
		*end = '\0';
		return line;
	}
	return NULL;
}

void log_mark(const struct policy *p)
{
	unsigned int tries, records;

	if (p->state != POLICY_PERMISSIVE)
		return;
	since_mark = open_log();
	or_fatal(since_mark, "opening /dev/kmsg");
	/* The audit thread writes records of earlier accesses asynchronously. */
	for (tries = 0; tries < TRIES; tries++) {
		pause_ms(10);
		for (records = 0; next_record(since_mark); records++)
			;
		if (!records)
			break;
	}
}

int is_logged(const char *text, const char *other)
{
	unsigned int tries;
	int found = 0;

	for (tries = 0; !found && tries < TRIES; tries++) {
		while (!found && next_record(since_mark))
			found = find_text(record, text) && find_text(record, other);
		if (!found)
			pause_ms(10);
	}
	sys_close(since_mark);
	return found;
}

void prove_logged(const struct policy *p, const char *text, const char *other)
{
	if (!is_logged(text, other))
		fatal("%s does not notice: the kernel's log has no %s %s", p->module->name, text,
		      other);
	step("%s: logged: %s %s", p->module->name, text, other);
}
