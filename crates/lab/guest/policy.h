/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module's policy. A file under policy/ is one module (or integrity subsystem): it fills in a
 * struct policy_module for POLICY_MODULE(); nothing else refers to it.
 *
 * The directive `policy MODULE STATE [KEY=VALUE...]` selects one. policy.c then calls, module by
 * module in the order of the directives:
 *
 *	load()		before the measured file system is mounted
 *	label()		once it is mounted and its root is the current directory
 *	confine()	puts the agent itself under the policy, permanently
 *	prove()		an access that must be denied, and one that must pass
 *
 * confine() and prove() of a module marked `last` run after those of all others.
 *
 * Each reports with step() what it did, so that a reader could repeat it by hand; any failure is
 * fatal(). Files from the host (a compiled policy) are below POLICY_DIR in a directory with the
 * module's name.
 *
 * prove() removes whatever the module left in the current directory, so that a benchmark finds the
 * same directory as without a policy.
 */
#ifndef LSMETER_POLICY_H
#define LSMETER_POLICY_H

#include "agent.h"

#define POLICY_DIR	"/policy/"
#define POLICIES_MAX	16

enum policy_state {
	POLICY_NONE,		/* the module runs without a policy */
	POLICY_PERMISSIVE,	/* denials are logged only */
	POLICY_ENFORCING,
};

/* The directive's settings; 0 if not given. */
struct policy {
	const struct policy_module *module;
	enum policy_state state;
	u32 rules;
	u32 layers;
	u32 avc_entries;
	u32 ima_policy;		/* policy/ima.c */
	u32 audit_rules;	/* enum audit_set of settings/audit.h */
	u32 labels;		/* settings/labels.c */
	u32 denials;		/* settings/denials.c */
	u32 given;		/* settings/given.c: custom policies */
	u32 records;		/* settings/given-audit.c */
	u32 first_after;	/* enum first_after of settings/first.h */
};

struct policy_module {
	const char *name;	/* as in /sys/kernel/security/lsm, or "audit" */
	/*
	 * Once this module confines the agent, the agent could not run confine() and prove() of
	 * other modules, so this module comes last.
	 */
	unsigned int last : 1;
	/* Custom policies: the policy applies to all tasks, and comes into force once. */
	unsigned int global : 1;
	void (*load)(const struct policy *p);
	void (*label)(const struct policy *p);
	void (*confine)(const struct policy *p);
	void (*prove)(const struct policy *p);
	/* Custom policies: called after a confined child has ended. */
	void (*release)(const struct policy *p);
	/*
	 * Called before the child's setup(), to run it as the confined subject, but with all
	 * permissions.
	 */
	void (*enter)(const struct policy *p);
	/* Custom policies and whole programs: this task's next execve() is under the policy. */
	void (*start)(const struct policy *p);
	/*
	 * A task's subject is read from this file in /proc/PID/attr/, or found by a function,
	 * which may return -errno.
	 */
	const char *subject_file;
	long (*subject_of)(long pid, char *dst, size_t size);
	/*
	 * Switches on the logging of denials, whose cost would be measured; returns 0 if that is
	 * not possible.
	 */
	int (*log_denials)(void);
	/* The next denial that the module itself has stored, in one line; 0 if none is left. */
	int (*next_denial)(char *dst, size_t size);
	/*
	 * In permissive mode, an access (`read`, `write` ...) to `path` (or a port) that was
	 * allowed only because of this mode must be in the kernel log, or in the module's own
	 * count.
	 */
	void (*prove_noticed)(const struct policy *p, const char *access, const char *path);
	u32 (*let_pass)(void);
	/*
	 * Loads the same policy again, from a process outside it: settings/outside.h. `round`
	 * increases by one each time. 0 or -errno; must not be fatal().
	 */
	long (*load_again)(const struct policy *p, u32 round);
	/*
	 * How often BPF programs have run; runs are counted from the first call until a call with
	 * `stop`.
	 */
	u64 (*runs)(int stop);
	/* Whether IMA has measured this file. */
	int (*has_measured)(const char *path);
	/*
	 * Called after load(): a mount option for the root of programs that gives unlabelled files
	 * one of the policy's labels, or "".
	 */
	const char *(*root_option)(const struct policy *p);
	/*
	 * Called after load(), for files copied into the root: their label and its attribute, if
	 * root_option() does not apply because new files get their creator's label. NULL for none.
	 */
	const char *(*copied_label)(const struct policy *p, const char **attribute);
};

/* Registers a module: a pointer in the section that policy.c walks. */
#define POLICY_MODULE(ident)						\
	static const struct policy_module ident;			\
	static const struct policy_module *const ident##_entry		\
	__attribute__((used, section("policies"))) = &ident;		\
	static const struct policy_module ident

/* policy.c: one line about an action, for the result file. */
void step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Cleared in programs, which enter their policies again in each run. */
extern int steps_are_reported;
/*
 * Reports the processor time that a step of loading a policy took; taken() in the host's
 * policy/taken.rs reads it.
 */
void step_took(const char *module, const char *what, u64 ns);

/*
 * Checks: an access returned `result`. The text names the attempt: "open of ./denied for reading".
 * If a check fails, this is fatal(), and nothing is measured.
 */
void prove_denied(const struct policy *p, const char *what, long result,
		  long expected);	/* expected: -EACCES, -EPERM ... */
void prove_allowed(const struct policy *p, const char *what, long result);

/* Creates and unlinks `name` in the working directory, which must pass. */
void prove_own_file(const struct policy *p, const char *name);
/*
 * settings/given-log.c: called before an access with which a permissive policy is checked.
 * Afterwards: whether a record that the kernel has logged since then contains both texts; and a
 * check that one does.
 */
void log_mark(const struct policy *p);
int is_logged(const char *text, const char *other);
void prove_logged(const struct policy *p, const char *text, const char *other);

/*
 * The path below which the agent's children, whose root is the programs', find the agent's files:
 * "" or "/proc/1/root".
 */
extern const char *agent_root;
const char *own_path(const char *path);		/* until the next call */
long open_own(const char *path, int flags);

/* Runs access() in a child, and returns its result. */
long in_child(long (*access)(const void *argument), const void *argument);

/* Writes a complete file with one write(); fatal() on failure. Returns the number of bytes. */
size_t write_whole(const char *path, const void *data, size_t len);
/* Maps a file; the caller unmaps *len bytes. fatal() if it is empty or too large. */
const char *map_whole(const char *path, size_t *len);
/* Copies a file: POLICY_DIR "selinux/policy" to "/sys/fs/selinux/load". */
size_t copy_whole(const char *from, const char *to);
/* Returns failures as -errno. */
long put_whole(const char *path, const void *data, size_t len);
long put_copy(const char *from, const char *to);
/* Writes a line to a kernel file; fatal() on failure. */
void write_line(const char *path, const char *text);

#endif
