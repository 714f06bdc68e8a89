// SPDX-License-Identifier: GPL-2.0-or-later
/* Denials in the kernel's log, as modules write them. */
#include "given.h"

static long kernel_log = -1;

void given_log_open(void)
{
	/* Logs each denial, not only those of five seconds. */
	write_line("/proc/sys/kernel/printk_ratelimit", "0");
	kernel_log = sys_open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

void given_log_skip(void)
{
	if (kernel_log >= 0)
		SYS(lseek, kernel_log, 0, 2 /* SEEK_END */);
}

static char *denial_in(char *record)
{
	static const char *const marks[] = {
		"apparmor=\"DENIED\"", "avc:  denied", "domain=", "lsm=SMACK",
	};
	const char *at;
	unsigned int i;

	/* Accesses that passed because nothing was enforced. */
	if (find_text(record, "permissive=1"))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		at = find_text(record, marks[i]);
		if (at)
			return record + (at - record);
	}
	return NULL;
}

const char *given_log_next(void)
{
	static char record[8192];	/* longer than the kernel's records */
	char *line, *end;
	long n;

	/* EPIPE: records were overwritten before they were read; continue. */
	while (kernel_log >= 0 &&
	       ((n = sys_read(kernel_log, record, sizeof(record) - 1)) > 0 || n == -EPIPE)) {
		if (n < 0)
			continue;
		record[n] = '\0';
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
