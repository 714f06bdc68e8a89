// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tunable Security Module: records the hook calls of labelled processes. Runs
 * in any context in which hooks are called, so it neither sleeps nor takes
 * locks. It keeps numbers and names, no references.
 */
#include <linux/atomic.h>
#include <linux/binfmts.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "tunable.h"
#include "hook_args.h"

/* A longer name is cut. */
#define NAME_KEPT	63

struct tunable_recording __rcu *tunable_recording;

static void keep_text(struct tunable_question *q, struct tunable_value *v,
		      const char *text)
{
	unsigned int n = 0;
	char *to;
	char c;

	if (!q->text_end)
		q->text_end = 1;
	if (q->text_end >= TUNABLE_TEXT_SIZE) {
		v->is_cut = true;
		return;
	}
	to = q->text + q->text_end;
	v->text = q->text_end;
	while ((c = READ_ONCE(text[n]))) {
		if (n == NAME_KEPT || v->text + n + 1 == TUNABLE_TEXT_SIZE) {
			v->is_cut = true;
			break;
		}
		to[n++] = c;
	}
	to[n] = '\0';
	q->text_end += n + 1;
}

static void keep_inode(struct tunable_value *v, const struct inode *inode)
{
	v->kind = TUNABLE_VALUE_INODE;
	v->dev = inode->i_sb->s_dev;
	v->number = inode->i_ino;
}

/*
 * Names change under d_seq, always end in a NUL and, like the dentry's inode
 * and parent, outlive an RCU grace period.
 */
static void keep_dentry(struct tunable_question *q, struct tunable_value *v,
			struct dentry *dentry)
{
	const struct inode *inode = d_inode_rcu(dentry);
	unsigned int seq;

	if (inode) {
		keep_inode(v, inode);
		return;
	}
	seq = raw_read_seqcount(&dentry->d_seq);
	inode = d_inode_rcu(READ_ONCE(dentry->d_parent));
	if (inode) {
		keep_inode(v, inode);
	} else {
		v->kind = TUNABLE_VALUE_SUPER_BLOCK;
		v->dev = dentry->d_sb->s_dev;
	}
	keep_text(q, v, (const char *)READ_ONCE(dentry->d_name.name));
	/* Renamed meanwhile: no name is better than a mixed one. */
	if ((seq & 1) || read_seqcount_retry(&dentry->d_seq, seq)) {
		v->text = 0;
		v->is_cut = true;
	}
}

static void keep_file(struct tunable_value *v, const struct file *file)
{
	if (file && file_inode(file))
		keep_inode(v, file_inode(file));
}

static void keep_cred(struct tunable_value *v, const struct cred *cred)
{
	v->kind = cred == current_real_cred() ? TUNABLE_VALUE_OWN_CRED :
						TUNABLE_VALUE_CRED;
	v->number = (unsigned long)cred;
}

static void keep_vma(struct tunable_value *v, const struct vm_area_struct *vma)
{
	if (vma->vm_file)
		keep_file(v, vma->vm_file);
	else
		v->kind = TUNABLE_VALUE_MM;
}

static bool is_name(const char *arg)
{
	size_t len = strlen(arg);

	return len >= 4 && !strcmp(arg + len - 4, "name");
}

static void keep_pointer(struct tunable_question *q, struct tunable_value *v,
			 const struct tunable_arg *arg)
{
	void *at = arg->pointer;

	if (IS_ERR_OR_NULL(at))
		return;
	switch (arg->kind) {
	case TUNABLE_TEXT:
		/* Others need not end in a NUL: secctx_to_secid's secdata. */
		if (is_name(arg->name)) {
			v->kind = TUNABLE_VALUE_TEXT;
			keep_text(q, v, at);
		}
		break;
	case TUNABLE_DENTRY:
		keep_dentry(q, v, at);
		break;
	case TUNABLE_INODE:
		keep_inode(v, at);
		break;
	case TUNABLE_PATH:
		keep_dentry(q, v, ((struct path *)at)->dentry);
		break;
	case TUNABLE_FILE:
		keep_file(v, at);
		break;
	case TUNABLE_MOUNT:
		keep_dentry(q, v, ((struct vfsmount *)at)->mnt_root);
		break;
	case TUNABLE_SUPER_BLOCK:
		v->kind = TUNABLE_VALUE_SUPER_BLOCK;
		v->dev = ((struct super_block *)at)->s_dev;
		break;
	case TUNABLE_BPRM:
		keep_file(v, ((struct linux_binprm *)at)->file);
		break;
	case TUNABLE_CRED:
		keep_cred(v, at);
		break;
	case TUNABLE_TASK:
		v->kind = TUNABLE_VALUE_TASK;
		v->number = task_pid_nr(at);
		break;
	case TUNABLE_MM:
		v->kind = TUNABLE_VALUE_MM;
		break;
	case TUNABLE_VMA:
		keep_vma(v, at);
		break;
	default:
		break;
	}
}

static void keep(struct tunable_question *q, const struct tunable_arg *args,
		 unsigned int count)
{
	unsigned int i;

	q->object = TUNABLE_VALUES_MAX;
	q->count = min_t(unsigned int, count, TUNABLE_VALUES_MAX);
	for (i = 0; i < q->count; i++) {
		const struct tunable_arg *arg = &args[i];
		struct tunable_value *v = &q->values[i];

		v->name = arg->name;
		v->number = arg->number;
		if (arg->kind >= TUNABLE_TEXT)
			keep_pointer(q, v, arg);
		else if (arg->kind != TUNABLE_OTHER)
			v->kind = arg->kind == TUNABLE_SIGNED ?
				  TUNABLE_VALUE_SIGNED : TUNABLE_VALUE_UNSIGNED;
		/* A dentry is more specific than its directory. */
		if (arg->kind >= TUNABLE_DENTRY &&
		    (q->object == TUNABLE_VALUES_MAX ||
		     (arg->kind == TUNABLE_DENTRY &&
		      args[q->object].kind != TUNABLE_DENTRY)))
			q->object = i;
	}
}

static void record(enum tunable_point point, const struct tunable_arg *args,
		   unsigned int count)
{
	struct tunable_recording *r;
	struct tunable_question *q;
	s64 n;

	if (!tunable_in_scope())
		return;
	rcu_read_lock();
	r = rcu_dereference(tunable_recording);
	n = r ? atomic64_inc_return(&r->asked) : 0;
	if (n > 0 && n <= TUNABLE_QUESTIONS_MAX) {
		q = &r->questions[n - 1];
		q->point = point;
		keep(q, args, count);
		/* Pairs with is_complete(): a reader sees all of it. */
		smp_store_release(&q->is_complete, true);
	}
	rcu_read_unlock();
}

#define LSM_HOOK(RET, DEFAULT, NAME, ...)				\
	TUNABLE_UNLESS(TUNABLE_LEAVE_OUT_##NAME,			\
	void tunable_ask_##NAME(__VA_ARGS__)				\
	{								\
		const struct tunable_arg args[] = {			\
			TUNABLE_ARGS_##NAME(TUNABLE_ARG, TUNABLE_NUMBER) \
		};							\
									\
		record(TUNABLE_##NAME, args, ARRAY_SIZE(args));		\
	})
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK
