// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tunable Security Module: a security module whose decisions take a time
 * that is set from user space. After section 4.2 of "Analyzing the Overhead
 * of Filesystem Protection Using Linux Security Modules" (Wenhui Zhang et al.)
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <asm/processor.h>

#include "tunable.h"
#include "hook_args.h"

/*
 * Not in uapi/linux/lsm.h: nearly half of a kernel's objects depend on that
 * file, and its numbers are assigned in order from 100.
 */
#define LSM_ID_TUNABLE	0x74756e65

bool tunable_enabled __ro_after_init;

static bool enforcing;
static bool denying;
static bool counting;	/* delays are in instructions, not ns */
static u32 delay_ns[TUNABLE_POINTS];

/*
 * Counts since boot. Clearing another processor's counter could be lost, so a
 * new enforcement stage only records each count.
 */
static DEFINE_PER_CPU(u64 [TUNABLE_POINTS], calls);
static u64 calls_before[TUNABLE_POINTS];
static DEFINE_MUTEX(calls_lock);

static const char *const point_names[TUNABLE_POINTS] = {
#define LSM_HOOK(RET, DEFAULT, NAME, ...) \
	TUNABLE_UNLESS(TUNABLE_LEAVE_OUT_##NAME, [TUNABLE_##NAME] = #NAME,)
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK
};

/* Below this, ndelay() is finer than a round of the loop. */
#define LAST_NS		500

/*
 * Hooks are called under spinlocks and in RCU-walk, so this must not sleep. The
 * limit on the rounds ends the wait even if the clock stops with interrupts off
 * (the jiffies clock source); a round takes more than a nanosecond.
 */
static void wait_ns(u32 ns)
{
	u64 now = ktime_get_mono_fast_ns(), end = now + ns;
	u32 rounds = ns;

	while (rounds-- && now + LAST_NS < end) {
		cpu_relax();
		now = ktime_get_mono_fast_ns();
	}
	if (now < end)
		ndelay(end - now);
}

/*
 * With a clock that counts instructions (QEMU's -icount), reading the time is
 * too coarse. Runs exactly @n instructions, plus a constant few.
 */
static void wait_instructions(u32 n)
{
#ifdef CONFIG_X86
	n = max(n, 2U);
	asm volatile("shr %0\n\t"
		     "jnc 1f\n\t"
		     "nop\n"
		     "1:\tdec %0\n\t"
		     "jnz 1b"
		     : "+r" (n) : : "cc");
#elif defined(CONFIG_ARM64)
	n = max(n, 2U);
	asm volatile("tbz %w0, #0, 1f\n\t"
		     "nop\n"
		     "1:\tlsr %w0, %w0, #1\n"
		     "2:\tsubs %w0, %w0, #1\n\t"
		     "b.ne 2b"
		     : "+r" (n) : : "cc");
#endif
}

/*
 * The label of the calling task itself, even with overridden credentials
 * (overlayfs). Ignored in interrupts and outside the enforcement stage.
 */
static enum tunable_label asking_label(void)
{
	if (!READ_ONCE(enforcing) || !in_task())
		return TUNABLE_IGNORED;
	return tunable_cred_label(current_real_cred());
}

/**
 * tunable_in_scope - whether this hook call is counted
 *
 * Any context.
 *
 * Return: true for a task labelled trusted or untrusted in the enforcement
 * stage.
 */
bool tunable_in_scope(void)
{
	return asking_label() != TUNABLE_IGNORED;
}

/**
 * tunable_delay - wait for the delay of this hook
 * @point: the hook
 *
 * Counts the call for tasks labelled trusted or untrusted, and waits for those
 * labelled untrusted; neither outside the enforcement stage. Any context.
 */
void tunable_delay(enum tunable_point point)
{
	enum tunable_label label = asking_label();
	u32 ns;

	if (label == TUNABLE_IGNORED)
		return;
	this_cpu_inc(calls[point]);
	ns = READ_ONCE(delay_ns[point]);
	if (label != TUNABLE_UNTRUSTED || !ns)
		return;
	if (READ_ONCE(counting))
		wait_instructions(ns);
	else
		wait_ns(ns);
}

/**
 * tunable_denies - whether to deny the current task this inode
 * @inode: the inode
 *
 * Denies untrusted tasks trusted inodes, in the enforcement stage and with
 * "deny" set. Any context.
 *
 * Return: true if the hook must return -EACCES.
 */
bool tunable_denies(const struct inode *inode)
{
	return READ_ONCE(denying) && READ_ONCE(enforcing) &&
	       tunable_cred_label(current_cred()) == TUNABLE_UNTRUSTED &&
	       tunable_inode_label(inode) == TUNABLE_TRUSTED;
}

int tunable_inode_permission(struct inode *inode, int mask)
{
	/* The same check in RCU-walk and in another walk. */
	tunable_decide(inode_permission, inode, mask & ~MAY_NOT_BLOCK);
	return tunable_denies(inode) ? -EACCES : 0;
}

int tunable_file_permission(struct file *file, int mask)
{
	tunable_decide(file_permission, file, mask);
	return tunable_denies(file_inode(file)) ? -EACCES : 0;
}

int tunable_file_open(struct file *file)
{
	tunable_decide(file_open, file);
	return tunable_denies(file_inode(file)) ? -EACCES : 0;
}

/* All other hooks wait and return the default. */
#define LSM_HOOK(RET, DEFAULT, NAME, ...)				\
	TUNABLE_UNLESS(TUNABLE_LEAVE_OUT_##NAME,			\
	TUNABLE_UNLESS(TUNABLE_BY_HAND_##NAME,				\
	static RET tunable_##NAME(__VA_ARGS__)				\
	{								\
		tunable_decide(NAME, TUNABLE_ARGS_##NAME(TUNABLE_SAME,	\
							 TUNABLE_SAME)); \
		return DEFAULT;						\
	}))
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK

