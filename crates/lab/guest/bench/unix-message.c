// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a message to the other end of a pair of unix sockets, and its receipt there, by one
 * task. Nothing to undo.
 */
#include "../messages.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

BENCH("unix-message", MESSAGE, NETWORK, 13,
      "a message between two unix sockets of a task: sent, then received",
      .source = "LMbench lat_unix, without a switch of tasks; unix(7)",
      .syscalls = "sendto recvfrom", .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "stream-1B", .arg = UNIX_STREAM, .arg2 = 1 },
			   { "stream-1KB", .arg = UNIX_STREAM, .arg2 = KB },
			   { "stream-64KB", .arg = UNIX_STREAM, .arg2 = 64 * KB },
			   { "dgram-1B", .arg = UNIX_DGRAM, .arg2 = 1 },
			   { "dgram-1KB", .arg = UNIX_DGRAM, .arg2 = KB },
			   { "dgram-64KB", .arg = UNIX_DGRAM, .arg2 = 64 * KB },
			   { "seqpacket-1B", .arg = UNIX_SEQPACKET, .arg2 = 1 },
			   { "seqpacket-1KB", .arg = UNIX_SEQPACKET, .arg2 = KB },
			   { "seqpacket-64KB", .arg = UNIX_SEQPACKET, .arg2 = 64 * KB }),
      .setup = setup, .check = check_message, .op = send_and_receive, .teardown = tear_down_pair);
