/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps of one value each: programs access them without a look-up, and the reader maps
 * them into memory. The loader sets their sizes for the machine.
 */
#ifndef LSMETER_MEMORY_H
#define LSMETER_MEMORY_H

__u64 rows[1] SEC(".bss.rows");			/* by processor and row */
__u32 row_at[KEYS] SEC(".bss.row_at");		/* by hook and key: offset of the row */
__u64 errors[ERRNOS] SEC(".bss.errors");	/* by hook and errno */
struct stack stacks[STACKS] SEC(".bss.stacks");
__u64 targets[PIDS / 64] SEC(".bss.targets");	/* one bit per process */
__u64 begun[PIDS] SEC(".bss.begun");		/* by task: start and key of its call */
struct whole wholes[KEYS] SEC(".bss.wholes");	/* by processor and key */
struct shared shared[1] SEC(".bss.shared");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

#define PATCHED(id) ({				\
	__u64 value;				\
						\
	asm volatile("%0 = %1"			\
		     : "=r"(value) : "i"(id));	\
	value;					\
})

#define ADD_PATCHED(value, id) asm volatile("%0 += %1" : "+r"(value) : "i"(id))
#define MULTIPLY_PATCHED(value, id) asm volatile("%0 *= %1" : "+r"(value) : "i"(id))

#define RESULT(context) ({					\
	__u64 value;						\
								\
	asm volatile("%0 = *(u64 *)(%1 + %2)"			\
		     : "=r"(value)				\
		     : "r"(context), "i"(PATCH_RESULT));	\
	(__s32)value;						\
})

/* Hides an array's length or a bound from the compiler. */
#define OPAQUE(value) asm volatile("" : "+r"(value))
#define OPAQUE_32(value) asm volatile("" : "+w"(value))

#endif
