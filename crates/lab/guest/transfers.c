// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The transfers metric: one process on each processor performs operations in turn, and the plugin
 * counts what those of the first processor transfer. The others may transfer more or less, since
 * their objects lie elsewhere. Whoever waits for its turn spins with an instruction that ends its
 * turn in QEMU as well, so exactly one operation runs at a time.
 */
#include <linux/sched.h>
#include <linux/signal.h>
#include "agent.h"
#include "policy.h"

struct turns {
	volatile u32 next;		/* the process whose turn it is */
	volatile int error;		/* the first */
	char reason[REASON_MAX];
};

static void pin_to(unsigned int processor)
{
	u64 mask = 1ull << processor;
	long err = SYS(sched_setaffinity, 0, sizeof(mask), &mask);

	or_fatal(err, "running on processor %u", processor);
}

/*
 * Linux before 6.5 waits for a new processor in a loop that calls schedule() and never pauses. QEMU
 * then runs no other processor, unless a task here pauses.
 */
void processors_start(void)
{
	unsigned int i;
	long pid, err;

	if (experiment.processors < 2)
		return;
	pid = SYS(fork);
	or_fatal(pid, "fork");
	while (!pid)
		relax();
	for (i = 1; i < experiment.processors; i++) {
		char path[64];

		format(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", i);
		err = put_whole(path, "1", 1);
		or_fatal(err, "starting processor %u of %u", i + 1, experiment.processors);
	}
	SYS(kill, pid, SIGKILL);
	SYS(wait4, pid, NULL, 0, NULL);
}

static int has_path(const struct cell *c)
{
	return c->variant->path && *c->variant->path;
}

/* Files of its own: in a directory of its own, or with other names. */
static int set_up_apart(const struct cell_spec *spec, struct cell *c, unsigned int number)
{
	static struct variant own;
	static char path[sizeof(c->path)];
	char name[16];
	long err;

	if (spec->apart == SHARE_DIRECTORY) {
		c->number = number;
		c->random += number;
		if (has_path(c)) {
			format(path, sizeof(path), "%u%s", number, c->variant->path + 1);
			own = *c->variant;
			own.path = path;
			c->variant = &own;
		}
	} else {
		format(name, sizeof(name), "../cell%u", number);
		err = sys_mkdir(name, 0755);
		if (err >= 0)
			err = SYS(chdir, name);
		if (err < 0)
			return explain(c, "making the process's directory", err);
	}
	memset(c->fd, 0, sizeof(c->fd));
	memset(c->state, 0, sizeof(c->state));
	err = spec->benchmark->setup ? spec->benchmark->setup(c) : 0;
	return err < 0 ? explain(c, "setup", err) : 0;
}

static void fail(struct turns *turns, const struct cell *c, int error, unsigned int processor)
{
	if (turns->error)
		return;
	turns->error = error;
	if (processor)
		format(turns->reason, sizeof(turns->reason), "the process on processor %u: %s",
		       processor, c->reason);
	else
		memcpy(turns->reason, c->reason, sizeof(turns->reason));
}

int count_transfers(const struct cell_spec *spec, struct cell *c, struct outcome *out)
{
	unsigned int n = spec->warmup + spec->samples, me, i;
	struct turns *turns;
	int err = 0;

	if (spec->variant->together)
		return unsupported(c, "its operations run together, not in turn", 0);
	if (spec->apart == SHARE_DIRECTORY && !c->is_named && !has_path(c))
		return unsupported(c, "its files have fixed names, or it has none", 0);
	turns = map_shared(sizeof(*turns));
	for (me = experiment.processors - 1; me; me--) {
		long pid = SYS(fork);

		or_fatal(pid, "fork");
		if (!pid)
			break;
	}
	if (me) {
		protocol_forget();
		pin_to(me);
	}
	touch_memory();
	for (i = 0; i <= n; i++) {
		while (turns->next != me)
			relax();
		if (!i && me && spec->apart)
			err = set_up_apart(spec, c, me);
		if (!me && i == spec->warmup + 1)
			marker(MARKER_CELL_BEGIN);
		if (i && !turns->error)
			err = operate_alone(spec, c, i, i % slots(spec->benchmark),
					    !me && i > spec->warmup);
		if (err)
			fail(turns, c, err, me);
		else if (!me && i > spec->warmup)
			out->operations++;
		turns->next = (me + 1) % experiment.processors;
	}
	if (me)
		exit_process(0);
	while (turns->next)
		relax();
	out->samples = spec->samples;
	marker(MARKER_CELL_END);
	memcpy(c->reason, turns->reason, sizeof(turns->reason));
	return turns->error;
}
