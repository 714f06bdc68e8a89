// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a request over a TCP connection on the loopback interface, its receipt, an answer of
 * the same size and the answer's receipt. One task is both ends and delivers segments itself;
 * each segment acknowledges the one before, so that no timer has to. Nothing to undo.
 */
#include "../messages.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

static long op(struct cell *c, unsigned int i)
{
	long size = c->variant->arg2, ret = send_to(c, CLIENT, size);

	if (ret >= 0)
		ret = receive_at(c, SERVER, size);
	if (ret >= 0)
		ret = send_to(c, SERVER, size);
	return ret < 0 ? ret : receive_at(c, CLIENT, size);
}

static int check(struct cell *c)
{
	int ret = check_message(c);

	if (ret < 0)
		return ret;
	fill_message(c);
	if (op(c, 0) != c->variant->arg2 || !is_message(c))
		return failed(c, "recvfrom: wrong result", 0);
	return 0;
}

BENCH("tcp-message", MESSAGE, NETWORK, 15,
      "a request and its answer over TCP on the loopback interface, by one task",
      .source = "LMbench lat_tcp, without a switch of tasks; tcp(7)",
      .syscalls = "sendto recvfrom sendto recvfrom",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "1B", .arg = TCP, .arg2 = 1 },
			   { "1KB", .arg = TCP, .arg2 = KB },
			   { "64KB", .arg = TCP, .arg2 = 64 * KB },
			   { "ipv6-1B", .arg = TCP6, .arg2 = 1 },
			   { "ipv6-1KB", .arg = TCP6, .arg2 = KB },
			   { "ipv6-64KB", .arg = TCP6, .arg2 = 64 * KB }),
      .setup = setup, .check = check, .op = op, .teardown = tear_down_pair);
