/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delays at LSM hooks, for a sweep: each measured operation runs with one point, a delay on one
 * hook or on all. The directive `delays MODULE` enables it, `hook NAME ID` lists hooks, `point HOOK
 * NS,NS...` after a measurement gives its points; see docs/protocol.md.
 *
 * A file under delays/ is one module: it fills in a struct delay_module for DELAY_MODULE(); nothing
 * else refers to it.
 */
#ifndef LSMETER_DELAYS_H
#define LSMETER_DELAYS_H

#include "agent.h"

#define DELAY_HOOKS_MAX		320
#define DELAY_HOOK_LEN		64
#define DELAY_POINTS_MAX	65536	/* of all measurements */
#define ALL_HOOKS		0xffff
#define DELAY_MAX_NS		900000	/* with the floor, below the limit of security/tunable */

struct delay_hook {
	char name[DELAY_HOOK_LEN];	/* as in lsm_hook_defs.h: inode_permission */
	u32 btf_id;			/* of its bpf_lsm_ function; 0: unknown */
};

struct delay_point {
	u32 ns;
	u16 hook;			/* position in delays.hook[], or ALL_HOOKS */
};

struct delay_module {
	const char *name;
	/* Called in a VM, before anything else; may be NULL. */
	void (*prepare)(void);
	/*
	 * Called once, in the working directory, before the first measurement. From then on the
	 * agent and its descendants, whatever they execute, are in scope; all delays are 0. fatal()
	 * with the reason on failure. Calls undelayed() for listed hooks that cannot be delayed.
	 */
	void (*start)(void);
	/*
	 * Delays the point's hooks by that time, and all others by 0. In addition, each hook waits
	 * for a floor, even with a delay of 0. Otherwise entering and leaving the wait loop would
	 * add to every delay except 0, and bend the line at its start.
	 */
	void (*set)(const struct delay_point *point);
	/*
	 * ask_begin() starts recording hook calls, ask_end() returns them as text: up to size - 1
	 * bytes of whole lines and a NUL. NULL if not supported.
	 */
	void (*ask_begin)(void);
	size_t (*ask_end)(char *text, size_t size);
	/* Called once, after the last measurement: removes all delays. */
	void (*stop)(void);
	/*
	 * Called outside a VM, whenever the agent ends, even by a signal: removes persistent
	 * state. May be NULL.
	 */
	void (*leave)(void);
};

#define DELAY_MODULE(ident)						\
	static const struct delay_module ident;				\
	static const struct delay_module *const ident##_entry		\
	__attribute__((used, section("delay_modules"))) = &ident;	\
	static const struct delay_module ident

struct delays {
	const struct delay_module *module;
	int listed_only;		/* ALL_HOOKS means the listed hooks */
	int counted;			/* delays are in instructions, not ns */
	int own_only;			/* processes of a benchmark are not delayed */
	unsigned int hooks;
	struct delay_hook hook[DELAY_HOOKS_MAX];
	unsigned int points;			/* of all measurements */
	struct delay_point point[DELAY_POINTS_MAX];
};

/*
 * NULL without a sweep. Not among the agent's variables, because the fork benchmark copies those.
 */
extern struct delays *delays;

/* When the agent ends outside a VM. */
void delays_leave(void);
/* survive.c: fatal() if delays outlive the process that requested them. Called before start(). */
void prove_delays_end(void);
/* sweep.c: reports that a listed hook cannot be delayed, so that its points have no effect. */
void undelayed(const char *hook);
/* Zeroed memory that forked children do not inherit; fatal() on failure. */
void *delay_memory(size_t size);
/* Directives; errors are fatal(). */
void parse_delays(const char *module, const char *which, const char *clock);
void parse_delay_hook(const char *name, const char *id);
void parse_delay_point(struct cell_spec *spec, const char *hook, char *ns);

#endif
