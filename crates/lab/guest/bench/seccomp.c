// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a filter of system calls is installed (`install`), by a child that exits then; or getppid
 * of a child that has one, which lets the call pass (`allow`) or lets it pass and has it written down
 * (`log`). Nobody takes a filter off again, so that each operation has a child of its own, and its
 * window is the child's. It gives way once behind a call that is written down: the task of the
 * kernel that works off audit's messages runs in the window, sooner or later, and counts.
 */
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include "../child.h"
#include "../sockets.h"
#include "../vm-only.h"

enum { INSTALL, ALLOW, LOG };	/* arg of variants */

#define LETS_PASS	7	/* the child's status, so that 0 cannot pass by chance */

static long install(u32 action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return SYS(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* What the child exits with. */
static long measure(long which, u32 action, long passes)
{
	long ret = SYS(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

	if (ret >= 0 && which != INSTALL)
		ret = install(action);
	if (ret < 0)
		return -ret;
	if (which == LOG)
		marker(MARKER_WINDOW_BEGIN_ALL);
	else
		window_begin();
	if (which == INSTALL)
		ret = install(action);
	else
		ret = SYS(getppid);
	if (which == LOG)
		SYS(sched_yield);
	window_end();
	if (ret < 0)
		return -ret;
	/* It is in force. */
	return SYS(getppid) == passes ? LETS_PASS : EIO;
}

static inline __attribute__((always_inline)) long in_a_child(long which, u32 action, int passes)
{
	long parent = SYS(getpid), pid = SYS(fork);

	if (pid == 0) {
		long ret = measure(which, action, passes ? parent : -EPERM);

		for (;;)
			SYS(exit_group, ret & 0xff);
	}
	return result_of_child(pid, LETS_PASS);
}

/*
 * A filter of a socket's that stays: programs lie together in pieces of memory, which are given back
 * when the last one goes. So no operation makes such a piece, of 2 MiB, and fills it.
 */
static long keep_a_program(struct cell *c)
{
	struct sock_filter code = BPF_STMT(BPF_RET | BPF_K, ~0u);
	struct sock_fprog program = { 1, &code };
	long fd = SYS(socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	c->fd[0] = fd;
	fd = SYS(setsockopt, fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	if (fd < 0)
		close_as(c, 0);
	return fd;
}

static int setup(struct cell *c)
{
	int err = c->variant->arg == LOG ? vm_only(c, "it writes to the machine's log") : 0;

	return err ? err : keep_a_program(c);
}

OP(op,
   in_a_child(c->variant->arg, c->variant->arg == LOG ? SECCOMP_RET_LOG : SECCOMP_RET_ALLOW, 1));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no filters of system calls, or no second task", ret);
	if (ret < 0)
		return ret;
	/* A filter that lets nothing pass shows that a child's filter is in force. */
	ret = in_a_child(INSTALL, SECCOMP_RET_ERRNO | EPERM, 0);
	return ret < 0 ? failed(c, "seccomp: wrong result", ret) : 0;
}

BENCH("seccomp", CREDENTIALS, PROCESS, 29,
      "a filter of system calls: installed, and a call that one lets pass or writes down",
      .syscalls = "seccomp getppid sched_yield", .composite = 1,
      .variants = VARIANTS({ "install", .arg = INSTALL },
			   { "allow", .arg = ALLOW },
			   { "log", .arg = LOG }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
