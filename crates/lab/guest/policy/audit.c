// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Audit: rules by system call, as auditctl(8) would add them. `audit=1` on the
 * kernel's command line gives process 1 a context to collect records in, which it
 * has only if audit was on when it was made.
 *
 * The rules are those that an administrator has: refused accesses are recorded, and
 * changes that a logged-in user makes. The benchmarks' calls are collected and
 * compared with each rule, and match none: a record is written by a kernel thread,
 * which would run in the midst of an operation.
 */
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/poll.h>
#include "../policy.h"

#define AF_NETLINK_	16	/* not in the kernel's own headers */
#define SOCK_RAW_	3
#define SOCK_CLOEXEC_	02000000
#define MSG_DONTWAIT_	0x40

#define BACKLOG		8192
#define ANSWER_MS	5000
#define FIRST_UID	100001u
#define USER		1000u
#define SYSCALLS_MAX	24
#define RECORD_MAX	9216	/* more than MAX_AUDIT_MESSAGE_LENGTH */

#define DENIED		"audit-denied"
#define ALLOWED		"audit-allowed"

static long listener = -1;

struct call {
	const char *name;
	u32 number;		/* SYS_ABSENT: rules go without it here */
};

#define CALL(name)	{ #name, SYS_NUMBER(name) }

/* What a rule compares besides the architecture, and its system calls. */
struct rule {
	const char *text;	/* as auditctl takes it, behind the calls */
	const char *key;
	u32 fields[2], values[2], operators[2];
	struct call calls[SYSCALLS_MAX];	/* up to one without a name */
};

#define ARCH	"-a always,exit -F arch=b64 "
#define USERS	.fields = { AUDIT_LOGINUID, AUDIT_LOGINUID },		\
		.values = { USER, (u32)-1 },				\
		.operators = { AUDIT_GREATER_THAN_OR_EQUAL, AUDIT_NOT_EQUAL }
#define USERS_TEXT "-F auid>=1000 -F auid!=unset"
#define OPENS	{ CALL(open), CALL(openat), CALL(creat), CALL(truncate), \
		  CALL(ftruncate), CALL(open_by_handle_at) }

static const struct rule rules[] = {
	{
		.text = "-F exit=-EACCES -k access", .key = "access",
		.fields = { AUDIT_EXIT }, .values = { (u32)-EACCES },
		.operators = { AUDIT_EQUAL }, .calls = OPENS,
	}, {
		.text = "-F exit=-EPERM -k access", .key = "access",
		.fields = { AUDIT_EXIT }, .values = { (u32)-EPERM },
		.operators = { AUDIT_EQUAL }, .calls = OPENS,
	}, {
		.text = USERS_TEXT " -k perm_mod", .key = "perm_mod", USERS,
		.calls = { CALL(chmod), CALL(fchmod), CALL(fchmodat) },
	}, {
		.text = USERS_TEXT " -k perm_mod", .key = "perm_mod", USERS,
		.calls = { CALL(chown), CALL(fchown), CALL(fchownat), CALL(lchown) },
	}, {
		.text = USERS_TEXT " -k perm_mod", .key = "perm_mod", USERS,
		.calls = { CALL(setxattr), CALL(fsetxattr), CALL(lsetxattr),
			   CALL(removexattr), CALL(fremovexattr),
			   CALL(lremovexattr) },
	}, {
		.text = USERS_TEXT " -k delete", .key = "delete", USERS,
		.calls = { CALL(unlink), CALL(unlinkat), CALL(rename),
			   CALL(renameat), CALL(renameat2), CALL(rmdir) },
	},
};

/* One more: what a user of their own is refused, in any call that names a file. */
static const struct rule extra = {
	.text = "-F uid=%u -F exit=-EACCES -k user",
	.key = "user", .fields = { AUDIT_UID, AUDIT_EXIT },
	.values = { 0, (u32)-EACCES }, .operators = { AUDIT_EQUAL, AUDIT_EQUAL },
	.calls = { CALL(open), CALL(openat), CALL(creat), CALL(truncate), CALL(stat),
		   CALL(lstat), CALL(newfstatat), CALL(statx), CALL(access),
		   CALL(chmod), CALL(chown), CALL(unlink), CALL(rename), CALL(mkdir),
		   CALL(rmdir), CALL(link), CALL(symlink), CALL(execve) },
};

