// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Audit: system call rules, as auditctl(8) would add them. With `audit=1` on the kernel's command
 * line, process 1 has a context for collecting records. A task has a context only if audit was on
 * when the task was created.
 *
 * The rules are typical for administrators: they record refused accesses, and changes by a
 * logged-in user. The benchmarks' calls are collected and compared with each rule, but match none,
 * because a kernel thread would write the record and run during an operation.
 */
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/poll.h>
#include "../policy.h"

#include "../settings/audit.h"

#define AF_NETLINK_	16	/* not in the kernel's exported headers */
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

/* The fields of a rule, in addition to the architecture, and its system calls. */
struct rule {
	const char *text;	/* as for auditctl, with the calls' names first */
	const char *key;
	u32 fields[2], values[2], operators[2];
	/* In the text's order, up to a final 0, or SYS_ABSENT. */
	u16 syscalls[SYSCALLS_MAX];
};

#define ARCH	"-a always,exit -F arch=b64 "
#define USERS	.fields = { AUDIT_LOGINUID, AUDIT_LOGINUID },		\
		.values = { USER, (u32)-1 },				\
		.operators = { AUDIT_GREATER_THAN_OR_EQUAL, AUDIT_NOT_EQUAL }
#define USERS_TEXT " -F auid>=1000 -F auid!=unset"
#define OPENS	{ SYS_NUMBER(open), SYS_NUMBER(openat), SYS_NUMBER(creat),	\
		  SYS_NUMBER(truncate), SYS_NUMBER(ftruncate),		\
		  SYS_NUMBER(open_by_handle_at) }
#define OPENS_TEXT "-S open,openat,creat,truncate,ftruncate,open_by_handle_at"

static const struct rule rules[] = {
	{
		.text = OPENS_TEXT " -F exit=-EACCES -k access", .key = "access",
		.fields = { AUDIT_EXIT }, .values = { (u32)-EACCES },
		.operators = { AUDIT_EQUAL }, .syscalls = OPENS,
	}, {
		.text = OPENS_TEXT " -F exit=-EPERM -k access", .key = "access",
		.fields = { AUDIT_EXIT }, .values = { (u32)-EPERM },
		.operators = { AUDIT_EQUAL }, .syscalls = OPENS,
	}, {
		.text = "-S chmod,fchmod,fchmodat" USERS_TEXT " -k perm_mod",
		.key = "perm_mod", USERS,
		.syscalls = { SYS_NUMBER(chmod), SYS_NUMBER(fchmod),
			      SYS_NUMBER(fchmodat) },
	}, {
		.text = "-S chown,fchown,fchownat,lchown" USERS_TEXT " -k perm_mod",
		.key = "perm_mod", USERS,
		.syscalls = { SYS_NUMBER(chown), SYS_NUMBER(fchown),
			      SYS_NUMBER(fchownat), SYS_NUMBER(lchown) },
	}, {
		.text = "-S setxattr,fsetxattr,lsetxattr,removexattr,fremovexattr,"
			"lremovexattr" USERS_TEXT " -k perm_mod",
		.key = "perm_mod", USERS,
		.syscalls = { SYS_NUMBER(setxattr), SYS_NUMBER(fsetxattr),
			      SYS_NUMBER(lsetxattr), SYS_NUMBER(removexattr),
			      SYS_NUMBER(fremovexattr), SYS_NUMBER(lremovexattr) },
	}, {
		.text = "-S unlink,unlinkat,rename,renameat,renameat2,rmdir"
			USERS_TEXT " -k delete",
		.key = "delete", USERS,
		.syscalls = { SYS_NUMBER(unlink), SYS_NUMBER(unlinkat),
			      SYS_NUMBER(rename), SYS_NUMBER(renameat),
			      SYS_NUMBER(renameat2), SYS_NUMBER(rmdir) },
	},
};

