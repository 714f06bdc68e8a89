// SPDX-License-Identifier: GPL-2.0-or-later
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "calls.h"
#include "functions.h"
#include "records.h"
#include "walk.h"

/* Hash table size for tasks, by the location of their stack pointers. A power of two. */
#define TASKS_MAX	(1u << 16)
/* Hash table size for stores while stacks of new tasks are prepared. A power of two. */
#define COPIES_MAX	(1u << 20)
/*
 * Blocks from a system call's entry to its own function: about ten, with seccomp about a hundred.
 */
#define PENDING_MAX	1024u

bool tasks_are_enabled;

/* The creator and the serial number of a new task whose stack was prepared. */
struct copy {
	uint64_t vaddr;
	uint32_t creator;	/* number of a measured task, or 0 */
	uint32_t serial;	/* from 1 */
};

static const struct block everywhere = { .first = 0, .last = UINT64_MAX, .target = UINT64_MAX };

static struct {
	bool open;
	/*
	 * The current task is in the kernel, and if a simple block (block.h) follows, it neither
	 * begins nor ends anything.
	 */
	bool going_on;
	struct walk *current;
	/*
	 * In undisturbed user mode: the previous block and the instructions not yet added to its
	 * node. Otherwise user_previous covers all addresses, so every block begins inside it.
	 */
	const struct block *user_previous;
	uint64_t user_instructions;
	struct walk *tasks[TASKS_MAX];	/* hashed by stack_pointer_at, open addressing */
	uint32_t task_count;		/* number of entries in tasks */
	uint32_t others, interrupts;	/* nodes */
	uint32_t numbers;		/* the last number given to a measured task */
	uint32_t copies;		/* serial of the latest */
	bool in_copy;			/* the previous block also prepared a stack */
	uint64_t switch_from;		/* of the context switch: see struct arch */
	bool switched;			/* it has already switched */
	uint64_t repeats;		/* further iterations of REP instructions */
} state = { .user_previous = &everywhere };

static struct copy *copies;

void tasks_enable(void)
{
	copies = calloc(COPIES_MAX, sizeof(*copies));
	if (!copies)
		abort();
	tasks_are_enabled = true;
}

static struct walk *new_walk(uint32_t number, uint32_t node)
{
	struct walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		abort();
	walk->number = number;
	walk->node = node;
	return walk;
}

static void free_walk(struct walk *walk)
{
	free(walk->frames);
	free(walk->pending_blocks);
	free(walk);
}

/* The table entry of the task with this stack pointer location. */
static struct walk **place_of(uint64_t stack_pointer_at)
{
	uint32_t at = (uint32_t)(stack_pointer_at * 0x9e3779b97f4a7c15ULL >> 40);
	struct walk **place;

	for (;; at++) {
		place = &state.tasks[at % TASKS_MAX];
		if (!*place || (*place)->stack_pointer_at == stack_pointer_at)
			return place;
	}
}

static struct copy *copy_at(uint64_t vaddr)
{
	return &copies[(uint32_t)(vaddr * 0x9e3779b97f4a7c15ULL >> 40) % COPIES_MAX];
}

void tasks_begin(void)
{
	/* A task that was never switched out is not in the table. */
	if (state.current && !state.current->stack_pointer_at)
		free_walk(state.current);
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		if (state.tasks[i])
			free_walk(state.tasks[i]);
	walk_overflown = false;
	memset(&state, 0, sizeof(state));
	state.user_previous = &everywhere;
	memset(copies, 0, COPIES_MAX * sizeof(*copies));
	calls_reset();
	state.others = calls_child(0, CALLS_WHAT(CALLS_OTHERS, 0));
	state.interrupts = calls_child(0, CALLS_WHAT(CALLS_INTERRUPTS, 0));
	state.numbers = 1;
	state.current = new_walk(1, calls_child(0, CALLS_WHAT(CALLS_TASK, 1)));
	state.open = true;
}

bool tasks_measured(void)
{
	return state.open && state.current->number;
}