static struct security_hook_list tunable_hooks[] __ro_after_init = {
#define LSM_HOOK(RET, DEFAULT, NAME, ...)				\
	TUNABLE_UNLESS(TUNABLE_LEAVE_OUT_##NAME,			\
		       LSM_HOOK_INIT(NAME, tunable_##NAME),)
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK
};

bool tunable_enforcing(void)
{
	return READ_ONCE(enforcing);
}

static u64 calls_since_boot(enum tunable_point point)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(calls, cpu)[point]);
	return sum;
}

/**
 * tunable_set_enforcing - enter the enforcement or the initialisation stage
 * @on: true for enforcement
 *
 * Counting starts at 0 whenever enforcement starts.
 */
void tunable_set_enforcing(bool on)
{
	unsigned int i;

	mutex_lock(&calls_lock);
	if (on && !enforcing)
		for (i = 0; i < TUNABLE_POINTS; i++)
			calls_before[i] = calls_since_boot(i);
	WRITE_ONCE(enforcing, on);
	mutex_unlock(&calls_lock);
}

/**
 * tunable_calls - number of calls of a hook in the enforcement stage
 * @point: the hook
 *
 * Return: calls by tasks in scope since the last start of enforcement.
 */
u64 tunable_calls(enum tunable_point point)
{
	u64 n;

	mutex_lock(&calls_lock);
	n = calls_since_boot(point) - calls_before[point];
	mutex_unlock(&calls_lock);
	return n;
}

bool tunable_counting(void)
{
	return READ_ONCE(counting);
}

/**
 * tunable_set_counting - select the unit of delays, instructions or ns
 * @on: true for instructions
 *
 * Return: 0, or -EOPNOTSUPP if the length of a loop is unknown.
 */
int tunable_set_counting(bool on)
{
	if (on && !IS_ENABLED(CONFIG_X86) && !IS_ENABLED(CONFIG_ARM64))
		return -EOPNOTSUPP;
	WRITE_ONCE(counting, on);
	return 0;
}

bool tunable_denying(void)
{
	return READ_ONCE(denying);
}

void tunable_set_denying(bool on)
{
	WRITE_ONCE(denying, on);
}

/**
 * tunable_find_point - find the delay point of a hook
 * @name: name of the hook, as in lsm_hook_defs.h
 *
 * Return: an enum tunable_point, or -EINVAL if it is unknown.
 */
int tunable_find_point(const char *name)
{
	return match_string(point_names, TUNABLE_POINTS, name);
}

const char *tunable_point_name(enum tunable_point point)
{
	return point_names[point];
}

u32 tunable_get_delay(enum tunable_point point)
{
	return READ_ONCE(delay_ns[point]);
}

void tunable_set_delays(const u32 *delays_ns)
{
	unsigned int i;

	for (i = 0; i < TUNABLE_POINTS; i++)
		WRITE_ONCE(delay_ns[i], delays_ns[i]);
}

#ifdef TUNABLE_HAVE_LSM_ID
static const struct lsm_id tunable_lsmid = {
	.name = TUNABLE_NAME,
	.id = LSM_ID_TUNABLE,
};

#define TUNABLE_OWNER	(&tunable_lsmid)
#else
#define TUNABLE_OWNER	TUNABLE_NAME
#endif

static int __init tunable_init(void)
{
	/* Created before the hooks; all others are copies. */
	tunable_set_cred_label(current_cred(), TUNABLE_IGNORED);
	security_add_hooks(tunable_hooks, ARRAY_SIZE(tunable_hooks),
			   TUNABLE_OWNER);
	tunable_enabled = true;
	return 0;
}

DEFINE_LSM(tunable) = {
#ifdef TUNABLE_HAVE_LSM_INFO_ID
	.id = &tunable_lsmid,
#else
	.name = TUNABLE_NAME,
#endif
	.blobs = &tunable_blob_sizes,
	.init = tunable_init,
};
