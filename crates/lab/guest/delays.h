/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delays at LSM hooks, for a sweep: each measured operation runs under one point,
 * a delay on one hook or on all of them. The directive `delays MODULE` asks for it,
 * `hook NAME ID` lists hooks, `point HOOK NS,NS...` after a cell gives its points;
 * docs/protocol.md has them all.
 *
 * One file under delays/ is one module: it fills in a struct delay_module and hands it
 * to DELAY_MODULE(); nothing else names it.
 */
#ifndef LSMETER_DELAYS_H
#define LSMETER_DELAYS_H

#include "agent.h"

#define DELAY_HOOKS_MAX		320
#define DELAY_HOOK_LEN		64
#define DELAY_POINTS_MAX	65536	/* of all cells */
#define ALL_HOOKS		0xffff
#define DELAY_MAX_NS		900000	/* with a floor less than security/tunable's */

struct delay_hook {
	char name[DELAY_HOOK_LEN];	/* as lsm_hook_defs.h: inode_permission */
	u32 btf_id;			/* of its bpf_lsm_ function; 0: not known */
};

struct delay_point {
	u32 ns;
	u16 hook;			/* position in delays.hook[], or ALL_HOOKS */
};

struct delay_module {
	const char *name;
	/* In a VM, before anything else; NULL: nothing. */
	void (*prepare)(void);
	/*
	 * Once, in the working directory, before the first cell. From then on the
	 * agent and the processes that it makes, whatever they execute, are in scope;
	 * all delays are 0. fatal() with the reason if it cannot be done. Listed hooks
	 * that cannot be delayed are told to undelayed().
	 */
	void (*start)(void);
	/*
	 * The point's hooks take that long, all others nothing. Beyond that each waits
	 * for a floor, 0 or not: else entering and leaving the wait's loop would come
	 * on top of every delay but 0, and bend the line at its beginning.
	 */
	void (*set)(const struct delay_point *point);
	/*
	 * What hooks are asked from ask_begin() on, then the text of it, up to size - 1
	 * bytes of whole lines and a NUL. NULL if the module cannot tell.
	 */
	void (*ask_begin)(void);
	size_t (*ask_end)(char *text, size_t size);
	/* Once, after the last cell: nothing waits any more. */
	void (*stop)(void);
	/*
	 * Outside of a VM, when the agent ends, however far it got and even by a
	 * signal: what would stay after it goes. NULL: nothing does.
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
	int listed_only;		/* ALL_HOOKS are those that are listed */
	int counted;			/* a delay is a number of instructions, not ns */
	int own_only;			/* processes that a benchmark makes are not delayed */
	unsigned int hooks;
	struct delay_hook hook[DELAY_HOOKS_MAX];
	unsigned int points;			/* of all cells */
	struct delay_point point[DELAY_POINTS_MAX];
};

/*
 * NULL without a sweep. Not among the agent's variables: what it has in memory is
 * what the fork benchmark copies.
 */
extern struct delays *delays;

/* When the agent ends outside of a VM. */
void delays_leave(void);
/* survive.c: fatal() if delays outlive who asked for them. Before start(). */
void prove_delays_end(void);
/* sweep.c. A listed hook cannot be delayed: its points have no effect. */
void undelayed(const char *hook);
/* Memory that forked children do not get, zeroed; fatal() if there is none. */
void *delay_memory(size_t size);
/* Directives; anything wrong is fatal(). */
void parse_delays(const char *module, const char *which, const char *clock);
void parse_delay_hook(const char *name, const char *id);
void parse_delay_point(struct cell_spec *spec, const char *hook, char *ns);

#endif
