/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of each task that are under way. By task, not by processor: a hook may
 * sleep. Not in task storage, which costs more, allocates, and gives up under
 * contention; but in places that tasks take for as long as they are in a hook.
 */
#ifndef LSMETER_STACK_H
#define LSMETER_STACK_H

#define TASK_STACK	(1 << 14)	/* THREAD_SIZE, to which stacks are aligned */

/* The task, as a place's state has it. Each processor has an idle task of number 0. */
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

/* Is this the place of that task, and is the task in a hook? */
static __always_inline bool holds(struct stack *stack, __u64 task)
{
	__u64 state = *(volatile __u64 *)&stack->state;

	return state > task && state <= (task | DEPTH_MAX);
}

/* The place of a task that is in a hook. */
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

/* A place for a task that is in none, with its first frame taken. */
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
 * Where on the kernel's stack the trampoline has a call's arguments; the lower half will
 * do. The same before and after the call.
 */
static __always_inline __u32 height(void *context)
{
	__u32 height;

	/* The one operation that makes a number of a pointer. */
	asm volatile("%0 = %1" : "=w"(height) : "w"((__u32)(__u64)context));
	return height;
}

/* The frame of the call that is so deep, from 1; NULL if it has none. */
static __always_inline struct frame *frame_of(struct stack *stack, __u64 depth)
{
	__u64 at = depth - 1;

	/* The verifier follows this very register. */
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
 * The number again, of which the verifier knows nothing any more. It would go through
 * all that follows once for each value.
 */
static __always_inline __u64 forget(struct stack *stack, __u64 number)
{
	*(volatile __u64 *)&stack->scratch = number;
	return *(volatile __u64 *)&stack->scratch;
}

/*
 * A call whose end was missed is still there. It is over if this one stands at the
 * same height of the same stack, or higher; other stacks are those of interrupts.
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

/* A frame for a call of a task that is not in its first place, or in a hook already. */
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

	/* Nearly always the task had its first place before, and is in no hook. */
	if (__sync_val_compare_and_swap(&stack->state, task, task | 1) != task) {
		frame = next_frame(task, context);
		if (!frame)
			return;
	}
	frame->inside_ns = 0;
	frame->context = context;
	*(volatile __u64 *)&frame->start_ns = bpf_ktime_get_ns();
}

/* How deep this call is, if its beginning was seen; else 0. */
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

/* As pop(), of a call in another one, or in another place than the first. */
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
		/* It had no room, or its beginning was not seen. */
		if (depth > DEPTH)
			set_depth(stack, task, depth - 1);
		return false;
	}
	__sync_fetch_and_add(&shared[0].abandoned, depth - at);
	total_ns -= frame->start_ns;
	*taken_ns = total_ns - frame->inside_ns - window_ns;
	/* What the programs took is no part of the call around this one. */
	if (PATCHED(PATCH_PART))
		total_ns = frame->inside_ns + window_ns;
	around = frame_of(stack, at - 1);
	if (around)
		around->inside_ns += total_ns + PATCHED(PATCH_OUTSIDE);
	set_depth(stack, task, at - 1);
	return true;
}

/* False if the call is not to be counted. */
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
