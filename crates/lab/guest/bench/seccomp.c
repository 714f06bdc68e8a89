// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: installation of a system call filter (`install`), in a child that then exits; or
 * getppid in a child with a filter that allows it (`allow`) or allows and logs it (`log`). Filters
 * cannot be removed, so each operation has its own child, whose calls are measured. After a logged
 * call the child yields once: the kernel task that handles audit messages runs in the region, and
 * counts.
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

/* The child's exit status. */
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
	/* The filter is in force. */
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
 * A socket filter that stays loaded: programs share 2 MiB chunks of memory, which are freed with
 * the last program. With this filter loaded, no operation allocates and fills a chunk.
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
	/* A filter that allows nothing shows that a child's filter is in force. */
	ret = in_a_child(INSTALL, SECCOMP_RET_ERRNO | EPERM, 0);
	return ret < 0 ? failed(c, "seccomp: wrong result", ret) : 0;
}

BENCH("seccomp", CREDENTIALS, PROCESS, 29,
      "a system call filter: installed, and a call that one allows or logs",
      .syscalls = "seccomp getppid sched_yield", .composite = 1,
      .variants = VARIANTS({ "install", .arg = INSTALL },
			   { "allow", .arg = ALLOW },
			   { "log", .arg = LOG }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