/* The node of a measured task's kernel entry; other tasks only have calls. */
static uint32_t entry_node(const struct walk *walk, enum calls_kind kind, uint32_t number)
{
	uint32_t node;

	if (!walk->number)
		return state.others;
	node = calls_child(walk->node, CALLS_WHAT(kind, number));
	calls[node].calls++;
	return node;
}

/* The system call is now known, or will never be known. */
static void settle(struct walk *walk, enum calls_kind kind, uint32_t number)
{
	if (!walk->pending)
		return;
	walk->pending = false;
	walk_set_base(walk, entry_node(walk, kind, number));
	for (uint32_t i = 0; i < walk->pending_count; i++)
		walk_block(walk, walk->pending_blocks[i].block, walk->pending_blocks[i].before);
	walk->pending_count = 0;
}

static void enter_from_user(struct walk *walk, const struct block *block)
{
	const struct block *previous = walk->previous;
	/* A fault can stop a block before the system call at its end. */
	bool syscall = !block->exception_entry && !block->interrupt_entry && previous &&
		       previous->last_kind == INSN_SYSCALL;

	walk->forks = false;
	if (block->interrupt_entry) {
		calls[state.interrupts].calls++;
		walk_enter(walk, state.interrupts, true);
	} else if (block->exception_entry) {
		walk_enter(walk, entry_node(walk, CALLS_EXCEPTION, block->function), false);
	} else if (syscall && walk->number) {
		walk_enter(walk, 0, false);
		if (!walk->pending_blocks)
			walk->pending_blocks = calloc(PENDING_MAX, sizeof(*walk->pending_blocks));
		if (!walk->pending_blocks)
			abort();
		walk->pending = true;
		walk->pending_count = 0;
	} else {
		walk_enter(walk, entry_node(walk, CALLS_UNKNOWN, block->function), false);
	}
	/* No block of a system call is pending any more. */
	if (syscall)
		walk->levels[0].broken = NULL;
}

/* An interrupt or exception interrupts kernel code. */
static void enter_from_kernel(struct walk *walk, const struct block *block)
{
	if (block->exception_entry) {
		if (walk->pending && walk->depth == 1)
			settle(walk, CALLS_UNKNOWN, 0);
		walk_enter(walk, walk->at, false);
	} else {
		calls[state.interrupts].calls++;
		walk_enter(walk, state.interrupts, true);
	}
}

static bool begins_entry(const struct walk *walk, const struct block *block)
{
	/* A vector's stub jumps to the common entry, which is still the same interrupt. */
	return block->exception_entry ||
	       (block->interrupt_entry &&
		!(walk->previous && walk->previous->interrupt_entry));
}

/* After a fault that has a fixup, the interrupted code does not continue: see functions.h. */
static void forget_skipped(const struct walk *walk, const struct block *failed, uint64_t fixup,
			   uint32_t rest)
{
	uint64_t failing = functions_failing(failed->first, failed->last, fixup);

	if (failing)
		calls[walk->at].instructions -= block_rest(failed, failing) - rest;
}

/* Returns the instructions counted before, except further iterations of REP instructions. */
static uint32_t count_block(struct walk *walk, const struct block *block)
{
	const struct block *previous = walk->previous;
	uint32_t before = 0;

	/*
	 * A return never enters the middle of its own block. But a block that turns out to do I/O
	 * restarts there.
	 */
	if (previous && (walk->resumed || (previous->last_kind == INSN_RET &&
					   previous->first != block->first)))
		before = block_rest(previous, block->first);
	else if (previous && previous->insns > 1 && previous->indirect &&
		 previous->first != block->first && previous->last == block->first)
		/* It straddles a page, so QEMU before 9 listed it but did not execute it there. */
		before = 1;
	else
		before = counted_before(previous, block, false);
	if (walk->resumed && previous && previous->kernel)
		forget_skipped(walk, previous, block->first, before);
	/* An interrupted instruction restarts, and the first attempt did not count. */
	state.repeats += block->last_is_rep && before == block->insns && !walk->resumed;
	walk->resumed = false;
	walk->previous = block;
	return before;
}

/*
 * An exception may be followed by a signal handler, and the interrupted block's rest by the
 * handler's end.
 */
