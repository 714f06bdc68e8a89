/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running calls of each task. They are stored by task instead of by processor, because hooks
 * may sleep. Task storage would cost more, allocate memory, and fail under contention. Instead, a
 * task takes one of the stacks below while it is in a hook.
 */
#ifndef LSMETER_STACK_H
#define LSMETER_STACK_H

#define TASK_STACK	(1 << 14)	/* THREAD_SIZE; kernel stacks are aligned to it */

/* The task as in `state`. Every processor's idle task has number 0. */
static __always_inline __u64 task_of(__u64 id)
{
	__u64 task = (__u32)id;

	if (!task)
		task = PIDS + bpf_get_smp_processor_id();
	return task << DEPTH_BITS;
}

static __always_inline struct stack *place(__u64 task, __u32 way)
{
	__u64 at = ((task >> DEPTH_BITS) ^ way) & (STACKS - 1);

	return &stacks[at];
}

/* Whether the task uses this stack and is in a hook. */
static __always_inline bool holds(struct stack *stack, __u64 task)
{
	__u64 state = *(volatile __u64 *)&stack->state;

	return state > task && state <= (task | DEPTH_MAX);
}

/* The stack of a task that is in a hook. */
static __always_inline struct stack *find_stack(__u64 task)
{
	struct stack *stack;
	__u32 way;

	for (way = 0; way < WAYS; way++) {
		stack = place(task, way);
		if (holds(stack, task))
			return stack;
	}
	return NULL;
}

/* Takes a stack, and its first frame, for a task outside hooks. */
static __always_inline struct stack *take_stack(__u64 task)
{
	struct stack *stack;
	__u64 state;
	__u32 way;

	for (way = 0; way < WAYS; way++) {
		stack = place(task, way);
		state = *(volatile __u64 *)&stack->state;
		if (!(state & DEPTH_MAX) &&
		    __sync_val_compare_and_swap(&stack->state, state, task | 1) == state)
			return stack;
	}
	return NULL;
}

/*
 * The lower half of the address of a call's arguments, which the trampoline stores on
 * the kernel stack. It is the same before and after the call.
 */
static __always_inline __u32 height(void *context)
{
	__u32 height;

	/* The only operation that turns a pointer into a number. */
	asm volatile("%0 = %1" : "=w"(height) : "w"((__u32)(__u64)context));
	return height;
}

/* The frame of the call at this depth, from 1; NULL if it has none. */
static __always_inline struct frame *frame_of(struct stack *stack, __u64 depth)
{
	__u64 at = depth - 1;

	/* The verifier tracks this register. */
	OPAQUE(at);
	if (at >= DEPTH)
		return NULL;
	return &stack->frame[at];
}

static __always_inline void set_depth(struct stack *stack, __u64 task, __u64 depth)
{
	*(volatile __u64 *)&stack->state = task | depth;
}

/*
 * Returns the number, but makes the verifier forget its value. Otherwise it would check
 * the following code once per value.
 */
static __always_inline __u64 forget(struct stack *stack, __u64 number)
{
	*(volatile __u64 *)&stack->scratch = number;
	return *(volatile __u64 *)&stack->scratch;
}

/*
 * Removes calls whose end was missed. Such a call has ended if the new one is at the same address
 * of the same kernel stack, or at a higher one. Interrupts have other stacks.
 */
static __always_inline __u64 drop_finished(struct stack *stack, __u32 context)
{
	__u64 depth = stack->state & DEPTH_MAX;
	struct frame *top;
	int i;

	for (i = 0; i < DEPTH; i++) {
		top = frame_of(stack, depth);
		if (!top || (top->context ^ context) >= TASK_STACK ||
		    top->context > context)
			break;
		depth = forget(stack, depth - 1);
		__sync_fetch_and_add(&shared[0].abandoned, 1);
	}
	return forget(stack, depth);
}

/* A frame for a task that is already in a hook, or not in its first stack. */
static __always_inline struct frame *next_frame(__u64 task, __u32 context)
{
	struct stack *stack = find_stack(task);
	struct frame *frame;
	__u64 depth;

	if (!stack) {
		stack = take_stack(task);
		if (stack)
			return &stack->frame[0];
		__sync_fetch_and_add(&shared[0].no_stack, 1);
		return NULL;
	}
	depth = drop_finished(stack, context);
	frame = frame_of(stack, depth + 1);
	if (!frame)
		__sync_fetch_and_add(&shared[0].too_deep, 1);
	if (depth < DEPTH_MAX)
		set_depth(stack, task, depth + 1);
	return frame;
}

static __always_inline void push(__u32 context, __u64 id)
{
	__u64 task = task_of(id);
	struct stack *stack = place(task, 0);
	struct frame *frame = &stack->frame[0];

	/* Common case: the task used its first stack before, and is not in a hook. */
	if (__sync_val_compare_and_swap(&stack->state, task, task | 1) != task) {
		frame = next_frame(task, context);
		if (!frame)
			return;
	}
	frame->inside_ns = 0;
	frame->context = context;
	*(volatile __u64 *)&frame->start_ns = bpf_ktime_get_ns();
}

/* The depth of this call; 0 if its start was not seen. */
static __always_inline __u64 find_depth(struct stack *stack, __u32 context, __u64 depth)
{
	struct frame *frame;
	int i;

	if (depth > DEPTH)
		depth = DEPTH;
	for (i = 0; i < DEPTH; i++) {
		depth = forget(stack, depth);
		frame = frame_of(stack, depth);
		if (!frame || frame->context == context)
			break;
		depth--;
	}
	return forget(stack, depth);
}

/* pop() for nested calls, and for tasks not in their first stack. */
static __always_inline bool pop_nested(__u32 context, __u64 task, __s64 *taken_ns)
{
	struct stack *stack = find_stack(task);
	__u64 total_ns = bpf_ktime_get_ns();
	__u64 depth, at, window_ns = PATCHED(PATCH_WINDOW);
	struct frame *frame, *around;

	if (!stack)
		return false;
	depth = stack->state & DEPTH_MAX;
	at = find_depth(stack, context, depth);
	frame = frame_of(stack, at);
	if (!frame || frame->context != context) {
		/* The call had no frame, or its start was not seen. */
		if (depth > DEPTH)
			set_depth(stack, task, depth - 1);
		return false;
	}
	__sync_fetch_and_add(&shared[0].abandoned, depth - at);
	total_ns -= frame->start_ns;
	*taken_ns = total_ns - frame->inside_ns - window_ns;
	/* The outer call's time excludes these programs. */
	if (PATCHED(PATCH_PART))
		total_ns = frame->inside_ns + window_ns;
	around = frame_of(stack, at - 1);
	if (around)
		around->inside_ns += total_ns + PATCHED(PATCH_OUTSIDE);
	set_depth(stack, task, at - 1);
	return true;
}

/* False if the call must not be counted. */
static __always_inline bool pop(__u32 context, __u64 id, __s64 *taken_ns)
{
	__u64 task = task_of(id), now_ns;
	struct stack *stack = place(task, 0);
	struct frame *frame = &stack->frame[0];

	if (*(volatile __u64 *)&stack->state != (task | 1) || frame->context != context)
		return pop_nested(context, task, taken_ns);
	now_ns = bpf_ktime_get_ns();
	*taken_ns = now_ns - frame->start_ns - frame->inside_ns - PATCHED(PATCH_WINDOW);
	set_depth(stack, task, 0);
	return true;
}

#endif
