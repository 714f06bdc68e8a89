// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Custom audit rules. The host's auditctl(8) reads the user's file in the guest, in the programs'
 * root if there is one, because the kernel looks up watched paths from the caller's root. The host
 * sends auditctl with its libraries and loader.
 */
#include <linux/audit.h>
#include <linux/wait.h>
#include "audit.h"
#include "given.h"
#include "orders.h"

#define HERE		POLICY_DIR "audit/"
#define OUTPUT		HERE "output"
#define LOG		"/audit.log"
#define LOG_MAX		(16u << 20)
#define RULES		"rules"		/* stands for the file */
#define WORDS_MAX	64
#define RULE_TOLD	200	/* bytes of a wrong rule: a report has 512, and auditctl's reason */

/* The key `records`; lab/src/policy/given/audit.rs has the same numbers. */
enum records {
	RECORDS_ABSENT,		/* no audit daemon; the kernel logs them */
	RECORDS_DROPPED,	/* auditctl -r 1 */
	RECORDS_WRITTEN,	/* a daemon receives and writes them */
};

static enum records records;
static volatile u32 *writing;	/* orders.h: the daemon is registered */
static long writer;

/* Directories of watched files. */
static void make_directory(const struct policy *p, char *path)
{
	int err = make_dirs(path);

	(void)p;
	or_fatal(err, "audit: making the directories of %s", path);
}

static __attribute__((noreturn)) void be_auditctl(const struct policy *p, char **words,
						  long output)
{
	const char *argv[WORDS_MAX + 5];
	const char *const envp[] = { "LC_ALL=C", NULL };
	char loader[64], program[64], rules[64], libraries[64];
	unsigned int n = 0;

	given_enter_root();
	given_lines(p, "paths", make_directory);
	format(loader, sizeof(loader), "%s" HERE "loader", agent_root);
	format(program, sizeof(program), "%s" HERE "auditctl", agent_root);
	format(rules, sizeof(rules), "%s" HERE "rules", agent_root);
	format(libraries, sizeof(libraries), "%s" POLICY_DIR "audit", agent_root);
	argv[n++] = loader;
	argv[n++] = "--library-path";
	argv[n++] = libraries;
	argv[n++] = program;
	for (; *words; words++)
		argv[n++] = strcmp(*words, RULES) ? *words : rules;
	argv[n] = NULL;
	SYS(dup2, output, 1);
	SYS(dup2, output, 2);
	SYS(execve, loader, argv, envp);
	exit_process(127);
}

/* Its exit status. */
static int auditctl(const struct policy *p, char **words)
{
	long output, pid;
	int status = 0;

	output = sys_open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	or_fatal(output, "audit: making " OUTPUT);
	pid = SYS(fork);
	or_fatal(pid, "audit: fork");
	if (!pid)
		be_auditctl(p, words, output);
	while (SYS(wait4, pid, &status, 0, NULL) == -EINTR)
		;
	sys_close(output);
	return status & 0x7f ? 128 : status >> 8 & 0xff;
}

/*
 * When auditctl reads a file, it does not print which rule is wrong. This finds the rule by adding
 * each one.
 */
static void try_line(const struct policy *p, char *line)
{
	char *words[WORDS_MAX + 1], text[512], copy[PAGE_SIZE], *at;
	unsigned int n = 0;
	int status;

	format(copy, sizeof(copy), "%s", line);
	if (strlen(copy) > RULE_TOLD)
		memcpy(copy + RULE_TOLD, "...", sizeof("..."));
	for (at = line; *at && n < WORDS_MAX; n++) {
		words[n] = at;
		while (*at && *at != ' ' && *at != '\t')
			at++;
		while (*at == ' ' || *at == '\t')
			*at++ = '\0';
	}
	words[n] = NULL;
	status = auditctl(p, words);
	if (!status)
		return;
	read_text(OUTPUT, text, sizeof(text));
	for (at = text; *at; at++)
		if (*at == '\n')
			*at = at[1] ? ' ' : '\0';
	fatal("audit: auditctl %s: status %d: %s", copy, status, text);
}

static void add_rules(const struct policy *p)
{
	char *all[] = { "-R", RULES, NULL }, *none[] = { "-D", NULL };
	int status = auditctl(p, all);

	if (!status)
		return;
	auditctl(p, none);
	given_lines(p, "rules", try_line);
	fatal("audit: auditctl -R ended with status %d", status);
}

static long set_status(long fd, struct audit_status status)
{
	return audit_request(fd, AUDIT_SET, &status, sizeof(status));
}

static __attribute__((noreturn)) void write_records(void)
{
	long fd = audit_socket(0), log, n, written = 0;
	const struct audit_status status = { .mask = AUDIT_STATUS_PID, .pid = SYS(getpid) };

	log = sys_open(LOG, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (log < 0 || set_status(fd, status) < 0)
		exit_process(1);
	order_set(writing, 1);
	while ((n = SYS(recvfrom, fd, scratch, sizeof(scratch), 0, NULL, NULL)) != -EBADF) {
		if (n <= 0)
			continue;
		written += n;
		if (written > LOG_MAX) {
			SYS(ftruncate, log, 0);
			SYS(lseek, log, 0, 0 /* SEEK_SET */);
			written = n;
		}
		sys_write(log, scratch, n);
	}
	exit_process(0);
}

/*
 * A wait without __WALL ignores the daemon, because it sends no signal when it ends. The code that
 * ends all processes that a program left behind also ends the daemon.
 */
void given_write_records(void)
{
	const struct {
		s64 sec, nsec;
	} patience = { 5, 0 };
	int status;

	if (records != RECORDS_WRITTEN)
		return;
	if (writer > 0 && SYS(wait4, writer, &status, __WALL | WNOHANG, NULL) == 0)
		return;
	if (!writing)
		writing = map_shared(PAGE_SIZE);
	*writing = 0;
	writer = SYS(clone, 0, 0, 0, 0, 0);
	or_fatal(writer, "audit: clone");
	if (!writer)
		write_records();
	if (!*writing)
		order_wait(writing, 0, &patience);
	if (!*writing)
		fatal("audit: the daemon cannot register itself");
}

int given_has_writer(void)
{
	return records == RECORDS_WRITTEN;
}

void audit_load_given(long fd, const struct policy *p)
{
	const struct audit_status limit = { .mask = AUDIT_STATUS_RATE_LIMIT, .rate_limit = 1 };
	u32 found;

	add_rules(p);
	found = audit_count_rules(fd);
	if (found != p->audit_rules)
		fatal("audit: auditctl -l lists %u rules: the file has %u", found, p->audit_rules);
	step("audit: auditctl -R rules; auditctl -l: %u rules", found);
	records = p->records;
	if (records == RECORDS_DROPPED) {
		or_fatal(set_status(fd, limit), "audit: auditctl -r 1");
		step("audit: auditctl -r 1: records are dropped");
	}
	given_write_records();
}