static uint32_t count_after_kernel(struct walk *walk, const struct block *block)
{
	const struct block *broken = walk->resumed ? walk->previous : NULL;
	uint32_t before = count_block(walk, block);

	if (!before && walk->sigreturn && walk->cut) {
		before = block_rest(walk->cut, block->first);
		/* Otherwise another handler begins first. */
		if (before)
			walk->cut = NULL;
	} else if (!before && broken) {
		walk->cut = broken;
	}
	walk->sigreturn = false;
	return before;
}

static void user_block(struct walk *walk, const struct block *block)
{
	uint32_t before;

	if (walk->depth || walk->sigreturn) {
		settle(walk, CALLS_UNKNOWN, 0);
		walk_leave_all(walk);
		before = count_after_kernel(walk, block);
	} else {
		before = count_block(walk, block);
	}
	calls[walk->node].instructions += block->insns - before;
}

/* Decides whether the block enters, leaves or continues a level. */
static void place_block(struct walk *walk, const struct block *block)
{
	if (walk->left.how == LEFT_INTERRUPT_RETURN && walk->depth) {
		bool entry = block->interrupt_entry || block->exception_entry;

		/*
		 * The outermost level returns to user mode, where an exception may come before the
		 * first block. It returns to the kernel only if the kernel serialises itself.
		 */
		if (walk->depth > 1 || (entry && !walk->levels[0].in_kernel))
			walk_leave(walk);
		else
			walk->left.how = LEFT_JUMP;
	}
	if (!walk->depth)
		enter_from_user(walk, block);
	else if (begins_entry(walk, block))
		enter_from_kernel(walk, block);
}

static void kernel_block(struct walk *walk, const struct block *block)
{
	uint32_t before;

	if (!block->ordinary || !walk->running)
		place_block(walk, block);
	if (block->context_switch) {
		state.switch_from = 0;
		state.switched = false;
	}
	before = count_block(walk, block);
	walk->running = block->ordinary;
	if (block->copies_stack) {
		state.copies += !state.in_copy;
		state.in_copy = true;
	} else if (block->ordinary) {
		state.in_copy = false;
	}
	if (walk->pending && walk->depth == 1) {
		bool ends = block->last_kind == INSN_IRET || block->last_kind == INSN_SYSRET;

		if (block->syscall) {
			settle(walk, CALLS_SYSCALL, block->function);
			walk->forks = block->forks;
			walk->sigreturn = block->sigreturn;
		} else if (ends || walk->pending_count == PENDING_MAX) {
			settle(walk, CALLS_UNKNOWN, 0);
		} else {
			walk->pending_blocks[walk->pending_count].block = block;
			walk->pending_blocks[walk->pending_count++].before = before;
			return;
		}
	}
	walk_block(walk, block, before);
	if (block->last_kind == INSN_SYSRET)
		walk_leave_all(walk);
}

/* Moves the state kept in user mode to the task. */
static void leave_user_mode(void)
{
	struct walk *walk = state.current;

	if (state.user_previous == &everywhere)
		return;
	walk->previous = state.user_previous;
	calls[walk->node].instructions += state.user_instructions;
	state.user_previous = &everywhere;
}

void tasks_user_block(const struct block *block)
{
	struct walk *walk = state.current;

	/* In nearly all cases nothing begins or ends, and no instruction was counted before. */
	if (is_begun_anew(state.user_previous, block)) {
		state.user_previous = block;
		state.user_instructions += block->insns;
		return;
	}
	if (is_one_more_iteration(state.user_previous, block)) {
		state.repeats++;
		return;
	}
	if (!state.open)
		return;
	leave_user_mode();
	state.going_on = false;
	user_block(walk, block);
	if (!walk->depth && !walk->sigreturn && !walk->resumed) {
		state.user_previous = walk->previous;
		state.user_instructions = 0;
	}
}

void tasks_kernel_block(const struct block *block)
{
	if (!state.open)
		return;
	leave_user_mode();
	kernel_block(state.current, block);
	state.going_on = state.current->running && !state.current->pending && !state.in_copy;
}

