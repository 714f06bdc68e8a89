// SPDX-License-Identifier: GPL-2.0-or-later
/* Cells in children that come under policies of the user's own: given.h says why. */
#include <linux/mman.h>
#include "given.h"
#include "orders.h"

#define DONT_FORK	10	/* MADV_DONTFORK */
#define FRAME_MAX	(FRAME_PAYLOAD_MAX + 64)
#define LOG_TRIES	50

/* What the child wants of who is not confined. */
enum order {
	ORDER_NONE,
	ORDER_SEND,		/* the frame, of `argument` bytes */
	ORDER_NAMES,		/* names_move(argument) */
	ORDER_DROP,		/* drop_caches() */
	ORDER_END,		/* nothing more: it ends */
};

enum stage {
	STAGE_SETUP,
	STAGE_RUN,
};

static volatile struct shared {
	u32 order;		/* orders.h; the child sets it, and it is cleared once done */
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
static long kernel_log = -1;
static int in_cell_child;	/* this is a child */
static int is_quiet;		/* its steps were told when policies were proven */

int is_given_child(void)
{
	return in_cell_child;
}

/* The child's: has it done, and waits until it is. */
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

/* In place of writing a frame to the port, which a policy may not allow. */
static void relay(enum frame_type type, const void *frame, size_t len)
{
	if (len > FRAME_MAX || (is_quiet && type == FRAME_STEP))
		return;
	memcpy((void *)shared->frame, frame, len);
	ask(ORDER_SEND, len);
}

/* The parent's: 1 once the child wants nothing more. */
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

/* Until the child has ended; what it must not do without saying so ends the boot. */
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
		finish(1);	/* It has said why. */
}

static __attribute__((noreturn)) void end_child(void)
{
	ask(ORDER_END, 0);
	exit_process(0);
}

/* 0 in the child. */
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
	/* What it forks has no use for it, and forking it would cost. */
	SYS(madvise, shared, sizeof(*shared), DONT_FORK);
	return 0;
}

/*
 * The child comes under them, module after module. If they are to be proven, it is this one
 * that denies what passed until then.
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

/* What is set up before they rule the child is made as by whom they confine. */
static void enter_all(void)
{
	unsigned int i;

	for (i = 0; i < policy_count; i++)
		if (policies[i].given && policies[i].module->enter)
			policies[i].module->enter(&policies[i]);
}

/* Until the next one comes under them, who is outside may do all. */
static void release_all(void)
{
	unsigned int i;

	for (i = 0; i < policy_count; i++)
		if (policies[i].given && policies[i].module->release)
			policies[i].module->release(&policies[i]);
}

/* Proven by who is ruled like all others. */
static void rule_all(const struct policy *p)
{
	given_try_before(p);
	p->module->confine(p);
	given_try_after(p);
}

void given_make(const struct policy *all, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!all[i].given)
			continue;
		given_read_accesses(&all[i]);
		given_make_files(&all[i]);
	}
}

void given_prove(const struct policy *all, unsigned int count)
{
	unsigned int i, any = 0;
	long child;

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
	shared = map_shared(sizeof(*shared));
	/* So that each cell's denial is in the log, not only those of five seconds. */
	write_line("/proc/sys/kernel/printk_ratelimit", "0");
	kernel_log = sys_open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	child = start_child(0);
	if (!child) {
		confine_all(1);
		end_child();
	}
	attend(child);
	release_all();
}

static void skip_log(void)
{
	if (kernel_log >= 0)
		SYS(lseek, kernel_log, 0, 2 /* SEEK_END */);
}

/* What a module says of a denial, in a record of the kernel's log; or NULL. */
static char *denial_in(char *record)
{
	static const char *const marks[] = {
		"apparmor=\"DENIED\"", "avc:  denied", "domain=", "lsm=SMACK",
	};
	const char *at;
	unsigned int i;

	/* What passed because nobody was enforced upon. */
	if (find_text(record, "permissive=1"))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		at = find_text(record, marks[i]);
		if (at)
			return record + (at - record);
	}
	return NULL;
}

/* The module's own line on the denial stands behind the reason. */
static void add_log(struct cell *c)
{
	static char record[8192];
	size_t len = strlen(c->reason);
	unsigned int tries;
	char *line, *end;
	long n;

	for (tries = 0; kernel_log >= 0 && tries < LOG_TRIES; tries++) {
		while ((n = sys_read(kernel_log, record, sizeof(record) - 1)) > 0) {
			record[n] = '\0';
			line = denial_in(record);
			if (!line)
				continue;
			for (end = line; *end && *end != '\n'; end++)
				;
			*end = '\0';
			format(c->reason + len, sizeof(c->reason) - len, "; the kernel's log: %s",
			       line);
			return;
		}
		/* The audit thread writes it when it comes to run. */
		pause_ms(10);
	}
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
	release_all();
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

	if (!shared) {
		result = setup(spec);
		return result < 0 ? result : run(spec, out);
	}
	skip_log();
	result = attempt(spec, c, out, 1, setup, run);
	/* Benchmarks take EPERM of a link for what the file system cannot do. */
	if (shared->stage == STAGE_SETUP && (is_refusal(result) || result == UNSUPPORTED)) {
		result = again();
		if (result < 0)
			return result;
		c->reason[0] = '\0';
		skip_log();
		result = attempt(spec, c, out, 0, setup, run);
	}
	if (is_refusal(result))
		add_log(c);
	return result;
}
