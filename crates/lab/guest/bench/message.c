// SPDX-License-Identifier: GPL-2.0-or-later
#include "../messages.h"

SETUP(setup, set_up_pair(c, c->variant->arg));

/*
 * Measured: a request over a TCP connection on the loopback interface, its receipt, an answer of
 * the same size and the answer's receipt. One task has both ends and delivers segments itself. Each
 * segment acknowledges the previous one, so no timer is needed. Nothing to undo.
 */
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
      "a request and its answer over TCP on the loopback interface, in one task",
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

/*
 * Measured: a datagram to another socket over the loopback interface, and its receipt, both in one
 * task, which also delivers it. Nothing to undo. UDP datagrams are at most 63KB.
 */
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

/*
 * Measured: a message to the other end of a pair of unix sockets, and its receipt, in one task.
 * Nothing to undo.
 */
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

/*
 * Measured: bytes into a TCP connection on the loopback interface and out of its other end, in one
 * task. There is no answer, so the receiver sends separate acknowledgements. Nothing to undo.
 */
BENCH("tcp-stream", MESSAGE, NETWORK, 16,
      "bytes through a TCP connection on the loopback interface, in one direction",
      .source = "LMbench bw_tcp, without a switch of tasks; tcp(7)", .syscalls = "sendto recvfrom",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "64KB", .arg = TCP, .arg2 = 64 * KB },
			   { "ipv6-64KB", .arg = TCP6, .arg2 = 64 * KB }),
      .setup = setup, .check = check_message, .op = send_and_receive, .teardown = tear_down_pair);
