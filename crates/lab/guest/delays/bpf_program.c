// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program that delays a hook, loaded with bpf(2) alone: no library, no object
 * file. In C it would be
 *
 *	if (scope.helper() >> scope.shift != scope.value)
 *		return 0;
 *	slot->calls++;
 *	if (slot->delay_ns) {
 *		end = bpf_ktime_get_ns() + slot->delay_ns;
 *		bpf_loop(slot->delay_ns, round, &end, 0);
 *	}
 *	return 0;
 *
 * with round() returning bpf_ktime_get_ns() >= end. 0 leaves the decision to others
 * and the hook's default result in place. A round takes more than a nanosecond: the
 * wait ends even if the clock stands still.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include "bpf.h"

#define HELPER_LOOP	181		/* BPF_FUNC_loop; headers before 5.17 lack it */
#define LOOP_MAX	(1 << 23)	/* rounds that it makes, at most */

_Static_assert(DELAY_MAX_NS <= LOOP_MAX, "bpf_loop() refuses so many rounds");

enum {
	R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FRAME
};

#define INSN(op, dst, src, offset, value) \
	{ .code = (op), .dst_reg = (dst), .src_reg = (src), .off = (offset), .imm = (value) }
#define MOVE(dst, src)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOVE_IMM(dst, imm)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define ADD(dst, src)		INSN(BPF_ALU64 | BPF_ADD | BPF_X, dst, src, 0, 0)
#define ADD_IMM(dst, imm)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm)
#define SHIFT_RIGHT(dst, imm)	INSN(BPF_ALU64 | BPF_RSH | BPF_K, dst, 0, 0, imm)
#define LOAD(size, dst, src, off) \
	INSN(BPF_LDX | BPF_MEM | (size), dst, src, off, 0)
#define STORE(size, dst, off, src) \
	INSN(BPF_STX | BPF_MEM | (size), dst, src, off, 0)
#define ATOMIC_ADD(dst, off, src) \
	INSN(BPF_STX | BPF_ATOMIC | BPF_DW, dst, src, off, BPF_ADD)
/* Two instructions; what `kind` says becomes an address when it is loaded. */
#define LOAD_IMM64(dst, kind, low, high) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, kind, 0, low), INSN(0, 0, 0, 0, high)
#define IF(op, dst, src, skipped) \
	INSN(BPF_JMP | (op) | BPF_X, dst, src, skipped, 0)
#define IF_IMM(op, dst, imm, skipped) \
	INSN(BPF_JMP | (op) | BPF_K, dst, 0, skipped, imm)
#define CALL(helper)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define EXIT()			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Positions that jumps and func_info name. */
#define AT_OUT		21
#define AT_ROUND	23
#define AT_END		30
/* What an instruction at `from` has to skip. */
#define SKIP(from, to)	((to) - (from) - 1)

/* bpf_loop() takes static functions only, and BTF is what says that one is. */
#define STRINGS		"\0int\0delay\0round"
enum {
	NAME_INT = 1, NAME_DELAY = 5, NAME_ROUND = 11,
	TYPE_INT = 1, TYPE_PROTO, TYPE_DELAY, TYPE_ROUND,
};

struct types {
	struct btf_header header;
	struct btf_type integer;
	u32 integer_bits;
	struct btf_type proto;
	struct btf_type delay;
	struct btf_type round;
	char strings[sizeof(STRINGS)];
} __attribute__((packed));

#define KIND(kind, vlen)	((u32)(kind) << 24 | (vlen))

static const struct types types = {
	.header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(struct btf_header),
		.type_off = 0,
		.type_len = offsetof(struct types, strings) - sizeof(struct btf_header),
		.str_off = offsetof(struct types, strings) - sizeof(struct btf_header),
		.str_len = sizeof(STRINGS),
	},
	.integer = { .name_off = NAME_INT, .info = KIND(BTF_KIND_INT, 0), .size = 4 },
	.integer_bits = BTF_INT_SIGNED << 24 | 32,
	/* The verifier goes by the registers, not by a static function's arguments. */
	.proto = { .info = KIND(BTF_KIND_FUNC_PROTO, 0), .type = TYPE_INT },
	.delay = {
		.name_off = NAME_DELAY,
		.info = KIND(BTF_KIND_FUNC, BTF_FUNC_STATIC),
		.type = TYPE_PROTO,
	},
	.round = {
		.name_off = NAME_ROUND,
		.info = KIND(BTF_KIND_FUNC, BTF_FUNC_STATIC),
		.type = TYPE_PROTO,
	},
	.strings = STRINGS,
};

