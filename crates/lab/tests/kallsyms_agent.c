// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The agent, but instead of measuring it sends a part of the guest's /proc/kallsyms about module
 * code. Built with the agent's own files; run_cells() there is sound_run_cells() here.
 */
#include "agent.h"

#ifndef SHARE
#define SHARE	16	/* one line in this many */
#endif

/* ADDRESS LETTER NAME\t[MODULE], for code. */
static int is_modules_code(const char *line, size_t len)
{
	return len > 20 && line[len - 1] == ']' &&
	       (line[17] == 't' || line[17] == 'T') &&
	       strncmp(line + 19, "__pfx_", 6);
}

void run_cells(int in_vm)
{
	static char buf[65536];
	char line[1024];
	unsigned int found = 0;
	size_t len = 0;
	long fd, n, i;

	(void)in_vm;
	fd = sys_open("/proc/kallsyms", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		fatal("opening /proc/kallsyms: %s", errno_name(fd));
	while ((n = sys_read(fd, buf, sizeof(buf))) > 0) {
		for (i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				if (len + 1 < sizeof(line))
					line[len++] = buf[i];
				continue;
			}
			line[len] = '\0';
			if (is_modules_code(line, len) && found++ % SHARE == 0)
				send_log("%s", line);
			len = 0;
		}
	}
	sys_close(fd);
}
