// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a datagram to another socket over the loopback interface, and its receipt there, by
 * one task, which delivers it itself, too. Nothing to undo. UDP has no longer ones than 63KB.
 */
#include "../messages.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

BENCH("udp-message", MESSAGE, NETWORK, 14,
      "a datagram over the loopback interface: sent, then received by the same task",
      .source = "LMbench lat_udp, without a switch of tasks; udp(7)", .syscalls = "sendto recvfrom",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "1B", .arg = UDP, .arg2 = 1 },
			   { "1KB", .arg = UDP, .arg2 = KB },
			   { "63KB", .arg = UDP, .arg2 = 63 * KB },
			   { "ipv6-1B", .arg = UDP6, .arg2 = 1 },
			   { "ipv6-1KB", .arg = UDP6, .arg2 = KB },
			   { "ipv6-63KB", .arg = UDP6, .arg2 = 63 * KB }),
      .setup = setup, .check = check_message, .op = send_and_receive, .teardown = tear_down_pair);