static const struct bpf_func_info functions[] = {
	{ .insn_off = 0, .type_id = TYPE_DELAY },
	{ .insn_off = AT_ROUND, .type_id = TYPE_ROUND },
};

static long sys_bpf(int command, union bpf_attr *attr)
{
	return SYS(bpf, command, attr, sizeof(*attr));
}

/* One entry: programs then reach into its value without a look-up. */
long make_slots(unsigned int slots)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(u32);
	attr.value_size = slots * sizeof(struct delay_slot);
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	memcpy(attr.map_name, "lsmeter_delays", sizeof("lsmeter_delays"));
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

long load_types(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf = (u64)&types;
	attr.btf_size = sizeof(types);
	return sys_bpf(BPF_BTF_LOAD, &attr);
}

long load_program(const struct delay_program *p, char *log, u32 log_size)
{
	u32 slot = p->slot * sizeof(struct delay_slot);
	const struct bpf_insn program[] = {
		/*  0 */ CALL(p->scope.helper),
		/*  1 */ SHIFT_RIGHT(R0, p->scope.shift),
		/*  2 */ LOAD_IMM64(R1, 0, (u32)p->scope.value, p->scope.value >> 32),
		/*  4 */ IF(BPF_JNE, R0, R1, SKIP(4, AT_OUT)),
		/*  5 */ LOAD_IMM64(R6, BPF_PSEUDO_MAP_VALUE, p->map, slot),
		/*  7 */ MOVE_IMM(R1, 1),
		/*  8 */ ATOMIC_ADD(R6, offsetof(struct delay_slot, calls), R1),
		/*  9 */ LOAD(BPF_W, R7, R6, offsetof(struct delay_slot, delay_ns)),
		/* 10 */ IF_IMM(BPF_JEQ, R7, 0, SKIP(10, AT_OUT)),
		/* 11 */ CALL(BPF_FUNC_ktime_get_ns),
		/* 12 */ ADD(R0, R7),
		/* 13 */ STORE(BPF_DW, FRAME, -8, R0),
		/* 14 */ MOVE(R1, R7),
		/* 15 */ LOAD_IMM64(R2, BPF_PSEUDO_FUNC, SKIP(15, AT_ROUND), 0),
		/* 17 */ MOVE(R3, FRAME),
		/* 18 */ ADD_IMM(R3, -8),
		/* 19 */ MOVE_IMM(R4, 0),
		/* 20 */ CALL(HELPER_LOOP),
		/* 21 */ MOVE_IMM(R0, 0),
		/* 22 */ EXIT(),
		/* 23 */ LOAD(BPF_DW, R6, R2, 0),
		/* 24 */ CALL(BPF_FUNC_ktime_get_ns),
		/* 25 */ MOVE(R1, R0),
		/* 26 */ MOVE_IMM(R0, 0),
		/* 27 */ IF(BPF_JLT, R1, R6, SKIP(27, 29)),
		/* 28 */ MOVE_IMM(R0, 1),
		/* 29 */ EXIT(),
	};
	union bpf_attr attr;

	_Static_assert(ARRAY_SIZE(program) == AT_END, "positions are counted by hand");
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_LSM;
	attr.expected_attach_type = BPF_LSM_MAC;
	attr.attach_btf_id = p->btf_id;
	attr.insns = (u64)program;
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = (u64)"GPL";
	attr.prog_btf_fd = p->types;
	attr.func_info = (u64)functions;
	attr.func_info_cnt = ARRAY_SIZE(functions);
	attr.func_info_rec_size = sizeof(functions[0]);
	memcpy(attr.prog_name, "lsmeter_delay", sizeof("lsmeter_delay"));
	if (log) {
		attr.log_level = 1;
		attr.log_buf = (u64)log;
		attr.log_size = log_size;
	}
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

/* BPF_LINK_CREATE took LSM programs only later; this also makes a link. */
long attach_program(int program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.prog_fd = program;
	return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}
