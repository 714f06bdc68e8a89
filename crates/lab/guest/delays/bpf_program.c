// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program that delays a hook. It is loaded with bpf(2) alone, without a library or an object
 * file. In C:
 *
 *	if (scope.helper() >> scope.shift != scope.value)
 *		return 0;
 *	slot->calls++;
 *	if (slot->wait) {
 *		end = bpf_ktime_get_ns() + slot->wait;
 *		bpf_loop(slot->wait, round, &end, 0);
 *	}
 *	return 0;
 *
 * with round() returning bpf_ktime_get_ns() >= end. 0 keeps the hook's default result and leaves
 * the decision to other modules. A round takes more than a nanosecond, so the wait ends even if the
 * clock stands still.
 *
 * If the clock counts instructions, waits are counts as well: slot->wait rounds of an empty
 * round(), and slot->rest instructions. Reading the clock takes about 100 instructions, and a wait
 * could be late by that much.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include "bpf.h"

#define HELPER_LOOP	181		/* BPF_FUNC_loop; missing from headers before 5.17 */
#define LOOP_MAX	(1 << 23)	/* maximum number of rounds */

#define INSNS_MAX	512
#define RULER_FEW	1000		/* rounds */
#define RULER_ROUNDS	16000		/* more rounds; still within a tick */
#define RULER_TURNS	7

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
/* Two instructions; the kernel replaces the value by an address, according to `kind`. */
#define LOAD_IMM64(dst, kind, low, high) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, kind, 0, low), INSN(0, 0, 0, 0, high)
#define IF(op, dst, src, skipped) \
	INSN(BPF_JMP | (op) | BPF_X, dst, src, skipped, 0)
#define IF_IMM(op, dst, imm, skipped) \
	INSN(BPF_JMP | (op) | BPF_K, dst, 0, skipped, imm)
#define SUBTRACT(dst, src)	INSN(BPF_ALU64 | BPF_SUB | BPF_X, dst, src, 0, 0)
#define JUMP(skipped)		INSN(BPF_JMP | BPF_JA, 0, 0, skipped, 0)
#define CALL(helper)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define EXIT()			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* bpf_loop() takes only static functions, and BTF marks them as static. */
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
	/* The verifier uses registers, not the arguments in BTF. */
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

static long sys_bpf(int command, union bpf_attr *attr)
{
	return SYS(bpf, command, attr, sizeof(*attr));
}

/* One entry, so that programs access its value without a lookup. */
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

/* A program under construction. */
struct code {
	struct bpf_insn insn[INSNS_MAX];
	unsigned int len;
	struct bpf_func_info functions[2];
};

#define WRITE(code, ...) do {						\
	const struct bpf_insn insns_[] = { __VA_ARGS__ };		\
	write_insns(code, insns_, ARRAY_SIZE(insns_));			\
} while (0)

static void write_insns(struct code *code, const struct bpf_insn *insns, unsigned int n)
{
	if (n > INSNS_MAX - code->len)
		fatal("delays by BPF programs: more than %u instructions", INSNS_MAX);
	memcpy(&code->insn[code->len], insns, n * sizeof(*insns));
	code->len += n;
}

/* The jump offset from `from` to `to`. */
static int skip(unsigned int from, unsigned int to)
{
	return (int)to - (int)from - 1;
}

/* Writes as many instructions as R7 contains, plus a constant number. */
static void write_rest(struct code *code)
{
	unsigned int bit, i;

	for (bit = 1; bit <= REST_MAX; bit <<= 1) {
		/* A set bit costs one instruction more than its value, which is the jump. */
		WRITE(code, IF_IMM(BPF_JSET, R7, bit, 1), JUMP(bit + 1));
		for (i = 0; i <= bit; i++)
			WRITE(code, MOVE_IMM(R0, 0));
	}
}

/* bpf_loop(R1, round, R3, 0); the offset of round() is filled in later. */
static unsigned int write_loop(struct code *code)
{
	unsigned int at = code->len;

	WRITE(code,
	      LOAD_IMM64(R2, BPF_PSEUDO_FUNC, 0, 0),
	      MOVE_IMM(R4, 0),
	      CALL(HELPER_LOOP));
	return at;
}

static void begin_round(struct code *code, unsigned int loop)
{
	code->insn[loop].imm = skip(loop, code->len);
	code->functions[0] = (struct bpf_func_info){ 0, TYPE_DELAY };
	code->functions[1] = (struct bpf_func_info){ code->len, TYPE_ROUND };
}

/* slot->wait empty rounds, and slot->rest instructions. */
static unsigned int write_counted_wait(struct code *code)
{
	WRITE(code, LOAD(BPF_W, R7, R6, offsetof(struct delay_slot, rest)));
	write_rest(code);
	WRITE(code, LOAD(BPF_W, R1, R6, offsetof(struct delay_slot, wait)),
		    MOVE_IMM(R3, 0));
	return write_loop(code);
}

