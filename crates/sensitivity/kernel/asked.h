/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunable Security Module: records the arguments of hooks. The type of an
 * argument decides how it is recorded, so no hook is named here.
 */
#ifndef _SECURITY_TUNABLE_ASKED_H
#define _SECURITY_TUNABLE_ASKED_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "points.h"

struct file_operations;

/* Kinds of arguments; other types are not recorded. */
enum tunable_kind {
	TUNABLE_OTHER,
	TUNABLE_SIGNED,
	TUNABLE_UNSIGNED,
	TUNABLE_UID,
	TUNABLE_GID,
	/* Pointers from here on; to objects from TUNABLE_DENTRY on. */
	TUNABLE_TEXT,
	TUNABLE_DENTRY,
	TUNABLE_INODE,
	TUNABLE_PATH,
	TUNABLE_FILE,
	TUNABLE_MOUNT,
	TUNABLE_SUPER_BLOCK,
	TUNABLE_BPRM,
	TUNABLE_CRED,
	TUNABLE_TASK,
	TUNABLE_MM,
	TUNABLE_VMA,
};

/* An argument of a call, with its name in lsm_hook_defs.h. */
struct tunable_arg {
	const char *name;
	void *pointer;
	s64 number;
	enum tunable_kind kind;
};

/* Enumerations have the type that the compiler chooses. */
#define TUNABLE_NUMBERS						\
	bool: TUNABLE_UNSIGNED,					\
	unsigned char: TUNABLE_UNSIGNED,			\
	unsigned short: TUNABLE_UNSIGNED,			\
	unsigned int: TUNABLE_UNSIGNED,				\
	unsigned long: TUNABLE_UNSIGNED,			\
	unsigned long long: TUNABLE_UNSIGNED,			\
	signed char: TUNABLE_SIGNED,				\
	short: TUNABLE_SIGNED,					\
	int: TUNABLE_SIGNED,					\
	long: TUNABLE_SIGNED,					\
	long long: TUNABLE_SIGNED,				\
	kuid_t: TUNABLE_UID,					\
	kgid_t: TUNABLE_GID

#define TUNABLE_POINTER_TO(type, kind)	type *: kind, const type *: kind

#define TUNABLE_NUMBER_KIND(arg) \
	_Generic((arg), TUNABLE_NUMBERS, default: TUNABLE_OTHER)

#define TUNABLE_KIND(arg)						\
	_Generic((arg), TUNABLE_NUMBERS,				\
	const char *: TUNABLE_TEXT,					\
	TUNABLE_POINTER_TO(struct dentry, TUNABLE_DENTRY),		\
	TUNABLE_POINTER_TO(struct inode, TUNABLE_INODE),		\
	TUNABLE_POINTER_TO(struct path, TUNABLE_PATH),			\
	TUNABLE_POINTER_TO(struct file, TUNABLE_FILE),			\
	TUNABLE_POINTER_TO(struct vfsmount, TUNABLE_MOUNT),		\
	TUNABLE_POINTER_TO(struct super_block, TUNABLE_SUPER_BLOCK),	\
	TUNABLE_POINTER_TO(struct linux_binprm, TUNABLE_BPRM),		\
	TUNABLE_POINTER_TO(struct cred, TUNABLE_CRED),			\
	TUNABLE_POINTER_TO(struct task_struct, TUNABLE_TASK),		\
	TUNABLE_POINTER_TO(struct mm_struct, TUNABLE_MM),		\
	TUNABLE_POINTER_TO(struct vm_area_struct, TUNABLE_VMA),		\
	default: TUNABLE_OTHER)

/* Branches that are not chosen may have another type. */
#define TUNABLE_NUMBER_OF(arg)						\
	__builtin_choose_expr(						\
		TUNABLE_KIND(arg) == TUNABLE_SIGNED ||			\
		TUNABLE_KIND(arg) == TUNABLE_UNSIGNED, (arg),		\
	__builtin_choose_expr(TUNABLE_KIND(arg) == TUNABLE_UID,		\
		__kuid_val(_Generic((arg), kuid_t: (arg),		\
				    default: GLOBAL_ROOT_UID)),		\
		__kgid_val(_Generic((arg), kgid_t: (arg),		\
				    default: GLOBAL_ROOT_GID))))

#define TUNABLE_POINTER_OF(arg) \
	__builtin_choose_expr(TUNABLE_KIND(arg) >= TUNABLE_TEXT, (arg), NULL)

#define TUNABLE_ARG(arg)						\
	{ .name = #arg, .kind = TUNABLE_KIND(arg),			\
	  .number = TUNABLE_NUMBER_OF(arg),				\
	  .pointer = (void *)TUNABLE_POINTER_OF(arg) }

/* Not even the address of an object that is not yet or no longer valid. */
#define TUNABLE_NUMBER(arg)						\
	{ .name = #arg, .kind = TUNABLE_NUMBER_KIND(arg),		\
	  .number = TUNABLE_NUMBER_OF(arg) }

#define TUNABLE_SAME(arg)	arg

/* A recording: this many calls are kept, and all are counted. */
#define TUNABLE_QUESTIONS_MAX	4096
/* No hook of any tree has more arguments. */
#define TUNABLE_VALUES_MAX	8
/* Two names and what is left of a third; places in it fit into a byte. */
#define TUNABLE_TEXT_SIZE	160

enum tunable_value_kind {
	TUNABLE_VALUE_NONE,
	TUNABLE_VALUE_SIGNED,
	TUNABLE_VALUE_UNSIGNED,
	TUNABLE_VALUE_TEXT,
	TUNABLE_VALUE_INODE,
	TUNABLE_VALUE_SUPER_BLOCK,
	TUNABLE_VALUE_OWN_CRED,
	TUNABLE_VALUE_CRED,
	TUNABLE_VALUE_TASK,
	TUNABLE_VALUE_MM,
};

/* What is kept of an argument: numbers, no references. */
struct tunable_value {
	const char *name;
	u64 number;
	dev_t dev;
	u8 kind;
	/* Offset of this value in the call's text; 0: none. */
	u8 text;
	bool is_cut;
};

struct tunable_question {
	bool is_complete;
	u8 count;
	u8 object;
	u8 text_end;
	enum tunable_point point;
	struct tunable_value values[TUNABLE_VALUES_MAX];
	char text[TUNABLE_TEXT_SIZE];
};

struct tunable_recording {
	atomic64_t asked;
	struct tunable_question questions[TUNABLE_QUESTIONS_MAX];
};

/* Set while recording is on. */
extern struct tunable_recording __rcu *tunable_recording;
/* asked_file.c */
extern const struct file_operations tunable_asked_fops;

/*
 * tunable_decide() - the start of every hook: records the call if recording is
 * on, and waits. Takes the hook's arguments.
 *
 * Separate functions record, since their stack space would cost the hooks
 * instructions even when nothing is recorded.
 */
#define tunable_decide(NAME, ...)					\
do {									\
	if (unlikely(rcu_access_pointer(tunable_recording)))		\
		tunable_ask_##NAME(__VA_ARGS__);			\
	tunable_delay(TUNABLE_##NAME);					\
} while (0)

#define LSM_HOOK(RET, DEFAULT, NAME, ...) \
	TUNABLE_UNLESS(TUNABLE_LEAVE_OUT_##NAME, \
		       void tunable_ask_##NAME(__VA_ARGS__);)
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK

#endif /* _SECURITY_TUNABLE_ASKED_H */
