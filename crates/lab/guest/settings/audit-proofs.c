// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks that audit's rules work: a netlink socket in the multicast group that reads the log must
 * receive some records, and must not receive others.
 */
#include <linux/netlink.h>
#include <linux/poll.h>
#include "audit.h"

#define ANSWER_MS	5000
#define RECORD_MAX	9216	/* more than MAX_AUDIT_MESSAGE_LENGTH */

#define DENIED		"audit-denied"
#define ALLOWED		"audit-allowed"

static long listener;

static long open_as_user(const void *path)
{
	long ret = SYS(setresuid, SET_USER, SET_USER, SET_USER);

	return ret < 0 ? ret : sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

/* The type of the next record, and its text; 0 if none comes. */
static u16 next_record(char *text, size_t size)
{
	static char buffer[RECORD_MAX] __attribute__((aligned(8)));
	const struct nlmsghdr *head = (const void *)buffer;
	struct pollfd ready = { .fd = listener, .events = POLLIN };
	size_t len;
	long n;

	while (SYS(poll, &ready, 1, ANSWER_MS) > 0) {
		n = SYS(recvfrom, listener, buffer, sizeof(buffer), 0, NULL, NULL);
		if (n == -ENOBUFS)
			continue;
		or_fatal(n, "audit: receiving a record");
		if (n < (long)sizeof(*head))
			continue;
		len = n - sizeof(*head);
		if (len >= size)
			len = size - 1;
		memcpy(text, buffer + sizeof(*head), len);
		text[len] = '\0';
		return head->nlmsg_type;
	}
	return 0;
}

static int tells_of(const char *text, u32 call)
{
	char mark[32];

	format(mark, sizeof(mark), " syscall=%u ", call);
	return find_text(text, mark) != NULL;
}

static int tells_of_open(const char *text)
{
	return tells_of(text, SYS_NUMBER(open) == SYS_ABSENT ? __NR_openat
							     : SYS_NUMBER(open));
}

static void make_files(void)
{
	long err = make_file(DENIED, 1);

	if (err == 0)
		err = SYS(chmod, DENIED, 0600);
	if (err == 0)
		err = make_file(ALLOWED, 1);
	or_fatal(err, "audit: making files");
}

/* Ends a check: removes its files and closes its sockets. */
static void remove_files(void)
{
	long err;

	sys_close(listener);
	err = sys_unlink(DENIED);
	if (err == 0)
		err = sys_unlink(ALLOWED);
	or_fatal(err, "audit: removing files");
}

static void open_allowed(void)
{
	long fd = sys_open(ALLOWED, O_RDONLY | O_CLOEXEC, 0);

	or_fatal(fd, "audit: open of ./" ALLOWED);
	sys_close(fd);
}

static void must_be_refused(const char *what, long (*access)(const void *), long expected)
{
	long err = in_child(access, DENIED);

	if (err != expected)
		fatal("audit: %s of ./" DENIED " by user %u gave %s (%ld)", what, SET_USER,
		      errno_name(err), -err);
}

/*
 * Records are ordered, so earlier actions would be recorded before the refused open. There may
 * also be records of other modules' checks.
 */
static void expect_refused(const char *who, const char *not_key)
{
	static char text[RECORD_MAX];
	u16 type;

	do {
		do {
			type = next_record(text, sizeof(text));
			if (!type)
				fatal("audit: no record of the open of ./" DENIED
				      " within %d ms", ANSWER_MS);
			if (type == AUDIT_SYSCALL && not_key && find_text(text, not_key))
				fatal("audit: an unexpected record: %s", text);
		} while (type != AUDIT_SYSCALL || !tells_of_open(text));
		if (!find_text(text, " success=no "))
			fatal("audit: an unexpected record: %s", text);
	} while (!find_text(text, " uid=1000 "));
	if (!find_text(text, " exit=-13 ") || !find_text(text, "key=\"access\"") ||
	    !find_text(text, who))
		fatal("audit: an unexpected record: %s", text);
	text[300] = '\0';
	step("audit: recorded: open of ./" DENIED " by user %u, refused: %s", SET_USER, text);
}

/* Logs a user in, like pam_loginuid(8). */
static long log_in(void)
{
	char uid[16];
	long fd, n;

	format(uid, sizeof(uid), "%u", SET_USER);
	fd = sys_open("/proc/self/loginuid", O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	n = sys_write(fd, uid, strlen(uid));
	sys_close(fd);
	return n < 0 ? n : SYS(setresuid, SET_USER, SET_USER, SET_USER);
}

static long open_logged_in(const void *path)
{
	long ret = log_in();

	return ret < 0 ? ret : sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

static long chmod_logged_in(const void *path)
{
	long ret = log_in();

	return ret < 0 ? ret : SYS(chmod, path, 0644);
}

/* auditctl -t, which is recorded by itself, and together with the task's context. */
static long trim(const void *unused)
{
	long fd, ret;

	(void)unused;
	fd = audit_socket(0);
	ret = audit_request(fd, AUDIT_TRIM, "", 0);
	sys_close(fd);
	return ret;
}

static void trim_by(int child)
{
	long ret = child ? in_child(trim, NULL) : trim(NULL);

	or_fatal(ret, "audit: auditctl -t");
}

/*
 * Waits for the record of a trim; counts records of open(2) before it, and reports one of
 * sendto(2).
 */
static int expect_trim(u32 *opens)
{
	static char text[RECORD_MAX];
	int sent = 0;
	u16 type;

	*opens = 0;
	while ((type = next_record(text, sizeof(text)))) {
		if (type == AUDIT_CONFIG_CHANGE && find_text(text, "op=trim"))
			return sent;
		*opens += type == AUDIT_SYSCALL && tells_of_open(text);
		sent |= type == AUDIT_SYSCALL && tells_of(text, __NR_sendto);
	}
	fatal("audit: no record of auditctl -t within %d ms", ANSWER_MS);
}

/*
 * Without rules, audit only records its own changes. The system call of a trim is recorded after
 * the trim, if its task has a context, and before the next trim.
 */
static void prove_none(void)
{
	u32 opens, more;

	must_be_refused("open", open_as_user, -EACCES);
	trim_by(0);
	trim_by(0);
	expect_trim(&opens);
	if (opens)
		fatal("audit: the open of ./" DENIED " is recorded, and there are no rules");
	step("audit: not recorded: open of ./" DENIED " by user %u, refused", SET_USER);
	if (!expect_trim(&more))
		fatal("audit: auditctl -t is recorded without its call: process 1 has no context");
	step("audit: recorded: auditctl -t, and its call: tasks have contexts");
}

static void prove_never_task(void)
{
	const struct set_rule *rule = &audit_never_task;
	u32 opens, i, all = 0;
	long fd = audit_socket(0);

	/* First, check a task without the rule. */
	audit_change_rule(fd, AUDIT_DEL_RULE, rule);
	trim_by(1);
	audit_change_rule(fd, AUDIT_ADD_RULE, rule);
	trim_by(1);
	expect_trim(&opens);
	if (!expect_trim(&opens))
		fatal("audit: without the rule a task's call is not recorded either");
	step("audit: auditctl -d task,never; recorded: auditctl -t in a new task, and its call");
	must_be_refused("open", open_as_user, -EACCES);
	trim_by(1);
	trim_by(0);
	trim_by(0);
	for (i = 0; i < 3; i++) {
		if (expect_trim(&opens))
			fatal("audit: the call of auditctl -t is recorded under task,never");
		all += opens;
	}
	if (all)
		fatal("audit: the open of ./" DENIED " is recorded under task,never");
	step("audit: auditctl -a task,never; not recorded: open of ./" DENIED
	     " by user %u, refused; the calls of auditctl -t in a new task and in process 1",
	     SET_USER);
	sys_close(fd);
}

void audit_prove_set(const struct policy *p)
{
	if (p->audit_rules == AUDIT_SET_FILE_ACCESS)
		return;
	listener = audit_socket(1u << (AUDIT_NLGRP_READLOG - 1));
	make_files();
	switch (p->audit_rules) {
	case AUDIT_SET_NONE:
		prove_none();
		break;
	case AUDIT_SET_NEVER_TASK:
		prove_never_task();
		break;
	case AUDIT_SET_ONE:
		open_allowed();
		must_be_refused("chmod", chmod_logged_in, -EPERM);
		must_be_refused("open", open_as_user, -EACCES);
		expect_refused("", "key=\"perm_mod\"");
		step("audit: not recorded: chmod of ./" DENIED " before it, refused; open of ./"
		     ALLOWED ", which passed");
		break;
	default:
		open_allowed();
		must_be_refused("open", open_as_user, -EACCES);
		must_be_refused("open", open_logged_in, -EACCES);
		expect_refused(" auid=1000 ", NULL);
		step("audit: not recorded: the same by who has not logged in, before it; open of ./"
		     ALLOWED ", which passed");
	}
	remove_files();
}
