// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: one bpf command: creates a map, loads a program of two instructions, looks up or sets
 * an element. Undo: close of the new descriptor.
 */
#include <linux/bpf.h>
#include <linux/resource.h>
#include "slots.h"

static union bpf_attr *attr(struct cell *c)
{
	return (union bpf_attr *)slot_data(c);
}

static u32 *key_and_value(struct cell *c)
{
	return (u32 *)slot_name(c, 0);
}

static long command(struct cell *c, long number)
{
	return SYS(bpf, number, attr(c), sizeof(*attr(c)));
}

static long make_map(struct cell *c)
{
	attr(c)->map_type = BPF_MAP_TYPE_ARRAY;
	attr(c)->key_size = sizeof(u32);
	attr(c)->value_size = sizeof(u32);
	attr(c)->max_entries = 4;
	return command(c, BPF_MAP_CREATE);
}

static void describe_program(struct cell *c)
{
	struct bpf_insn *code = (struct bpf_insn *)slot_name(c, 4);

	code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	code[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	attr(c)->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr(c)->insn_cnt = 2;
	attr(c)->insns = (u64)code;
	attr(c)->license = (u64)"GPL";
}

/* Before 5.11, bpf objects count as locked memory until a grace period after they are closed. */
static void allow_memory(void)
{
	u64 unlimited[2] = { ~0ULL, ~0ULL };

	SYS(setrlimit, RLIMIT_MEMLOCK, unlimited);
}

static int setup(struct cell *c)
{
	long fd;

	allow_memory();
	fd = make_map(c);

	if (fd == -ENOSYS)
		return unsupported(c, "this kernel has no bpf", fd);
	if (fd == -EPERM)
		return unsupported(c, "only root may use bpf on this machine", fd);
	if (fd < 0)
		return failed(c, "bpf", fd);
	c->fd[1] = fd;
	if (c->variant->arg == BPF_MAP_CREATE)
		return 0;
	memset(attr(c), 0, sizeof(*attr(c)));
	if (c->variant->arg == BPF_PROG_LOAD) {
		describe_program(c);
		return 0;
	}
	attr(c)->map_fd = fd;
	attr(c)->key = (u64)key_and_value(c);
	attr(c)->value = (u64)(key_and_value(c) + 1);
	return 0;
}

SETUP(makes, c->variant->arg == BPF_MAP_CREATE || c->variant->arg == BPF_PROG_LOAD);

OP(op, c->fd[0] = command(c, c->variant->arg));

SLOT(undo, makes(c) ? sys_close(c->fd[0]) : 0);

static int check(struct cell *c)
{
	u32 *value = key_and_value(c) + 1;
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (makes(c))
		return undo(c, 0);
	*value = 5;
	ret = command(c, BPF_MAP_UPDATE_ELEM);
	*value = 6;
	if (!ret)
		ret = command(c, BPF_MAP_LOOKUP_ELEM);
	return wrong_if(c, ret, *value != 5, "bpf: wrong value");
}

static void teardown(struct cell *c)
{
	c->fd[0] = 0;
	close_as(c, 1);
}

BENCH("bpf", TRACE, IPC, 25, "a command of bpf",
      .max_batch = 1,
      .variants = VARIANTS({ "map-create", .arg = BPF_MAP_CREATE },
			   { "prog-load", .arg = BPF_PROG_LOAD },
			   { "map-lookup", .arg = BPF_MAP_LOOKUP_ELEM },
			   { "map-update", .arg = BPF_MAP_UPDATE_ELEM }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
