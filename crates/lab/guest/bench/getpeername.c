// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: getpeername of a connected socket. Nothing to undo. */
#include "../sockets.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

static long op(struct cell *c, unsigned int i)
{
	int size = sizeof(struct sockaddr_un);

	return SYS(getpeername, c->fd[CLIENT], slot_data(c), &size);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (memcmp(slot_data(c), slot_address(c, 0), c->state[ADDRESS_SIZE]))
		return failed(c, "getpeername: wrong result", 0);
	return 0;
}

static const struct variant variants[] = {
	{ .name = "unix", .arg = UNIX_STREAM },
	{ .name = "tcp", .arg = TCP },
	{ .name = "tcp6", .arg = TCP6 },
	{ }
};

BENCHMARK(bench_getpeername) = {
	.name = "getpeername",
	.summary = "the address of the socket at the other end",
	.source = "getpeername(2)",
	.syscalls = "getpeername",
	.variants = variants,
	.class = CLASS_SOCKET,
	.suite = SUITE_NETWORK,
	.number = 12,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
	.teardown = tear_down_pair,
};
