// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks that no delay outlives the process that requested it. A child requests delays, a witness
 * in its scope times a few calls, the child is killed during a delay, and the witness times them
 * again.
 */
#include <linux/close_range.h>
#include <linux/signal.h>
#include "delays.h"
#include "policy.h"

#define DELAY_NS	500000
#define STAT_SIZE	256
#define DONT_FORK	10	/* MADV_DONTFORK */
#define DO_FORK		11	/* MADV_DOFORK */

/* Hooks called by the witness, on every kernel. */
static const char *const asked[] = { "inode_getattr", "inode_permission", "file_open" };

struct note {
	u64 delayed_ns;
	u64 after_ns;
};

static u64 time_calls(void)
{
	char st[STAT_SIZE];
	u64 begin = now_ns();
	long fd;

	SYS(stat, "/proc/self/status", st);
	fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0)
		sys_close(fd);
	return now_ns() - begin;
}

static int is_asked(const char *hook)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		if (!strcmp(asked[i], hook))
			return 1;
	return 0;
}

/* Other hooks would only take time, because each needs a program. */
static unsigned int keep_asked_hooks(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < delays->hooks; i++)
		if (is_asked(delays->hook[i].name))
			delays->hook[n++] = delays->hook[i];
	delays->hooks = n;
	delays->points = 0;
	return n;
}

/* It has only its pipes open, and no file that keeps the delays active. */
static __attribute__((noreturn)) void witness(int from, int to)
{
	struct note note;
	char go;

	SYS(dup2, from, 3);
	SYS(dup2, to, 4);
	SYS(close_range, 5, ~0u, 0);
	note.delayed_ns = time_calls();
	sys_write(4, &note.delayed_ns, sizeof(note.delayed_ns));
	sys_read(3, &go, 1);
	note.after_ns = time_calls();
	sys_write(4, &note.after_ns, sizeof(note.after_ns));
	exit_process(0);
}

static __attribute__((noreturn)) void hold_delays(int from, int to)
{
	static const struct delay_point point = { .ns = DELAY_NS, .hook = ALL_HOOKS };

	keep_asked_hooks();
	delays->module->start();
	delays->module->set(&point);
	if (SYS(fork) == 0)
		witness(from, to);
	for (;;)
		time_calls();
}

static u64 read_note(int fd)
{
	u64 ns = 0;

	if (sys_read(fd, &ns, sizeof(ns)) != sizeof(ns))
		fatal("proof that no delay survives: its witness ended");
	return ns;
}

void prove_delays_end(void)
{
	int to_witness[2], from_witness[2];
	u64 delayed_ns, after_ns;
	unsigned int i;
	long child;

	for (i = 0; i < delays->hooks && !is_asked(delays->hook[i].name); i++)
		;
	if (i == delays->hooks && delays->hooks) {
		step("not proven that delays end with their process: its calls do not reach them");
		return;
	}
	if (SYS(pipe2, to_witness, 0) < 0 || SYS(pipe2, from_witness, 0) < 0)
		fatal("proof that no delay survives: no pipe");
	SYS(madvise, delays, sizeof(*delays), DO_FORK);
	child = SYS(fork);
	if (child == 0)
		hold_delays(to_witness[0], from_witness[1]);
	SYS(madvise, delays, sizeof(*delays), DONT_FORK);
	or_fatal(child, "proof that no delay survives: fork");
	sys_close(to_witness[0]);
	sys_close(from_witness[1]);
	delayed_ns = read_note(from_witness[0]);
	SYS(kill, child, SIGKILL);
	SYS(wait4, child, NULL, 0, NULL);
	sys_write(to_witness[1], "", 1);
	after_ns = read_note(from_witness[0]);
	sys_close(to_witness[1]);
	sys_close(from_witness[0]);
	SYS(wait4, -1, NULL, 0, NULL);
	if (delayed_ns < DELAY_NS)
		fatal("proof that no delay survives: with delays of %u ns, stat and open took %lu ns",
		      DELAY_NS, delayed_ns);
	if (after_ns >= DELAY_NS)
		fatal("delays survive: their process was killed, but stat and open take %lu ns",
		      after_ns);
	step("killed (SIGKILL) a process that had hooks delayed by %u us: stat and open took %lu us before, %lu us after",
	     DELAY_NS / 1000, delayed_ns / 1000, after_ns / 1000);
}
