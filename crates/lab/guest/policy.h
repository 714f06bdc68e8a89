/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a module's policy is. One file under policy/ is one module (or integrity
 * subsystem): it fills in a struct policy_module and hands it to
 * POLICY_MODULE(); nothing else names it.
 *
 * The directive `policy MODULE STATE [KEY=VALUE...]` asks for one. policy.c
 * then calls, module by module in the order of the directives:
 *
 *	load()		before the file system that is worked on is mounted
 *	label()		once it is mounted and its root is the current directory
 *	confine()	the agent itself comes under the policy, for good
 *	prove()		an access that must be denied, and one that must pass
 *
 * confine() and prove() of one marked `last` run after those of all others.
 *
 * Each says with step() what it did, in words by which a reader could do the
 * same by hand; whatever does not work is fatal(). Files that the host made
 * for it (a compiled policy) lie below POLICY_DIR in a directory of the
 * module's name.
 *
 * What a module leaves behind in the current directory, it takes away in
 * prove(); a benchmark finds the directory as it would without a policy.
 */
#ifndef LSMETER_POLICY_H
#define LSMETER_POLICY_H

#include "agent.h"

#define POLICY_DIR	"/policy/"

enum policy_state {
	POLICY_NONE,		/* the module runs, nothing decides */
	POLICY_PERMISSIVE,	/* denials are logged only */
	POLICY_ENFORCING,
};

/* What a directive asks for; 0 where it says nothing. */
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
	u32 given;		/* settings/given.c: the user's own */
	u32 first_after;	/* enum first_after of settings/first.h */
};

struct policy_module {
	const char *name;	/* as /sys/kernel/security/lsm has it, or "audit" */
	/*
	 * Confined, it could no longer do what the confine() and prove() of others
	 * take: it comes when all these are done.
	 */
	unsigned int last : 1;
	/* Of the user's own: it rules all tasks, and comes into force once. */
	unsigned int global : 1;
	void (*load)(const struct policy *p);
	void (*label)(const struct policy *p);
	void (*confine)(const struct policy *p);
	void (*prove)(const struct policy *p);
	/* Of the user's own: once a child that came under it has ended. */
	void (*release)(const struct policy *p);
	/* Before a child sets up what it is measured with: as whom, if it may still do all. */
	void (*enter)(const struct policy *p);
	/*
	 * Permissive: that an access to `path` (or a port) passed only for this must be in the
	 * kernel's log, or have raised the module's own count.
	 */
	void (*prove_noticed)(const struct policy *p, const char *path);
	u32 (*let_pass)(void);
	/*
	 * The same policy once more, by who is outside: settings/outside.h. `round` differs from
	 * that of the last time by one. 0 or -errno; nothing here may be fatal().
	 */
	long (*load_again)(const struct policy *p, u32 round);
	/* Has this file been measured? */
	int (*has_measured)(const char *path);
	/*
	 * After load(): how the root of programs is mounted, so that what bears no label
	 * of its own has one of the policy's. An option of mount(8), or "".
	 */
	const char *(*root_option)(const struct policy *p);
	/*
	 * After load(), of files that are copied into the root: the label of the policy that
	 * root_option() does not give them, since whoever makes a file gives it one, and the
	 * attribute that it is. NULL for none.
	 */
	const char *(*copied_label)(const struct policy *p, const char **attribute);
};

/* Registers a module: a pointer in the section that policy.c walks. */
#define POLICY_MODULE(ident)						\
	static const struct policy_module ident;			\
	static const struct policy_module *const ident##_entry		\
	__attribute__((used, section("policies"))) = &ident;		\
	static const struct policy_module ident

/* policy.c: what was done, one line, for the run document. */
void step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * What a part of bringing a policy into force took of the processor; taken() of the host's
 * policy/taken.rs reads it.
 */
void step_took(const char *module, const char *what, u64 ns);

/*
 * Proofs. An access that the policy decides on returned `result`; what is
 * said is what was tried: "open of ./denied for reading". A proof that fails
 * is fatal(): nothing is measured then.
 */
void prove_denied(const struct policy *p, const char *what, long result,
		  long expected);	/* expected: -EACCES, -EPERM ... */
void prove_allowed(const struct policy *p, const char *what, long result);

/* Creates and unlinks `name` in the working directory, which must pass. */
void prove_own_file(const struct policy *p, const char *name);
/* One record of the kernel's log must hold both texts. */
void prove_logged(const struct policy *p, const char *text, const char *other);

/* A child's verdict: runs access() in a child, and returns what it returned. */
long in_child(long (*access)(const void *argument), const void *argument);

/* The whole of a file, in one write(); fatal() if that fails. Returns bytes. */
size_t write_whole(const char *path, const void *data, size_t len);
/* A file in memory, of which the caller unmaps *len bytes; fatal() if it is empty or too large. */
const char *map_whole(const char *path, size_t *len);
/* The same from a file: POLICY_DIR "selinux/policy" to "/sys/fs/selinux/load". */
size_t copy_whole(const char *from, const char *to);
/* What does not work is returned, as -errno. */
long put_whole(const char *path, const void *data, size_t len);
long put_copy(const char *from, const char *to);
/* A text of a line to a file of the kernel's; fatal() if it refuses. */
void write_line(const char *path, const char *text);

#endif
