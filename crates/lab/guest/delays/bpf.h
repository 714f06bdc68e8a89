/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the three files of delays by BPF LSM programs share: bpf.c is the module. */
#ifndef LSMETER_BPF_H
#define LSMETER_BPF_H

#include "delays.h"

/* The kernel's own, in no header for programs: it has no trampolines. */
#define ENOTSUPP	524

/* A hook's place in the map. The agent writes delays, the programs count. */
struct delay_slot {
	u32 wait;	/* ns, or rounds of a loop; 0: none */
	u32 rest;	/* instructions beyond them, REST_MAX at most */
	u64 calls;	/* in scope, with and without a delay */
};

/* Whom the programs delay: those for whom (helper() >> shift) == value. */
struct bpf_scope {
	u32 helper;
	u32 shift;
	u64 value;
	int children;	/* what the agent forks and executes is in it too */
};

/* bpf_scope.c */
void scope_prepare(void);	/* in a VM: control groups can be made */
void scope_enter(struct bpf_scope *scope);
void scope_leave(void);

/* bpf_program.c. Each returns a descriptor, closed on exec, or -errno. */
long make_slots(unsigned int slots);	/* the map: struct delay_slot[slots] */
long load_types(void);			/* BTF of the program */

#define REST_MAX	127	/* 2^n - 1 */

struct delay_program {
	int counted;	/* delays are instructions */
	int map;
	int types;
	u32 slot;
	u32 btf_id;	/* of the hook's bpf_lsm_ function */
	struct bpf_scope scope;
};

/* With a log of log_size bytes the verifier explains itself; NULL is faster. */
long load_program(const struct delay_program *program, char *log, u32 log_size);
long attach_program(int program);
/*
 * How long a round of a counted wait's loop takes, in thousandths of a ns; with
 * load_types()'s descriptor. Or -errno.
 */
long measure_round(int types);

#endif