/* "-S open,openat", of the calls that there are. */
static void calls_text(const struct rule *rule, char *text, size_t size)
{
	const struct call *call;
	size_t len = 0;

	for (call = rule->calls; call->name; call++)
		if (call->number != SYS_ABSENT)
			len += format(text + len, size - len, "%s%s", len ? "," : "-S ",
				      call->name);
}

static long open_socket(u32 groups)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK_, .nl_groups = groups };
	long fd, err;

	fd = SYS(socket, AF_NETLINK_, SOCK_RAW_ | SOCK_CLOEXEC_, NETLINK_AUDIT);
	if (fd < 0)
		fatal("audit: a netlink socket: %s (%ld)", errno_name(fd), -fd);
	err = SYS(bind, fd, &address, sizeof(address));
	if (err < 0)
		fatal("audit: binding a netlink socket: %s (%ld)", errno_name(err), -err);
	return fd;
}

/* Sends a request and waits for its acknowledgement: 0 or -errno. */
static long request(long fd, u16 type, const void *data, u32 len)
{
	static struct {
		struct nlmsghdr head;
		char data[sizeof(struct audit_rule_data) + 64];
	} out;
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[64];
	} in;
	long n;

	if (len > sizeof(out.data))
		return -E2BIG;
	out.head = (struct nlmsghdr){
		.nlmsg_len = sizeof(out.head) + len,
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.nlmsg_seq = 1,
	};
	memcpy(out.data, data, len);
	n = SYS(sendto, fd, &out, out.head.nlmsg_len, 0, NULL, 0);
	if (n < 0)
		return n;
	do {
		n = SYS(recvfrom, fd, &in, sizeof(in), 0, NULL, NULL);
		if (n < 0 && n != -EINTR)
			return n;
	} while (n < (long)(sizeof(in.head) + sizeof(in.error.error)) ||
		 in.head.nlmsg_type != NLMSG_ERROR);
	return in.error.error;
}

static void set_status(long fd, u32 enabled)
{
	const struct audit_status status = {
		.mask = AUDIT_STATUS_ENABLED | AUDIT_STATUS_FAILURE |
			AUDIT_STATUS_BACKLOG_LIMIT | AUDIT_STATUS_BACKLOG_WAIT_TIME,
		.enabled = enabled,
		.failure = AUDIT_FAIL_PRINTK,
		.backlog_limit = BACKLOG,
		/* What does not fit is lost: nobody waits. */
		.backlog_wait_time = 0,
	};
	long err = request(fd, AUDIT_SET, &status, sizeof(status));

	if (err < 0)
		fatal("audit: auditctl -e %u: %s (%ld)", enabled, errno_name(err), -err);
}

static void add_rule(long fd, const struct rule *rule, u32 first_value)
{
	static struct {
		struct audit_rule_data rule;
		char key[64];
	} message;
	struct audit_rule_data *r = &message.rule;
	u32 n = 0, i, size = strlen(rule->key);
	const struct call *call;
	long err;

	memset(&message, 0, sizeof(message));
	r->flags = AUDIT_FILTER_EXIT;
	r->action = AUDIT_ALWAYS;
	r->fields[n] = AUDIT_ARCH;
	r->values[n] = ARCH_AUDIT;
	r->fieldflags[n++] = AUDIT_EQUAL;
	for (i = 0; i < ARRAY_SIZE(rule->fields) && rule->operators[i]; i++, n++) {
		r->fields[n] = rule->fields[i];
		r->values[n] = i ? rule->values[i] : first_value;
		r->fieldflags[n] = rule->operators[i];
	}
	r->fields[n] = AUDIT_FILTERKEY;
	r->values[n] = size;
	r->fieldflags[n++] = AUDIT_EQUAL;
	r->field_count = n;
	r->buflen = size;
	memcpy(message.key, rule->key, size);
	for (call = rule->calls; call->name; call++)
		if (call->number != SYS_ABSENT)
			r->mask[AUDIT_WORD(call->number)] |= AUDIT_BIT(call->number);
	err = request(fd, AUDIT_ADD_RULE, r, sizeof(*r) + size);
	if (err < 0)
		fatal("audit: adding a rule (%s): %s (%ld)", rule->text,
		      errno_name(err), -err);
}

