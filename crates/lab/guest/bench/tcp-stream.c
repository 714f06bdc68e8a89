// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: so many bytes into a TCP connection on the loopback interface and out of its other
 * end, by one task; nothing is answered, so that the receiver acknowledges by segments of its
 * own. Nothing to undo.
 */
#include "../messages.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

BENCH("tcp-stream", MESSAGE, NETWORK, 16,
      "bytes through a TCP connection on the loopback interface, in one direction",
      .source = "LMbench bw_tcp, without a switch of tasks; tcp(7)", .syscalls = "sendto recvfrom",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "64KB", .arg = TCP, .arg2 = 64 * KB },
			   { "ipv6-64KB", .arg = TCP6, .arg2 = 64 * KB }),
      .setup = setup, .check = check_message, .op = send_and_receive, .teardown = tear_down_pair);