/* One more rule: accesses that are refused to a separate user, in any call with a file name. */
static const struct rule extra = {
	.text = "-S open,openat,creat,truncate,stat,lstat,newfstatat,statx,access,"
		"chmod,chown,unlink,rename,mkdir,rmdir,link,symlink,execve "
		"-F uid=%u -F exit=-EACCES -k user",
	.key = "user", .fields = { AUDIT_UID, AUDIT_EXIT },
	.values = { 0, (u32)-EACCES }, .operators = { AUDIT_EQUAL, AUDIT_EQUAL },
	.syscalls = { SYS_NUMBER(open), SYS_NUMBER(openat), SYS_NUMBER(creat),
		      SYS_NUMBER(truncate), SYS_NUMBER(stat), SYS_NUMBER(lstat),
		      SYS_NUMBER(newfstatat), SYS_NUMBER(statx), SYS_NUMBER(access),
		      SYS_NUMBER(chmod), SYS_NUMBER(chown), SYS_NUMBER(unlink),
		      SYS_NUMBER(rename), SYS_NUMBER(mkdir), SYS_NUMBER(rmdir),
		      SYS_NUMBER(link), SYS_NUMBER(symlink), SYS_NUMBER(execve) },
};

long audit_socket(u32 groups)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK_, .nl_groups = groups };
	long fd, err;

	fd = SYS(socket, AF_NETLINK_, SOCK_RAW_ | SOCK_CLOEXEC_, NETLINK_AUDIT);
	or_fatal(fd, "audit: a netlink socket");
	err = SYS(bind, fd, &address, sizeof(address));
	or_fatal(err, "audit: binding a netlink socket");
	return fd;
}

/* Sends a request and waits for its acknowledgement: 0 or -errno. */
long audit_request(long fd, u16 type, const void *data, u32 len)
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
		/* Records that do not fit are lost, so that nobody waits. */
		.backlog_wait_time = 0,
	};
	long err = audit_request(fd, AUDIT_SET, &status, sizeof(status));

	or_fatal(err, "audit: auditctl -e %u", enabled);
}

static void add_rule(long fd, const struct rule *rule, u32 first_value)
{
	static struct {
		struct audit_rule_data rule;
		char key[64];
	} message;
	struct audit_rule_data *r = &message.rule;
	u32 n = 0, i, size = strlen(rule->key);
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
	for (i = 0; i < SYSCALLS_MAX && rule->syscalls[i]; i++)
		if (rule->syscalls[i] != SYS_ABSENT)
			r->mask[AUDIT_WORD(rule->syscalls[i])] |=
				AUDIT_BIT(rule->syscalls[i]);
	err = audit_request(fd, AUDIT_ADD_RULE, r, sizeof(*r) + size);
	or_fatal(err, "audit: adding a rule (%s)", rule->text);
}

/* A rule's text without calls that do not exist on this architecture. */
static void text_of(const struct rule *rule, char *dst, size_t size)
{
	const char *from = rule->text, *end = dst + size - 1;
	const u16 *call = rule->syscalls;
	int first = 1;

	while (*from && dst < end) {
		int named = from > rule->text && *call;
		int kept = !named || *call != SYS_ABSENT;

		if (named && kept && !first)
			*dst++ = ',';
		first = first && !(named && kept);
		for (; *from && *from != ' ' && !(named && *from == ','); from++)
			if (kept && dst < end)
				*dst++ = *from;
		call += named;
		if (named && *from == ',')
			from++;
		else if (*from && dst < end)
			*dst++ = *from++;
	}
	*dst = '\0';
}

