// SPDX-License-Identifier: GPL-2.0-or-later
#include "../child.h"
#include "../signals.h"

#define VALUE	42

struct action {
	void (*handler)(int number);
	u64 flags;
	void (*restorer)(void);
	u64 mask;
};

static int ignore(int number, struct action *old)
{
	struct action action = { .handler = SIG_IGN };

	return SYS(rt_sigaction, number, &action, old, sizeof(u64));
}

static int kill_setup(struct cell *c)
{
	if (c->variant->arg2)
		return start_child(c);
	c->state[CHILD] = SYS(getpid);
	return c->variant->arg ? ignore(c->variant->arg, (struct action *)slot_data(c)) : 0;
}

/*
 * Measured: kill. `null` only checks whether a signal to the agent itself may be sent; `ignored`
 * sends one that it ignores; `child` checks for another process. Nothing to undo.
 */
OP(kill_op, SYS(kill, c->state[CHILD], c->variant->arg));

static int kill_check(struct cell *c)
{
	long ret = kill_op(c, 0);

	if (ret < 0)
		return ret;
	/* Above any limit of process numbers. */
	return SYS(kill, 0x7ffffffe, 0) == -ESRCH ? 0 : failed(c, "kill: wrong result", 0);
}

static void kill_teardown(struct cell *c)
{
	if (c->variant->arg2)
		end_child(c);
	else if (c->variant->arg)
		SYS(rt_sigaction, c->variant->arg, slot_data(c), NULL, sizeof(u64));
}

BENCH("kill", SIGNAL, IPC, 13,
      "kill of the process itself or a child, with a signal that has no effect",
      .source = "LMbench lat_sig; kill(2)",
      .variants = VARIANTS({ "null" }, { "ignored", .arg = SIGUSR1 }, { "child", .arg2 = 1 }),
      .setup = kill_setup, .check = kill_check, .op = kill_op, .teardown = kill_teardown);

static long kill_wait_op(struct cell *c, unsigned int i)
{
	long ret = SYS(kill, c->state[SELF], BLOCKED);

	return ret < 0 ? ret : take_signal(c);
}

static int kill_wait_check(struct cell *c)
{
	long ret = kill_wait_op(c, 0);

	return wrong_if(c, ret, ret != BLOCKED || taken(c)->si_code != SI_USER,
			"rt_sigtimedwait: wrong signal");
}

BENCH("kill-wait", SIGNAL, IPC, 14, "a blocked signal to the process itself, sent and taken",
      .source = "kill(2), sigwaitinfo(2)", .syscalls = "kill rt_sigtimedwait",
      .variants = VARIANTS({ "self" }),
      .setup = block_signal, .check = kill_wait_check, .op = kill_wait_op,
      .teardown = unblock_signal);

static siginfo_t *sent(struct cell *c)
{
	return (siginfo_t *)slot_name(c, 1);
}

static int sigqueue_wait_setup(struct cell *c)
{
	sent(c)->si_signo = BLOCKED;
	sent(c)->si_code = SI_QUEUE;
	sent(c)->si_value.sival_int = VALUE;
	return block_signal(c);
}

static long sigqueue_wait_op(struct cell *c, unsigned int i)
{
	long ret = SYS(rt_sigqueueinfo, c->state[SELF], BLOCKED, sent(c));

	return ret < 0 ? ret : take_signal(c);
}

static int sigqueue_wait_check(struct cell *c)
{
	long ret = sigqueue_wait_op(c, 0);

	return wrong_if(c, ret, ret != BLOCKED || taken(c)->si_value.sival_int != VALUE,
			"rt_sigtimedwait: wrong signal");
}

BENCH("sigqueue-wait", SIGNAL, IPC, 15,
      "a blocked signal with a value to the process itself, sent and taken",
      .source = "sigqueue(3), sigwaitinfo(2)", .syscalls = "rt_sigqueueinfo rt_sigtimedwait",
      .variants = VARIANTS({ "self" }),
      .setup = sigqueue_wait_setup, .check = sigqueue_wait_check, .op = sigqueue_wait_op,
      .teardown = unblock_signal);

static long pidfd_open_op(struct cell *c, unsigned int i)
{
	long fd = SYS(pidfd_open, c->state[0], 0);

	*slot_fd(c, i) = fd;
	return fd;
}

static int pidfd_open_setup(struct cell *c)
{
	c->state[0] = SYS(getpid);
	return 0;
}

static int pidfd_open_check(struct cell *c)
{
	long ret = pidfd_open_op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no pidfd_open", ret);
	if (ret >= 0)
		ret = SYS(pidfd_send_signal, ret, 0, NULL, 0);
	return ret < 0 ? ret : slot_close(c, 0);
}

BENCH("pidfd_open", SIGNAL, IPC, 16, "pidfd_open of the process itself",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "self" }),
      .setup = pidfd_open_setup, .check = pidfd_open_check, .op = pidfd_open_op, .undo = slot_close);

static int pidfd_send_signal_setup(struct cell *c)
{
	int ret = start_child(c);
	long fd;

	if (ret)
		return ret;
	fd = SYS(pidfd_open, c->state[CHILD], 0);
	if (fd >= 0) {
		c->fd[0] = fd;
		return 0;
	}
	end_child(c);
	return fd == -ENOSYS ? unsupported(c, "this kernel has no pidfd_open", fd) : (int)fd;
}

OP(pidfd_send_signal_op, SYS(pidfd_send_signal, c->fd[0], 0, NULL, 0));

static int pidfd_send_signal_check(struct cell *c)
{
	long ret = pidfd_send_signal_op(c, 0);

	if (ret < 0)
		return ret;
	/* Standard input is not a process. */
	return SYS(pidfd_send_signal, 0, 0, NULL, 0) == -EBADF ? 0 :
	       failed(c, "pidfd_send_signal: wrong result", 0);
}

static void pidfd_send_signal_teardown(struct cell *c)
{
	close_as(c, 0);
	end_child(c);
}

BENCH("pidfd_send_signal", SIGNAL, IPC, 17,
      "pidfd_send_signal to a child, with a signal that has no effect",
      .variants = VARIANTS({ "child" }),
      .setup = pidfd_send_signal_setup, .check = pidfd_send_signal_check,
      .op = pidfd_send_signal_op, .teardown = pidfd_send_signal_teardown);
