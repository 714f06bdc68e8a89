// SPDX-License-Identifier: GPL-2.0-or-later
/* Measurements in children confined by custom policies: see given.h. */
#include <linux/mman.h>
#include "given.h"
#include "orders.h"

#define DONT_FORK	10	/* MADV_DONTFORK */
#define FRAME_MAX	(FRAME_PAYLOAD_MAX + 64)
#define LOG_TRIES	50

/* Requests of the child to its unconfined parent. */
enum order {
	ORDER_NONE,
	ORDER_SEND,		/* sends the frame, of `argument` bytes */
	ORDER_NAMES,		/* names_move(argument) */
	ORDER_DROP,		/* drop_caches() */
	ORDER_END,		/* no more requests; the child ends */
};

enum stage {
	STAGE_SETUP,
	STAGE_RUN,
};

static volatile struct shared {
	u32 order;		/* orders.h; set by the child, cleared once done */
	u32 argument;
	long answer;
	int result;
	enum stage stage;
	struct outcome out;
	char reason[REASON_MAX];
	struct sample samples[SAMPLES_MAX];
	u8 frame[FRAME_MAX];
} *shared;

static const struct policy *policies;
static unsigned int policy_count;
static int in_cell_child;	/* this is a child */
static int is_quiet;		/* its steps were reported during the checks */

int is_given_child(void)
{
	return in_cell_child;
}

/* In the child: sends the order, and waits until it is carried out. */
static long ask(enum order order, u32 argument)
{
	shared->argument = argument;
	order_give(&shared->order, order);
	return shared->answer;
}

void given_names_move(unsigned int position)
{
	ask(ORDER_NAMES, position);
}

long given_drop_caches(void)
{
	return ask(ORDER_DROP, 0);
}

/* Replaces writing a frame to the port, which a policy may deny. */
static void relay(enum frame_type type, const void *frame, size_t len)
{
	if (len > FRAME_MAX || (is_quiet && type == FRAME_STEP))
		return;
	memcpy((void *)shared->frame, frame, len);
	ask(ORDER_SEND, len);
}

/* In the parent: returns 1 once the child needs nothing more. */
static int serve(void)
{
	u32 order = shared->order;

	switch (order) {
	case ORDER_SEND:
		protocol_pass((const void *)shared->frame, shared->argument);
		break;
	case ORDER_NAMES:
		names_move(shared->argument);
		break;
	case ORDER_DROP:
		shared->answer = drop_caches();
		break;
	default:
		break;
	}
	order_set(&shared->order, ORDER_NONE);
	return order == ORDER_END;
}

/* Waits for the child's end; if it died without a report, the boot ends. */
static void attend(long child)
{
	const struct {
		s64 sec, nsec;
	} patience = { 1, 0 };
	int ended = 0, status = 0;
	long done;

	while (!ended) {
		if (shared->order == ORDER_NONE)
			order_wait(&shared->order, ORDER_NONE, &patience);
		if (shared->order != ORDER_NONE) {
			ended = serve();
			continue;
		}
		done = SYS(wait4, child, &status, 1 /* WNOHANG */, NULL);
		if (done == child)
			break;
	}
	if (ended)
		while (SYS(wait4, child, &status, 0, NULL) == -EINTR)
			;
	if (!ended && (status & 0x7f))
		fatal("the process that measures under the given policies was ended by "
		      "signal %u", status & 0x7f);
	if (!ended)
		finish(1);	/* It has reported the reason. */
}

static __attribute__((noreturn)) void end_child(void)
{
	ask(ORDER_END, 0);
	exit_process(0);
}

/* Returns 0 in the child. */
static long start_child(int quiet)
{
	long pid;

	shared->order = ORDER_NONE;
	pid = SYS(fork);
	or_fatal(pid, "fork");
	if (pid)
		return pid;
	in_cell_child = 1;
	is_quiet = quiet;
	protocol_relay(relay);
	/* The child's own children do not need it, and copying it would cost time at each fork. */
	SYS(madvise, shared, sizeof(*shared), DONT_FORK);
	return 0;
}

/*
 * Confines the child, module by module. If `prove` is set, accesses that passed before must be
 * denied to this child.
 */
static void confine_all(int prove)
{
	unsigned int last, i;

	for (last = 0; last < 2; last++)
		for (i = 0; i < policy_count; i++) {
			const struct policy *p = &policies[i];

			if (p->module->last != last || !p->given || p->module->global)
				continue;
			if (prove)
				given_try_before(p);
			if (p->module->confine)
				p->module->confine(p);
			if (prove)
				given_try_after(p);
		}
}

/* For setup() before the policy applies: the child runs it as the confined subject. */
static void enter_all(void)
{
	unsigned int i;

	for (i = 0; i < policy_count; i++)
		if (policies[i].given && policies[i].module->enter)
			policies[i].module->enter(&policies[i]);
}