static void load(const struct policy *p)
{
	char text[384], example[384];
	long fd;
	u32 i;

	if (p->given)
		return;
	fd = audit_socket(0);
	/* Audit is off during this, because each rule would otherwise be recorded. */
	set_status(fd, 0);
	audit_load_set(fd, p);
	for (i = 0; i < ARRAY_SIZE(rules) && !audit_set_of(p); i++) {
		add_rule(fd, &rules[i], rules[i].values[0]);
		text_of(&rules[i], text, sizeof(text));
		step("audit: auditctl " ARCH "%s", text);
	}
	for (i = 0; i < p->rules; i++)
		add_rule(fd, &extra, FIRST_UID + i);
	if (p->rules) {
		text_of(&extra, text, sizeof(text));
		format(example, sizeof(example), text, FIRST_UID);
		step("audit: %u rules more: auditctl " ARCH "%s, and so on up to user %u",
		     p->rules, example, FIRST_UID + p->rules - 1);
	}
	set_status(fd, 1);
	step("audit: auditctl -e 1 -b %u --backlog_wait_time 0", BACKLOG);
	sys_close(fd);
}

/*
 * This is done only now, because policy loads of other modules are recorded and would fill the
 * socket.
 */
static void label(const struct policy *p)
{
	long fd;

	if (p->given) {
		/* Watched paths are in the file system that is mounted now. */
		fd = audit_socket(0);
		set_status(fd, 0);
		audit_load_given(fd, p);
		set_status(fd, 1);
		sys_close(fd);
		return;
	}
	if (audit_set_of(p))
		audit_prove_set(p);
	else
		listener = audit_socket(1u << (AUDIT_NLGRP_READLOG - 1));
}

static long open_as_user(const void *path)
{
	long ret = SYS(setresuid, USER, USER, USER);

	return ret < 0 ? ret : sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

/* The next SYSCALL record of an open(2); 0 if none comes. */
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
		or_fatal(n, "audit: receiving a record");
		if (n < (long)sizeof(*head) || head->nlmsg_type != AUDIT_SYSCALL)
			continue;
		len = n - sizeof(*head);
		if (len >= size)
			len = size - 1;
		memcpy(text, buffer + sizeof(*head), len);
		text[len] = '\0';
		if (find_text(text, mark))
			return 1;
	}
	return 0;
}

static void prove(const struct policy *p)
{
	static char text[RECORD_MAX];
	long fd, err;

	if (audit_set_of(p) || p->given)
		return;
	/* Makes room for new records; the socket reports an overflow once. */
	do {
		err = SYS(recvfrom, listener, text, sizeof(text), MSG_DONTWAIT_, NULL,
			  NULL);
	} while (err >= 0 || err == -ENOBUFS);
	err = make_file(DENIED, 1);
	if (err == 0)
		err = SYS(chmod, DENIED, 0600);
	if (err == 0)
		err = make_file(ALLOWED, 1);
	or_fatal(err, "audit: making files");
	fd = sys_open(ALLOWED, O_RDONLY | O_CLOEXEC, 0);
	or_fatal(fd, "audit: open of ./" ALLOWED);
	sys_close(fd);
	err = in_child(open_as_user, DENIED);
	if (err != -EACCES)
		fatal("audit: open of ./" DENIED " by user %u gave %s (%ld)", USER,
		      errno_name(err), -err);
	/*
	 * Records are ordered, so a record of the first open would come before the other's. There
	 * may also be records of other modules' checks.
	 */
	do {
		if (!next_record(text, sizeof(text)))
			fatal("audit: no record of the open of ./" DENIED
			      " within %d ms", ANSWER_MS);
		if (!find_text(text, " success=no "))
			fatal("audit: an unexpected record: %s", text);
	} while (!find_text(text, " uid=1000 "));
	if (!find_text(text, " exit=-13 ") || !find_text(text, "key=\"access\""))
		fatal("audit: an unexpected record: %s", text);
	text[300] = '\0';
	step("audit: recorded: open of ./" DENIED " by user %u, refused: %s", USER, text);
	step("audit: not recorded: open of ./" ALLOWED " before it, which passed");
	sys_close(listener);
	err = sys_unlink(DENIED);
	if (err == 0)
		err = sys_unlink(ALLOWED);
	or_fatal(err, "audit: removing files");
}

POLICY_MODULE(audit) = {
	.name = "audit",
	.global = 1,
	.load = load,
	.label = label,
	.prove = prove,
};
