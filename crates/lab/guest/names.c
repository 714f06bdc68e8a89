// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a path lookup depends on the location of the kernel's copy of the name. The copy is a
 * page-sized object in a slab of eight (names_cache, fs/namei.c), and page lookup takes fewer
 * instructions for the slab's first page. All path walks of a boot get the same object, which is
 * random.
 *
 * So the regions of a measurement use different objects: children that wait for a FIFO's other end
 * keep the names with which they opened it. In seven of eight positions the name is not the first
 * object, and these positions give the dominant path.
 */
#include <linux/sched.h>
#include "agent.h"

#define DIRECTORY	"/lsmeter-names"
#define FIFO		DIRECTORY "/fifo"
#define HOLDERS		(NAME_POSITIONS - 1)

static long orders = -1;		/* each byte makes one child keep a name */
static unsigned int held;

static void unavailable(const char *call, long error)
{
	/* Otherwise existing children get EOF and exit. */
	if (orders >= 0)
		sys_close(orders);
	orders = -1;
	send_log("names stay where they are in their slab: %s: %s (%ld)", call,
		 errno_name(error), -error);
}

static __attribute__((noreturn)) void hold_names(int in)
{
	char order;
	long fd;

	while (sys_read(in, &order, 1) == 1) {
		fd = sys_open(FIFO, O_RDONLY, 0);
		if (fd >= 0)
			sys_close(fd);
	}
	exit_process(0);
}

/*
 * Lets the child run first: when woken, it runs until it waits again, before the call that woke it
 * returns.
 */
static long give_precedence(long pid)
{
	const int priority = 1;

	return SYS(sched_setscheduler, pid, SCHED_FIFO, &priority);
}

void names_start(void)
{
	int fd[2];
	long ret;
	int i;

	sys_mkdir(DIRECTORY, 0700);
	ret = SYS(mknod, FIFO, S_IFIFO | 0600, 0);
	if (ret < 0)
		return unavailable("mknod of " FIFO, ret);
	ret = SYS(pipe2, fd, O_CLOEXEC);
	if (ret < 0)
		return unavailable("pipe2", ret);
	orders = fd[1];
	for (i = 0; i < HOLDERS && orders >= 0; i++) {
		ret = SYS(fork);
		if (ret == 0) {
			sys_close(fd[1]);
			hold_names(fd[0]);
		}
		if (ret < 0)
			unavailable("fork", ret);
		else if ((ret = give_precedence(ret)) < 0)
			unavailable("sched_setscheduler", ret);
	}
	sys_close(fd[0]);
}

/* Opens the FIFO's other end, so that all children continue and close theirs. */
static void names_return(void)
{
	long fd = sys_open(FIFO, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);

	if (fd >= 0)
		sys_close(fd);
	held = 0;
}

void names_move(unsigned int position)
{
	long ret;

	if (is_given_child()) {
		given_names_move(position);
		return;
	}
	if (position < held)
		names_return();
	while (orders >= 0 && held < position) {
		ret = sys_write(orders, "", 1);
		if (ret < 0)
			unavailable("write", ret);
		held++;
	}
}
