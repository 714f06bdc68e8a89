/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the three files for delays by BPF LSM programs: bpf.c is the module. */
#ifndef LSMETER_BPF_H
#define LSMETER_BPF_H

#include "delays.h"

/* The kernel's own value, missing from its exported headers. */
#define ENOTSUPP	524

/* A hook's entry in the map. The agent writes delays, the programs count calls. */
struct delay_slot {
	u32 wait;	/* ns, or rounds of a loop; 0: none */
	u32 rest;	/* additional instructions, at most REST_MAX */
	u64 calls;	/* in scope, with and without a delay */
};

/* Scope of the programs: tasks with (helper() >> shift) == value. */
struct bpf_scope {
	u32 helper;
	u32 shift;
	u64 value;
	int children;	/* forked and executed processes are also in scope */
};

/* bpf_scope.c */
void scope_prepare(void);	/* in a VM: makes control groups possible */
void scope_enter(struct bpf_scope *scope);
void scope_leave(void);

/* bpf_program.c. Each returns a descriptor, closed on exec, or -errno. */
long make_slots(unsigned int slots);	/* the map: struct delay_slot[slots] */
long load_types(void);			/* the program's BTF */

#define REST_MAX	127	/* 2^n - 1 */

struct delay_program {
	int counted;	/* delays are instructions */
	int map;
	int types;
	u32 slot;
	u32 btf_id;	/* of the hook's bpf_lsm_ function */
	struct bpf_scope scope;
};

/* With log_size > 0 the verifier writes a log; NULL is faster. */
long load_program(const struct delay_program *program, char *log, u32 log_size);
long attach_program(int program);
/*
 * Time per round of a counted wait's loop, in thousandths of a ns, given the descriptor from
 * load_types(). Or -errno.
 */
long measure_round(int types);

#endif
