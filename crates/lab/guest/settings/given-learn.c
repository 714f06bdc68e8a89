// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What TOMOYO has learned, told by who is outside its policy: its files as they are, one after
 * the other, in frames of whole lines. The memory for them is mapped once all cells have ended:
 * the agent is not to be larger while it measures.
 */
#include <linux/mman.h>
#include "given.h"

#define TOMOYO		"/sys/kernel/security/tomoyo/"
#define WHICH_LEN	4	/* u32: which file, before its lines */
#define LINES_MAX	(FRAME_PAYLOAD_MAX - WHICH_LEN)

static void tell_file(const struct policy *p, const char *name, u8 which, char *payload)
{
	char path[128], *lines = payload + WHICH_LEN;
	size_t len = 0, whole;
	long fd, n;

	format(path, sizeof(path), TOMOYO "%s", name);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		fatal("%s: opening %s: %s (%ld)", p->module->name, path, errno_name(fd), -fd);
	memset(payload, 0, WHICH_LEN);
	payload[0] = which;
	while ((n = sys_read(fd, lines + len, LINES_MAX - len)) > 0) {
		len += n;
		for (whole = len; whole && lines[whole - 1] != '\n'; whole--)
			;
		if (!whole && len == LINES_MAX)
			fatal("%s: %s has a line of more than %lu bytes", p->module->name, path,
			      len);
		if (!whole)
			continue;
		send_frame(FRAME_LEARNED, payload, WHICH_LEN + whole);
		len -= whole;
		memmove(lines, lines + whole, len);
	}
	if (n < 0)
		fatal("%s: reading %s: %s (%ld)", p->module->name, path, errno_name(n), -n);
	sys_close(fd);
}

void given_tell_files(const struct policy *p)
{
	static const char *const names[] = { "profile", "exception_policy", "domain_policy" };
	unsigned int i;
	long memory;

	memory = SYS(mmap, NULL, FRAME_PAYLOAD_MAX, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if ((unsigned long)memory > -4096ul)
		fatal("memory for what was learned: %s (%ld)", errno_name(memory), -memory);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		tell_file(p, names[i], i, (char *)memory);
	SYS(munmap, memory, FRAME_PAYLOAD_MAX);
}