static void load(const struct policy *p)
{
	char calls[256], text[128];
	long fd;
	u32 i;

	fd = open_socket(0);
	/* Off meanwhile, or each rule is recorded itself. */
	set_status(fd, 0);
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		add_rule(fd, &rules[i], rules[i].values[0]);
		calls_text(&rules[i], calls, sizeof(calls));
		step("audit: auditctl " ARCH "%s %s", calls, rules[i].text);
	}
	for (i = 0; i < p->rules; i++)
		add_rule(fd, &extra, FIRST_UID + i);
	if (p->rules) {
		format(text, sizeof(text), extra.text, FIRST_UID);
		calls_text(&extra, calls, sizeof(calls));
		step("audit: %u rules more: auditctl " ARCH "%s %s, and so on up to user %u",
		     p->rules, calls, text, FIRST_UID + p->rules - 1);
	}
	set_status(fd, 1);
	step("audit: auditctl -e 1 -b %u --backlog_wait_time 0", BACKLOG);
	sys_close(fd);
}

/* Only now: what other modules load is recorded, and would fill the socket. */
static void label(const struct policy *p)
{
	(void)p;
	listener = open_socket(1u << (AUDIT_NLGRP_READLOG - 1));
}

static long open_as_user(const void *path)
{
	long ret = SYS(setresuid, USER, USER, USER);

	return ret < 0 ? ret : sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

static int contains(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; *text; text++)
		if (!strncmp(text, part, len))
			return 1;
	return 0;
}

/* The next record of type SYSCALL that tells of an open(2); 0 if none comes. */
static int next_record(char *text, size_t size)
{
	static char buffer[RECORD_MAX] __attribute__((aligned(8)));
	const struct nlmsghdr *head = (const void *)buffer;
	const u32 open = SYS_NUMBER(open) == SYS_ABSENT ? __NR_openat : SYS_NUMBER(open);
	struct pollfd ready = { .fd = listener, .events = POLLIN };
	char mark[32];
	size_t len;
	long n;

	format(mark, sizeof(mark), " syscall=%u ", open);
	while (SYS(poll, &ready, 1, ANSWER_MS) > 0) {
		n = SYS(recvfrom, listener, buffer, sizeof(buffer), 0, NULL, NULL);
		if (n == -ENOBUFS)
			continue;
		if (n < 0)
			fatal("audit: receiving a record: %s (%ld)", errno_name(n), -n);
		if (n < (long)sizeof(*head) || head->nlmsg_type != AUDIT_SYSCALL)
			continue;
		len = n - sizeof(*head);
		if (len >= size)
			len = size - 1;
		memcpy(text, buffer + sizeof(*head), len);
		text[len] = '\0';
		if (contains(text, mark))
			return 1;
	}
	return 0;
}

static void prove(const struct policy *p)
{
	static char text[RECORD_MAX];
	long fd, err;

	(void)p;
	/* Room for what comes now; the socket says once if there was too little. */
	do {
		err = SYS(recvfrom, listener, text, sizeof(text), MSG_DONTWAIT_, NULL,
			  NULL);
	} while (err >= 0 || err == -ENOBUFS);
	err = make_file(DENIED, 1);
	if (err == 0)
		err = SYS(chmod, DENIED, 0600);
	if (err == 0)
		err = make_file(ALLOWED, 1);
	if (err < 0)
		fatal("audit: making files: %s (%ld)", errno_name(err), -err);
	fd = sys_open(ALLOWED, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		fatal("audit: open of ./" ALLOWED ": %s (%ld)", errno_name(fd), -fd);
	sys_close(fd);
	err = in_child(open_as_user, DENIED);
	if (err != -EACCES)
		fatal("audit: open of ./" DENIED " by user %u gave %s (%ld)", USER,
		      errno_name(err), -err);
	/*
	 * They come in order: what the first open left would be before the other's.
	 * What other modules denied in their proofs may be there too.
	 */
	do {
		if (!next_record(text, sizeof(text)))
			fatal("audit: no record of the open of ./" DENIED
			      " within %d ms", ANSWER_MS);
		if (!contains(text, " success=no "))
			fatal("audit: an unexpected record: %s", text);
	} while (!contains(text, " uid=1000 "));
	if (!contains(text, " exit=-13 ") || !contains(text, "key=\"access\""))
		fatal("audit: an unexpected record: %s", text);
	text[300] = '\0';
	step("audit: recorded: open of ./" DENIED " by user %u, refused: %s", USER, text);
	step("audit: not recorded: open of ./" ALLOWED " before it, which passed");
	sys_close(listener);
	err = sys_unlink(DENIED);
	if (err == 0)
		err = sys_unlink(ALLOWED);
	if (err < 0)
		fatal("audit: removing files: %s (%ld)", errno_name(err), -err);
}

POLICY_MODULE(audit) = {
	.name = "audit",
	.load = load,
	.label = label,
	.prove = prove,
};