/* Unconfined tasks may do anything until the next child is confined. */
void given_release(void)
{
	unsigned int i;

	for (i = 0; i < policy_count; i++)
		if (policies[i].given && policies[i].module->release)
			policies[i].module->release(&policies[i]);
}

static void try_in_root(const struct policy *p, void (*try)(const struct policy *p))
{
	long child = start_child(0);

	if (!child) {
		given_enter_root();
		try(p);
		end_child();
	}
	attend(child);
}

/* Policies that apply to all tasks are checked by the agent, or in the programs' root. */
static void rule_all(const struct policy *p)
{
	if (programs)
		try_in_root(p, given_try_before);
	else
		given_try_before(p);
	if (p->module->confine)
		p->module->confine(p);
	if (programs)
		try_in_root(p, given_try_after);
	else
		given_try_after(p);
}

static long make_in_root(const void *policy)
{
	const struct policy *p = policy;

	given_enter_root();
	given_make_all_files(p);
	return 0;
}

/* Programs find the same files in each configuration of a run, also without a policy. */
void given_make(const struct policy *all, unsigned int count)
{
	static const struct policy_module run = { .name = "all" };
	const struct policy named = { .module = &run };
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!all[i].given)
			continue;
		given_read_accesses(&all[i]);
		if (!programs)
			given_make_files(&all[i]);
	}
	if (programs && given_has(&named, "accesses"))
		or_fatal(in_child(make_in_root, &named),
			 "making the files of accesses in the root");
}

void given_prove(const struct policy *all, unsigned int count)
{
	unsigned int i, any = 0;
	long child;

	if (programs && !shared)
		shared = map_shared(sizeof(*shared));
	for (i = 0; i < count; i++) {
		if (all[i].given && all[i].module->global)
			rule_all(&all[i]);
		else
			any |= all[i].given;
	}
	if (!any)
		return;
	policies = all;
	policy_count = count;
	if (!shared)
		shared = map_shared(sizeof(*shared));
	given_log_open();
	child = start_child(0);
	if (!child) {
		given_enter_root();
		confine_all(1);
		end_child();
	}
	attend(child);
	given_release();
}

/* The reason ends with the module's own log line about the denial. */
static void add_log(struct cell *c)
{
	size_t len = strlen(c->reason);
	const char *line = NULL;
	unsigned int tries;

	for (tries = 0; !line && tries < LOG_TRIES; tries++) {
		line = given_log_next();
		/* The audit thread writes it asynchronously. */
		if (!line)
			pause_ms(10);
	}
	if (line)
		format(c->reason + len, sizeof(c->reason) - len, "; the kernel's log: %s", line);
}

static int is_refusal(int result)
{
	return result == -EACCES || result == -EPERM;
}

static int attempt(const struct cell_spec *spec, struct cell *c, struct outcome *out, int early,
		   int (*setup)(const struct cell_spec *spec),
		   int (*run)(const struct cell_spec *spec, struct outcome *out))
{
	long child;
	int err;

	memset((void *)&shared->out, 0, sizeof(shared->out));
	child = start_child(1);
	if (!child) {
		shared->stage = STAGE_SETUP;
		if (early)
			confine_all(0);
		else
			enter_all();
		err = setup(spec);
		if (!early) {
			given_remember_files();
			confine_all(0);
			given_open_again();
		}
		if (err >= 0) {
			shared->stage = STAGE_RUN;
			err = run(spec, out);
		}
		shared->result = err;
		memcpy((void *)&shared->out, out, sizeof(*out));
		memcpy((void *)shared->reason, c->reason, sizeof(c->reason));
		if (spec->metric != METRIC_INSTRUCTIONS)
			memcpy((void *)shared->samples, cell_samples, sizeof(cell_samples));
		end_child();
	}
	attend(child);
	given_release();
	memcpy(out, (const void *)&shared->out, sizeof(*out));
	memcpy(c->reason, (const void *)shared->reason, sizeof(c->reason));
	if (spec->metric != METRIC_INSTRUCTIONS)
		memcpy(cell_samples, (const void *)shared->samples, sizeof(cell_samples));
	return shared->result;
}

int given_run(const struct cell_spec *spec, struct cell *c, struct outcome *out,
	      int (*setup)(const struct cell_spec *spec),
	      int (*run)(const struct cell_spec *spec, struct outcome *out),
	      int (*again)(void))
{
	int result;

	/* A program enters its policy by itself. */
	if (!shared || is_program(spec)) {
		result = setup(spec);
		return result < 0 ? result : run(spec, out);
	}
	given_log_skip();
	result = attempt(spec, c, out, 1, setup, run);
	/* Benchmarks interpret EPERM from link as missing support in the file system. */
	if (shared->stage == STAGE_SETUP && (is_refusal(result) || result == UNSUPPORTED)) {
		result = again();
		if (result < 0)
			return result;
		c->reason[0] = '\0';
		given_log_skip();
		result = attempt(spec, c, out, 0, setup, run);
	}
	if (is_refusal(result))
		add_log(c);
	return result;
}