/* Rounds that read the clock until slot->wait ns have passed. */
static unsigned int write_timed_wait(struct code *code)
{
	WRITE(code, CALL(BPF_FUNC_ktime_get_ns),
		    ADD(R0, R7),
		    STORE(BPF_DW, FRAME, -8, R0),
		    MOVE(R1, R7),
		    MOVE(R3, FRAME),
		    ADD_IMM(R3, -8));
	return write_loop(code);
}

static void write_delay_program(struct code *code, const struct delay_program *p)
{
	u32 slot = p->slot * sizeof(struct delay_slot);
	unsigned int other, idle, loop;

	WRITE(code, CALL(p->scope.helper),
		    SHIFT_RIGHT(R0, p->scope.shift),
		    LOAD_IMM64(R1, 0, (u32)p->scope.value, p->scope.value >> 32));
	other = code->len;
	WRITE(code, IF(BPF_JNE, R0, R1, 0),
		    LOAD_IMM64(R6, BPF_PSEUDO_MAP_VALUE, p->map, slot),
		    MOVE_IMM(R1, 1),
		    ATOMIC_ADD(R6, offsetof(struct delay_slot, calls), R1),
		    LOAD(BPF_W, R7, R6, offsetof(struct delay_slot, wait)));
	idle = code->len;
	WRITE(code, IF_IMM(BPF_JEQ, R7, 0, 0));
	loop = p->counted ? write_counted_wait(code) : write_timed_wait(code);
	code->insn[other].off = skip(other, code->len);
	code->insn[idle].off = skip(idle, code->len);
	WRITE(code, MOVE_IMM(R0, 0), EXIT());
	begin_round(code, loop);
	if (p->counted)
		WRITE(code, MOVE_IMM(R0, 0), EXIT());
	else
		WRITE(code, LOAD(BPF_DW, R6, R2, 0),
			    CALL(BPF_FUNC_ktime_get_ns),
			    MOVE(R1, R0),
			    MOVE_IMM(R0, 0),
			    IF(BPF_JLT, R1, R6, 1),
			    MOVE_IMM(R0, 1),
			    EXIT());
}

static long load(const struct code *code, union bpf_attr *attr, int types, const char *name)
{
	attr->insns = (u64)code->insn;
	attr->insn_cnt = code->len;
	attr->license = (u64)"GPL";
	attr->prog_btf_fd = types;
	attr->func_info = (u64)code->functions;
	attr->func_info_cnt = ARRAY_SIZE(code->functions);
	attr->func_info_rec_size = sizeof(code->functions[0]);
	memcpy(attr->prog_name, name, strlen(name) + 1);
	return sys_bpf(BPF_PROG_LOAD, attr);
}

long load_program(const struct delay_program *p, char *log, u32 log_size)
{
	struct code code = { .len = 0 };
	union bpf_attr attr;

	write_delay_program(&code, p);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_LSM;
	attr.expected_attach_type = BPF_LSM_MAC;
	attr.attach_btf_id = p->btf_id;
	if (log) {
		attr.log_level = 1;
		attr.log_buf = (u64)log;
		attr.log_size = log_size;
	}
	return load(&code, &attr, p->types, "lsmeter_delay");
}

/*
 * A program that returns the time of that many rounds: the same rounds, with clock reads around
 * them.
 */
static long load_ruler(int types)
{
	struct code code = { .len = 0 };
	union bpf_attr attr;
	unsigned int loop;

	WRITE(&code, LOAD(BPF_W, R7, R1, 0),
		     CALL(BPF_FUNC_ktime_get_ns),
		     MOVE(R8, R0),
		     MOVE(R1, R7),
		     MOVE_IMM(R3, 0));
	loop = write_loop(&code);
	WRITE(&code, CALL(BPF_FUNC_ktime_get_ns), SUBTRACT(R0, R8), EXIT());
	begin_round(&code, loop);
	WRITE(&code, MOVE_IMM(R0, 0), EXIT());
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE;
	return load(&code, &attr, types, "lsmeter_ruler");
}

/* The shortest of several times, because a tick may interrupt one. */
static long time_rounds(long ruler, u32 rounds)
{
	u32 shortest = ~0u;
	union bpf_attr attr;
	unsigned int i;
	long err;

	for (i = 0; i < RULER_TURNS; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.test.prog_fd = ruler;
		attr.test.ctx_in = (u64)&rounds;
		attr.test.ctx_size_in = sizeof(rounds);
		err = sys_bpf(BPF_PROG_TEST_RUN, &attr);
		if (err < 0)
			return err;
		if (attr.test.retval < shortest)
			shortest = attr.test.retval;
	}
	return shortest;
}

long measure_round(int types)
{
	long ruler = load_ruler(types), few, many;

	if (ruler < 0)
		return ruler;
	few = time_rounds(ruler, RULER_FEW);
	many = time_rounds(ruler, RULER_FEW + RULER_ROUNDS);
	sys_close(ruler);
	if (few < 0 || many < 0)
		return few < 0 ? few : many;
	return (many - few) * 1000 / RULER_ROUNDS;
}

/* Works on older kernels than BPF_LINK_CREATE for LSM programs; also makes a link. */
long attach_program(int program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.prog_fd = program;
	return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}
