// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tunable Security Module: labels of inodes and processes. An inode gets its
 * label from the xattr security.tunable, or from the process that creates it.
 * A process gets its label from its executable, or from its parent. Without an
 * xattr it is ignored.
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xattr.h>

#include "tunable.h"

/* Maps ids of mounts in trees before struct mnt_idmap. */
#ifndef TUNABLE_HAVE_MNT_IDMAP
#define mnt_idmap user_namespace
#endif

/* The longest label, with the NUL that some programs write. */
#define LABEL_SIZE	sizeof("untrusted")

struct tunable_cred {
	u32 label;
};

struct tunable_inode {
	u32 label;
};

struct lsm_blob_sizes tunable_blob_sizes __ro_after_init = {
	.lbs_cred = sizeof(struct tunable_cred),
	.lbs_inode = sizeof(struct tunable_inode),
#ifdef TUNABLE_HAVE_XATTR_SLOTS
	.lbs_xattr_count = 1,
#endif
};

static const char *const label_names[] = {
	[TUNABLE_TRUSTED] = "trusted",
	[TUNABLE_UNTRUSTED] = "untrusted",
	[TUNABLE_IGNORED] = "ignored",
};

static struct tunable_cred *cred_blob(const struct cred *cred)
{
	return cred->security + tunable_blob_sizes.lbs_cred;
}

/* NULL if the inode has no blob. */
static struct tunable_inode *inode_blob(const struct inode *inode)
{
	if (unlikely(!inode->i_security))
		return NULL;
	return inode->i_security + tunable_blob_sizes.lbs_inode;
}

/**
 * tunable_cred_label - label of credentials
 * @cred: the credentials
 *
 * Return: trusted, untrusted or ignored.
 */
enum tunable_label tunable_cred_label(const struct cred *cred)
{
	return cred_blob(cred)->label;
}

/**
 * tunable_set_cred_label - label credentials that are not in use yet
 * @cred: the credentials
 * @label: trusted, untrusted or ignored
 */
void tunable_set_cred_label(const struct cred *cred, enum tunable_label label)
{
	cred_blob(cred)->label = label;
}

/**
 * tunable_inode_label - label of an inode
 * @inode: the inode
 *
 * Never reads from disk. Any context.
 *
 * Return: trusted, untrusted or ignored.
 */
enum tunable_label tunable_inode_label(const struct inode *inode)
{
	const struct tunable_inode *blob = inode_blob(inode);
	u32 label = blob ? READ_ONCE(blob->label) : TUNABLE_IGNORED;

	return label == TUNABLE_UNREAD ? TUNABLE_IGNORED : label;
}

static void set_inode_label(const struct inode *inode, enum tunable_label label)
{
	struct tunable_inode *blob = inode_blob(inode);

	if (blob)
		WRITE_ONCE(blob->label, label);
}

/**
 * tunable_label_name - a label as user space writes it
 * @label: trusted, untrusted or ignored
 *
 * Return: the name.
 */
const char *tunable_label_name(enum tunable_label label)
{
	return label_names[label];
}

/**
 * tunable_parse_label - parse a label
 * @text: the text, with or without a NUL
 * @len: its length in bytes, with the NUL if there is one
 *
 * Return: trusted, untrusted or ignored, or -EINVAL.
 */
int tunable_parse_label(const char *text, size_t len)
{
	unsigned int i;

	if (len && !text[len - 1])
		len--;
	for (i = 0; i < ARRAY_SIZE(label_names); i++)
		if (len == strlen(label_names[i]) &&
		    !memcmp(text, label_names[i], len))
			return i;
	return -EINVAL;
}

/* Processes */

int tunable_cred_alloc_blank(struct cred *cred, gfp_t gfp)
{
	tunable_set_cred_label(cred, TUNABLE_IGNORED);
	tunable_decide(cred_alloc_blank, cred, gfp);
	return 0;
}

int tunable_cred_prepare(struct cred *new, const struct cred *old, gfp_t gfp)
{
	tunable_set_cred_label(new, tunable_cred_label(old));
	tunable_decide(cred_prepare, new, old, gfp);
	return 0;
}

void tunable_cred_transfer(struct cred *new, const struct cred *old)
{
	tunable_set_cred_label(new, tunable_cred_label(old));
	tunable_decide(cred_transfer, new, old);
}

