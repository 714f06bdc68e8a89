// SPDX-License-Identifier: GPL-2.0-or-later
/* Decisions of the SELinux policy in force: see decisions.h. */
#include "decisions.h"

#define FIELDS	6	/* allowed, (unused), auditallow, auditdeny, seqno, flags */

static u32 read_number(const char *path)
{
	char text[16];
	u32 value = 0;

	if (read_text(own_path(path), text, sizeof(text)) < 0 || parse_u32(text, ~0u, &value))
		fatal("selinux: %s holds no number: %s", path, text);
	return value;
}

struct decision decide(const char *source, const char *target, const char *class)
{
	char query[640], path[128];
	u32 values[FIELDS] = { 0 };
	unsigned int field = 0;
	long fd, n;
	char *p;

	format(path, sizeof(path), SELINUXFS "/class/%s/index", class);
	format(query, sizeof(query), "%s %s %u", source, target, read_number(path));
	fd = open_own(SELINUXFS "/access", O_RDWR);
	or_fatal(fd, "selinux: opening " SELINUXFS "/access");
	n = sys_write(fd, query, strlen(query) + 1);
	if (n > 0)
		n = sys_read(fd, query, sizeof(query) - 1);
	sys_close(fd);
	if (n <= 0)
		fatal("selinux: asking " SELINUXFS "/access: %s (%ld)",
		      errno_name(n), -n);
	query[n] = '\0';
	for (p = query; *p && field < FIELDS; p++) {
		u32 digit = *p <= '9' ? *p - '0' : *p - 'a' + 10;

		if (*p == ' ')
			field++;
		else
			values[field] = values[field] << 4 | (digit & 15);
	}
	return (struct decision){ values[0], values[3], values[5] };
}

u32 permission_bit(const char *class, const char *permission)
{
	char path[128];
	u32 bit;

	format(path, sizeof(path), SELINUXFS "/class/%s/perms/%s", class, permission);
	bit = read_number(path);
	return bit > 0 && bit <= 32 ? 1u << (bit - 1) : 0;
}

const char *why_unlogged(const char *source, const char *target, const char *access)
{
	const int lists = !strcmp(access, "list");
	const char *class = lists ? "dir" : "file";
	struct decision decision;
	u32 bit;

	if (!lists && strcmp(access, "read") && strcmp(access, "write") &&
	    strcmp(access, "execute"))
		return "the policy allows it, or a dontaudit rule hides the record";
	bit = permission_bit(class, lists ? "read" : access);
	decision = decide(source, target, class);
	if (decision.allowed & bit)
		return "the policy allows it";
	if (!(decision.audited & bit))
		return "a dontaudit rule hides the record: name another access in `denied`, or "
		       "build the policy without such rules (semodule -DB)";
	return "the kernel records each kind of access to a label once: name the label's first "
	       "access only";
}
