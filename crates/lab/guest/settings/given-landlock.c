// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Custom Landlock rulesets, from lines of the host's file:
 *
 *	layer FS NET SCOPES	a ruleset that handles these rights, in decimal
 *	path RIGHTS PATH	allowed below PATH; "." is the benchmarks' directory
 *	port RIGHTS PORT
 *
 * Each ruleset is a layer. Rights that the kernel's ABI does not know are left out, as in
 * best-effort sandboxes.
 */
#include "../policy/landlock.h"
#include "audit.h"
#include "given.h"

#define OF_A_FILE	(ACCESS_EXECUTE | ACCESS_WRITE_FILE | ACCESS_READ_FILE | \
			 ACCESS_TRUNCATE | ACCESS_IOCTL_DEV)

/* Older ABI versions only have the first field, or two. */
struct attributes {
	u64 of_files, of_ports, scopes;
};

static struct {
	long abi;
	long ruleset;		/* -1: none is begun */
	long work;		/* the benchmarks' directory */
	struct attributes handled;
	u32 layers, rules;
} made;

static u32 flags;	/* for landlock_restrict_self() */

static u64 number(const struct policy *p, char **rest)
{
	u64 value = 0;
	char *at = *rest;

	if (*at < '0' || *at > '9')
		fatal("%s: /policy/landlock/ruleset: not a number: %s", p->module->name, at);
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (*at - '0');
	while (*at == ' ')
		at++;
	*rest = at;
	return value;
}

/* The type of a line; *rest is the remainder. */
static char kind_of(char *line, char **rest)
{
	char *at = line;

	while (*at && *at != ' ')
		at++;
	while (*at == ' ')
		at++;
	*rest = at;
	return line[0] == 'p' ? line[1] : line[0];
}

static void make_line(const struct policy *p, char *line)
{
	char *path;
	long err;

	if (kind_of(line, &path) != 'a')
		return;
	number(p, &path);
	if (*path != '/')
		return;
	err = make_dirs(path);
	if (!err)
		err = sys_mkdir(path, 0755);
	if (err < 0 && err != -EEXIST)
		fatal("landlock: making %s: %s (%ld)", path, errno_name(err), -err);
}

void landlock_given_make(const struct policy *p)
{
	given_lines(p, "ruleset", make_line);
}

static void finish_layer(void)
{
	if (made.ruleset < 0)
		return;
	landlock_restrict_self(made.ruleset, 1, flags);
	sys_close(made.ruleset);
	made.ruleset = -1;
	made.layers++;
}

static void begin_layer(const struct policy *p, char *rest)
{
	struct attributes *handled = &made.handled;
	size_t size = made.abi >= 6 ? 24 : made.abi >= 4 ? 16 : 8;

	finish_layer();
	handled->of_files = number(p, &rest) & landlock_rights_of(made.abi);
	handled->of_ports = made.abi >= 4 ? number(p, &rest) : (number(p, &rest), 0);
	handled->scopes = made.abi >= 6 ? number(p, &rest) : 0;
	if (!handled->of_files && !handled->of_ports && !handled->scopes)
		fatal("landlock: this kernel's ABI is %ld, and knows no right that layer %u "
		      "handles", made.abi, made.layers + 1);
	made.ruleset = raw_syscall(LANDLOCK_CREATE_RULESET, (long)handled, size, 0, 0, 0, 0);
	if (made.ruleset < 0)
		fatal("landlock: landlock_create_ruleset: %s (%ld)",
		      errno_name(made.ruleset), -made.ruleset);
}

static void add_path(const char *path, u64 allowed)
{
	long fd = SYS(openat, made.work, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd == -ENOTDIR) {
		fd = SYS(openat, made.work, path, O_PATH | O_CLOEXEC, 0);
		allowed &= OF_A_FILE;
	}
	or_fatal(fd, "landlock: opening %s", path);
	if (allowed)
		landlock_add_path(made.ruleset, fd, allowed);
	made.rules += !!allowed;
	sys_close(fd);
}

static void add_port(u64 port, u64 allowed)
{
	struct {
		u64 allowed_access, port;
	} rule = { allowed, port };

	if (!allowed)
		return;
	landlock_add_rule(made.ruleset, RULE_NET_PORT, &rule);
	made.rules++;
}

static void confine_line(const struct policy *p, char *line)
{
	char *rest;
	u64 rights;

	switch (kind_of(line, &rest)) {
	case 'l':
		begin_layer(p, rest);
		break;
	case 'a':
		rights = number(p, &rest) & made.handled.of_files;
		add_path(rest, rights);
		break;
	case 'o':
		rights = number(p, &rest) & made.handled.of_ports;
		add_port(number(p, &rest), rights);
		break;
	default:
		fatal("landlock: /policy/landlock/ruleset: not a line of it: %s", line);
	}
}

/* The file shows that the kernel has audit. */
static int can_log(void)
{
	return landlock_abi() >= LOGGING_ABI && SYS(access, own_path("/proc/self/loginuid"), 0) == 0;
}

void landlock_given_confine(const struct policy *p)
{
	memset(&made, 0, sizeof(made));
	made.abi = landlock_abi();
	made.ruleset = -1;
	made.work = SYS(openat, AT_FDCWD, experiment.dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (made.work < 0)
		fatal("landlock: opening %s: %s (%ld)", experiment.dir, errno_name(made.work),
		      -made.work);
	given_lines(p, "ruleset", confine_line);
	finish_layer();
	sys_close(made.work);
	step("landlock: ABI %ld: landlock_restrict_self %u times, %u rules in all", made.abi,
	     made.layers, made.rules);
	if (programs && steps_are_reported && !can_log())
		step("landlock: denials of programs are not counted: this kernel logs none "
		     "(Linux 6.15 and later do, with CONFIG_AUDIT)");
}

/* From now on audit is on, which may have a cost, so nothing is measured any more. */
int landlock_given_log(void)
{
	const struct audit_status status = {
		.mask = AUDIT_STATUS_ENABLED | AUDIT_STATUS_BACKLOG_LIMIT,
		.enabled = 1,
		.backlog_limit = 0,	/* unlimited: Landlock's records are not waited for */
	};
	long fd, err;

	if (!can_log())
		return 0;
	fd = audit_socket(0);
	err = audit_request(fd, AUDIT_SET, &status, sizeof(status));
	or_fatal(err, "landlock: auditctl -e 1 -b 0");
	sys_close(fd);
	flags = LOG_NEW_EXEC_ON;
	return 1;
}
