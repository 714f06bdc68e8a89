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

static const struct variant variants[] = {
	{ .name = "1B", .arg = UDP, .arg2 = 1 },
	{ .name = "1KB", .arg = UDP, .arg2 = KB },
	{ .name = "63KB", .arg = UDP, .arg2 = 63 * KB },
	{ .name = "ipv6-1B", .arg = UDP6, .arg2 = 1 },
	{ .name = "ipv6-1KB", .arg = UDP6, .arg2 = KB },
	{ .name = "ipv6-63KB", .arg = UDP6, .arg2 = 63 * KB },
	{ }
};

BENCHMARK(bench_udp_message) = {
	.name = "udp-message",
	.summary = "a datagram over the loopback interface: sent, then received by the same task",
	.source = "LMbench lat_udp, without a switch of tasks; udp(7)",
	.syscalls = "sendto recvfrom",
	.variants = variants,
	.class = CLASS_MESSAGE,
	.suite = SUITE_NETWORK,
	.number = 14,
	.measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
	.setup = setup,
	.check = check_message,
	.op = send_and_receive,
	.teardown = tear_down_pair,
};