int tunable_bprm_creds_for_exec(struct linux_binprm *bprm)
{
	enum tunable_label label = tunable_inode_label(file_inode(bprm->file));

	tunable_set_cred_label(bprm->cred, label);
	tunable_decide(bprm_creds_for_exec, bprm);
	return 0;
}

/* Inodes */

int tunable_inode_alloc_security(struct inode *inode)
{
	set_inode_label(inode, TUNABLE_UNREAD);
	tunable_decide(inode_alloc_security, inode);
	return 0;
}

/*
 * Ignored if the file system has no xattrs or an invalid label: the contents of
 * a disk are not trusted.
 */
static enum tunable_label read_label(struct dentry *dentry, struct inode *inode)
{
	char text[LABEL_SIZE];
	int label;
	ssize_t len;

	if (!(inode->i_opflags & IOP_XATTR))
		return TUNABLE_IGNORED;
	len = __vfs_getxattr(dentry, inode, TUNABLE_XATTR, text, sizeof(text));
	if (len < 0 || len > sizeof(text))
		return TUNABLE_IGNORED;
	label = tunable_parse_label(text, len);
	return label < 0 ? TUNABLE_IGNORED : label;
}

static void settle_label(struct dentry *dentry, struct inode *inode)
{
	struct tunable_inode *blob = inode_blob(inode);

	/* Keeps a label that was set while the xattr was read. */
	if (blob && READ_ONCE(blob->label) == TUNABLE_UNREAD)
		cmpxchg(&blob->label, TUNABLE_UNREAD,
			read_label(dentry, inode));
}

/*
 * A root directory gets its dentry before its file system can read xattrs
 * (overlayfs cannot). It is labelled when the mount is complete.
 */
void tunable_d_instantiate(struct dentry *dentry, struct inode *inode)
{
	if (inode && dentry->d_sb->s_root)
		settle_label(dentry, inode);
	tunable_decide(d_instantiate, dentry, inode);
}

int tunable_sb_set_mnt_opts(struct super_block *sb, void *mnt_opts,
			    unsigned long kern_flags,
			    unsigned long *set_kern_flags)
{
	if (sb->s_root)
		settle_label(sb->s_root, d_inode(sb->s_root));
	tunable_decide(sb_set_mnt_opts, sb, mnt_opts, kern_flags,
		       set_kern_flags);
	return 0;
}

/* A new inode gets its creator's label, on disk unless that is ignored. */
#ifdef TUNABLE_HAVE_XATTR_SLOTS
int tunable_inode_init_security(struct inode *inode, struct inode *dir,
				const struct qstr *qstr, struct xattr *xattrs,
				int *xattr_count)
{
	enum tunable_label label = tunable_cred_label(current_cred());
	struct xattr *xattr;

	set_inode_label(inode, label);
	tunable_decide(inode_init_security, inode, dir, qstr, xattrs,
		       xattr_count);
	if (label == TUNABLE_IGNORED)
		return -EOPNOTSUPP;
	xattr = lsm_get_xattr_slot(xattrs, xattr_count);
	if (!xattr)
		return 0;
	xattr->name = TUNABLE_NAME;
	xattr->value_len = strlen(label_names[label]);
	xattr->value = kstrdup(label_names[label], GFP_NOFS);
	return xattr->value ? 0 : -ENOMEM;
}
#else
static bool is_last_to_name_xattr(void)
{
	struct security_hook_list *hook;
	bool last = false;

	hlist_for_each_entry(hook, &security_hook_heads.inode_init_security,
			     list)
		last = hook->hook.inode_init_security ==
		       tunable_inode_init_security;
	return last;
}

/*
 * Here all modules share one xattr. A later module overwrites that of an
 * earlier one, an error skips later modules, and 0 promises an xattr. So the
 * label goes to the disk only if this module is the last and no earlier one
 * has set the xattr. It is in memory in any case.
 */
int tunable_inode_init_security(struct inode *inode, struct inode *dir,
				const struct qstr *qstr, const char **name,
				void **value, size_t *len)
{
	enum tunable_label label = tunable_cred_label(current_cred());
	char *text;

	set_inode_label(inode, label);
	tunable_decide(inode_init_security, inode, dir, qstr, name, value, len);
	if (!is_last_to_name_xattr())
		return 0;
	if (!name || !value || !len || label == TUNABLE_IGNORED)
		return name && *name ? 0 : -EOPNOTSUPP;
	if (*name)
		return 0;
	text = kstrdup(label_names[label], GFP_NOFS);
	if (!text)
		return -ENOMEM;
	*name = TUNABLE_NAME;
	*value = text;
	*len = strlen(text);
	return 0;
}
#endif

