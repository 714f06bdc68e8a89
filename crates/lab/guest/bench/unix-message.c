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

static const struct variant variants[] = {
	{ .name = "stream-1B", .arg = UNIX_STREAM, .arg2 = 1 },
	{ .name = "stream-1KB", .arg = UNIX_STREAM, .arg2 = KB },
	{ .name = "stream-64KB", .arg = UNIX_STREAM, .arg2 = 64 * KB },
	{ .name = "dgram-1B", .arg = UNIX_DGRAM, .arg2 = 1 },
	{ .name = "dgram-1KB", .arg = UNIX_DGRAM, .arg2 = KB },
	{ .name = "dgram-64KB", .arg = UNIX_DGRAM, .arg2 = 64 * KB },
	{ .name = "seqpacket-1B", .arg = UNIX_SEQPACKET, .arg2 = 1 },
	{ .name = "seqpacket-1KB", .arg = UNIX_SEQPACKET, .arg2 = KB },
	{ .name = "seqpacket-64KB", .arg = UNIX_SEQPACKET, .arg2 = 64 * KB },
	{ }
};

BENCHMARK(bench_unix_message) = {
	.name = "unix-message",
	.summary = "a message between two unix sockets of a task: sent, then received",
	.source = "LMbench lat_unix, without a switch of tasks; unix(7)",
	.syscalls = "sendto recvfrom",
	.variants = variants,
	.class = CLASS_MESSAGE,
	.suite = SUITE_NETWORK,
	.number = 13,
	.measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
	.setup = setup,
	.check = check_message,
	.op = send_and_receive,
	.teardown = tear_down_pair,
};