void tasks_simple_block(const struct block *block)
{
	struct walk *walk = state.current;

	if (!state.going_on) {
		tasks_kernel_block(block);
		return;
	}
	if (!is_begun_anew(walk->previous, block)) {
		if (is_one_more_iteration(walk->previous, block))
			state.repeats++;
		else
			tasks_kernel_block(block);
		return;
	}
	/* In nearly all cases no instruction was counted before. */
	walk->previous = block;
	if (walk->left.how == LEFT_JUMP && walk_goes_on(walk, block)) {
		calls[walk->at].instructions += block->insns;
		walk_left(walk, block);
	} else {
		walk_block(walk, block, 0);
	}
}

/* A task that did not run in this region before. */
static struct walk *found(uint64_t stack_pointer_at)
{
	const struct copy *copy = copy_at(stack_pointer_at);
	struct walk *walk;

	if (copy->vaddr == stack_pointer_at && copy->creator) {
		struct record record = { .kind = RECORD_TASK };
		uint32_t number = ++state.numbers;

		walk = new_walk(number, calls_child(0, CALLS_WHAT(CALLS_TASK, number)));
		record.number = number;
		record.instructions = copy->creator;
		record.path = copy->serial;
		records_put(&record);
		walk_enter(walk, entry_node(walk, CALLS_BEGIN, 0), false);
	} else {
		walk = new_walk(0, state.others);
		walk_enter(walk, state.others, false);
	}
	walk->levels[0].in_kernel = !walk->number;
	walk->stack_pointer_at = stack_pointer_at;
	walk->serial = copy->vaddr == stack_pointer_at ? copy->serial : 0;
	return walk;
}

/* The old task's stack pointer is stored at from, and the new task's is loaded from to. */
static void switch_tasks(uint64_t from, uint64_t to)
{
	struct walk *old = state.current, *new;
	const struct copy *copy = copy_at(to);
	struct walk **place;

	if (!old->stack_pointer_at) {
		old->stack_pointer_at = from;
		place = place_of(from);
		if (*place)
			free_walk(*place);
		else
			state.task_count++;
		*place = old;
	}
	place = place_of(to);
	/* Its memory belonged to another task before. */
	if (*place && copy->vaddr == to && copy->serial > (*place)->serial && *place != old) {
		struct walk *gone = *place;

		*place = found(to);
		free_walk(gone);
	} else if (!*place) {
		/* A program that forks without end cannot be measured. */
		if (++state.task_count > TASKS_MAX / 2) {
			walk_overflown = true;
			state.open = state.going_on = false;
			return;
		}
		*place = found(to);
	}
	new = *place;
	/* The block with the switch continues as the new task. */
	new->previous = old->previous;
	new->left = old->left;
	new->running = old->running;
	new->resumed = false;
	state.current = new;
	state.going_on = false;
}

void tasks_switch_access(bool store, uint64_t vaddr)
{
	/* Accesses after the stack pointers are irrelevant. */
	if (!state.open || state.switched)
		return;
	if (guest->stack_switched(&state.switch_from, store, vaddr)) {
		state.switched = true;
		switch_tasks(state.switch_from, vaddr);
	}
}

void tasks_copy(uint64_t vaddr)
{
	struct copy *copy = copy_at(vaddr);
	const struct walk *walk = state.current;

	if (!state.open)
		return;
	/* This concerns only system calls that create tasks, not io_uring workers. */
	copy->vaddr = vaddr;
	copy->creator = walk->forks ? walk->number : 0;
	copy->serial = state.copies;
}

void tasks_end(uint32_t window)
{
	struct record record = {
		.kind = RECORD_TASKS_END,
		.number = window,
		.instructions = state.repeats,
		.flags = calls_overflown || walk_overflown,
		.path = state.copies,
	};

	if (!state.open && !walk_overflown)
		return;
	if (state.open) {
		leave_user_mode();
		settle(state.current, CALLS_UNKNOWN, 0);
		for (uint32_t i = 0; i < TASKS_MAX; i++)
			if (state.tasks[i])
				settle(state.tasks[i], CALLS_UNKNOWN, 0);
	}
	state.open = state.going_on = false;
	calls_tell();
	records_put(&record);
}