/* The xattr security.tunable */

static int may_set_label(const void *value, size_t size)
{
	int label;

	if (!capable(CAP_MAC_ADMIN))
		return -EPERM;
	label = tunable_parse_label(value, size);
	return label < 0 ? label : 0;
}

#ifdef TUNABLE_HAVE_XATTR_SKIPCAP
int tunable_inode_xattr_skipcap(const char *name)
{
	tunable_decide(inode_xattr_skipcap, name);
	/* Checks CAP_MAC_ADMIN instead. */
	return !strcmp(name, TUNABLE_XATTR);
}

/* The framework checks capabilities for other xattrs. */
static int may_set_other(struct dentry *dentry, const char *name,
			 const void *value, size_t size, int flags)
{
	return 0;
}

static int may_remove_other(struct mnt_idmap *idmap, struct dentry *dentry,
			    const char *name)
{
	return 0;
}
#else
/* A module with these hooks must check capabilities. */
static int may_set_other(struct dentry *dentry, const char *name,
			 const void *value, size_t size, int flags)
{
	return cap_inode_setxattr(dentry, name, value, size, flags);
}

static int may_remove_other(struct mnt_idmap *idmap, struct dentry *dentry,
			    const char *name)
{
	return cap_inode_removexattr(idmap, dentry, name);
}
#endif

int tunable_inode_setxattr(struct mnt_idmap *idmap, struct dentry *dentry,
			   const char *name, const void *value, size_t size,
			   int flags)
{
	tunable_decide(inode_setxattr, idmap, dentry, name, value, size, flags);
	if (strcmp(name, TUNABLE_XATTR))
		return may_set_other(dentry, name, value, size, flags);
	return may_set_label(value, size);
}

void tunable_inode_post_setxattr(struct dentry *dentry, const char *name,
				 const void *value, size_t size, int flags)
{
	int label;

	tunable_decide(inode_post_setxattr, dentry, name, value, size, flags);
	if (strcmp(name, TUNABLE_XATTR))
		return;
	label = tunable_parse_label(value, size);
	set_inode_label(d_backing_inode(dentry),
			label < 0 ? TUNABLE_IGNORED : label);
}

int tunable_inode_removexattr(struct mnt_idmap *idmap, struct dentry *dentry,
			      const char *name)
{
	tunable_decide(inode_removexattr, idmap, dentry, name);
	if (strcmp(name, TUNABLE_XATTR))
		return may_remove_other(idmap, dentry, name);
	if (!capable(CAP_MAC_ADMIN))
		return -EPERM;
#ifndef TUNABLE_HAVE_POST_REMOVEXATTR
	set_inode_label(d_backing_inode(dentry), TUNABLE_IGNORED);
#endif
	return 0;
}

#ifdef TUNABLE_HAVE_POST_REMOVEXATTR
void tunable_inode_post_removexattr(struct dentry *dentry, const char *name)
{
	tunable_decide(inode_post_removexattr, dentry, name);
	if (!strcmp(name, TUNABLE_XATTR))
		set_inode_label(d_backing_inode(dentry), TUNABLE_IGNORED);
}
#endif

/* getxattr() calls this first: every inode has a label, with xattrs or not. */
int tunable_inode_getsecurity(struct mnt_idmap *idmap, struct inode *inode,
			      const char *name, void **buffer, bool alloc)
{
	const char *text = label_names[tunable_inode_label(inode)];

	tunable_decide(inode_getsecurity, idmap, inode, name, buffer, alloc);
	if (strcmp(name, TUNABLE_NAME))
		return -EOPNOTSUPP;
	if (alloc) {
		*buffer = kstrdup(text, GFP_NOFS);
		if (!*buffer)
			return -ENOMEM;
	}
	return strlen(text);
}

/* setxattr() without xattrs on the file system, after inode_setxattr. */
int tunable_inode_setsecurity(struct inode *inode, const char *name,
			      const void *value, size_t size, int flags)
{
	int label;

	tunable_decide(inode_setsecurity, inode, name, value, size, flags);
	if (strcmp(name, TUNABLE_NAME))
		return -EOPNOTSUPP;
	label = tunable_parse_label(value, size);
	if (label < 0)
		return label;
	set_inode_label(inode, label);
	return 0;
}
