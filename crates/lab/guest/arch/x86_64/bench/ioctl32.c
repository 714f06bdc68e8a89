// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: ioctl(FIONREAD) of a regular file by a 32-bit system call (int 0x80). Nothing to undo.
 */
#include <asm/ioctls.h>
#include "calls32.h"
#include "slots.h"

/* The result must be stored below 4 GiB, as the entire agent is. */
static inline long ioctl32(int fd, u32 command, void *to)
{
	long ret;

	asm volatile("int	$0x80"
		     : "=a"(ret)
		     : "a"((long)CALL_32(ioctl)), "b"((long)fd), "c"((long)command), "d"(to)
		     : "r8", "r9", "r10", "r11", "memory");
	return (int)ret;
}

/* Without 32-bit support, the interrupt kills the caller. */
static int is_there(void)
{
	int status = -1;
	long pid = SYS(fork);

	if (pid == 0) {
		ioctl32(-1, FIONREAD, NULL);
		for (;;)
			SYS(exit_group, 0);
	}
	return pid > 0 && SYS(wait4, pid, &status, 0, NULL) == pid && !status;
}

static int setup(struct cell *c)
{
	int ret = make_file("file", 4096);

	if (ret < 0)
		return ret;
	if (!is_there())
		return unsupported(c, "this kernel runs no 32-bit programs", 0);
	return open_as(c, 0, "file", O_RDONLY);
}

OP(op, ioctl32(c->fd[0], FIONREAD, slot_data(c)));

static int check(struct cell *c)
{
	int *left = (int *)slot_data(c);
	long ret;

	*left = 0;
	ret = op(c, 0);
	if (ret == -ENOTTY || is_missing(ret))
		return unsupported(c, "no FIONREAD on this file system", ret);
	return wrong_if(c, ret, *left != 4096, "ioctl: wrong result");
}

BENCH("ioctl32", DESCRIPTOR, PROCESS, 28, "ioctl(FIONREAD) as a 32-bit system call",
      .source = "ioctl(2)", .syscalls = "ioctl", .variants = VARIANTS({ "FIONREAD" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
