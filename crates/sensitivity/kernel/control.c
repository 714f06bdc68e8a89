// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tunable Security Module: the files in /sys/kernel/security/tunable. Anyone
 * can read, writing needs CAP_MAC_ADMIN. A write() is accepted whole or not.
 */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "tunable.h"

/* All hooks with their longest delays need about a third of it. */
#define WRITE_MAX	SZ_32K

static DEFINE_MUTEX(delays_lock);

/**
 * tunable_copy_written - copy the text written to one of the files
 * @buf: the text
 * @count: its length in bytes
 * @ppos: position in the file
 *
 * Requires one write() for the whole text, since half a line could be valid
 * with another meaning. A NUL would hide the text after it.
 *
 * Return: a string for kfree(), or an error pointer.
 */
char *tunable_copy_written(const char __user *buf, size_t count, loff_t *ppos)
{
	char *text;

	if (!capable(CAP_MAC_ADMIN))
		return ERR_PTR(-EPERM);
	if (*ppos)
		return ERR_PTR(-EINVAL);
	if (count > WRITE_MAX)
		return ERR_PTR(-E2BIG);
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text) || strlen(text) == count)
		return text;
	kfree(text);
	return ERR_PTR(-EINVAL);
}

/* delays */

/* The next word of a line, or NULL; advances *line past it. */
static char *next_word(char **line)
{
	char *word = skip_spaces(*line);
	char *end = word;

	while (*end && !isspace(*end))
		end++;
	*line = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

/* "HOOK NS", "all NS" or an empty line. */
static int parse_line(char *line, u32 *delays_ns)
{
	char *name = next_word(&line);
	char *number = next_word(&line);
	unsigned int ns, i;
	int point, err;

	if (!name)
		return 0;
	if (!number || next_word(&line))
		return -EINVAL;
	err = kstrtouint(number, 10, &ns);
	if (err)
		return err;
	if (ns > TUNABLE_DELAY_MAX_NS)
		return -ERANGE;
	if (!strcmp(name, "all")) {
		for (i = 0; i < TUNABLE_POINTS; i++)
			delays_ns[i] = ns;
		return 0;
	}
	point = tunable_find_point(name);
	if (point < 0)
		return point;
	delays_ns[point] = ns;
	return 0;
}

static int parse_delays(char *text, u32 *delays_ns)
{
	char *line;
	int err;

	while ((line = strsep(&text, "\n"))) {
		err = parse_line(line, delays_ns);
		if (err)
			return err;
	}
	return 0;
}

static int change_delays(char *text)
{
	u32 *delays_ns;
	unsigned int i;
	int err;

	delays_ns = kcalloc(TUNABLE_POINTS, sizeof(*delays_ns), GFP_KERNEL);
	if (!delays_ns)
		return -ENOMEM;
	mutex_lock(&delays_lock);
	for (i = 0; i < TUNABLE_POINTS; i++)
		delays_ns[i] = tunable_get_delay(i);
	err = parse_delays(text, delays_ns);
	if (!err)
		tunable_set_delays(delays_ns);
	mutex_unlock(&delays_lock);
	kfree(delays_ns);
	return err;
}

static ssize_t delays_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *ppos)
{
	char *text = tunable_copy_written(buf, count, ppos);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = change_delays(text);
	kfree(text);
	if (err)
		return err;
	*ppos += count;
	return count;
}

static void *delays_start(struct seq_file *m, loff_t *pos)
{
	return *pos < TUNABLE_POINTS ? pos : NULL;
}

static void *delays_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return delays_start(m, pos);
}

static void delays_stop(struct seq_file *m, void *v)
{
}

static int delays_show(struct seq_file *m, void *v)
{
	enum tunable_point point = *(loff_t *)v;

	seq_printf(m, "%s %u %llu\n", tunable_point_name(point),
		   tunable_get_delay(point), tunable_calls(point));
	return 0;
}

static const struct seq_operations delays_seq = {
	.start = delays_start,
	.next = delays_next,
	.stop = delays_stop,
	.show = delays_show,
};

static int delays_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &delays_seq);
}

static const struct file_operations delays_fops = {
	.open = delays_open,
	.read = seq_read,
	.write = delays_write,
	.llseek = seq_lseek,
	.release = seq_release,
};

/* stage, clock, deny, self: files of one word */

struct word_file {
	const char *name;
	const char *(*show)(void);
	int (*store)(struct file *file, const char *word);
	void (*release)(struct file *file);
};

/* private_data of an open file whose release ends the stage. */
static const char stage_holder;

static const char *show_stage(void)
{
	return tunable_enforcing() ? "enforcement" : "initialisation";
}

/*
 * A stage set by "while open" cannot be left on by mistake: however a process
 * ends, its files are closed.
 */
static int store_stage(struct file *file, const char *word)
{
	bool held = !strcmp(word, "enforcement while open");

	if (!held && strcmp(word, "enforcement") &&
	    strcmp(word, "initialisation"))
		return -EINVAL;
	file->private_data = held ? (void *)&stage_holder : NULL;
	tunable_set_enforcing(strcmp(word, "initialisation"));
	return 0;
}

static void release_stage(struct file *file)
{
	if (file->private_data == &stage_holder)
		tunable_set_enforcing(false);
}

static const char *show_clock(void)
{
	return tunable_counting() ? "instructions" : "time";
}

static int store_clock(struct file *file, const char *word)
{
	if (strcmp(word, "time") && strcmp(word, "instructions"))
		return -EINVAL;
	return tunable_set_counting(*word == 'i');
}

static const char *show_deny(void)
{
	return tunable_denying() ? "1" : "0";
}

static int store_deny(struct file *file, const char *word)
{
	if (strcmp(word, "0") && strcmp(word, "1"))
		return -EINVAL;
	tunable_set_denying(*word == '1');
	return 0;
}

static const char *show_self(void)
{
	return tunable_label_name(tunable_cred_label(current_real_cred()));
}

static int store_self(struct file *file, const char *word)
{
	int label = tunable_parse_label(word, strlen(word));
	struct cred *new;

	if (label < 0)
		return label;
	/* commit_creds() must not be called with overridden credentials. */
	if (current_cred() != current_real_cred())
		return -EBUSY;
	new = prepare_creds();
	if (!new)
		return -ENOMEM;
	tunable_set_cred_label(new, label);
	return commit_creds(new);
}

static const struct word_file word_files[] = {
	{ "stage", show_stage, store_stage, release_stage },
	{ "clock", show_clock, store_clock },
	{ "deny", show_deny, store_deny },
	{ "self", show_self, store_self },
};

static ssize_t word_read(struct file *file, char __user *buf, size_t count,
			 loff_t *ppos)
{
	const struct word_file *w = file_inode(file)->i_private;
	char text[sizeof("initialisation\n")];
	int len = scnprintf(text, sizeof(text), "%s\n", w->show());

	return simple_read_from_buffer(buf, count, ppos, text, len);
}

static ssize_t word_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	const struct word_file *w = file_inode(file)->i_private;
	char *text = tunable_copy_written(buf, count, ppos);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = w->store(file, strim(text));
	kfree(text);
	if (err)
		return err;
	*ppos += count;
	return count;
}

static int word_release(struct inode *inode, struct file *file)
{
	const struct word_file *w = inode->i_private;

	if (w->release)
		w->release(file);
	return 0;
}

static const struct file_operations word_fops = {
	.read = word_read,
	.write = word_write,
	.llseek = default_llseek,
	.release = word_release,
};

static int __init add_files(struct dentry *dir, struct dentry **files)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(word_files); i++) {
		files[i] = securityfs_create_file(word_files[i].name, 0644, dir,
						  (void *)&word_files[i],
						  &word_fops);
		if (IS_ERR(files[i]))
			return PTR_ERR(files[i]);
	}
	files[i] = securityfs_create_file("delays", 0644, dir, NULL,
					  &delays_fops);
	if (IS_ERR(files[i]))
		return PTR_ERR(files[i]);
	files[++i] = securityfs_create_file("asked", 0644, dir, NULL,
					    &tunable_asked_fops);
	return PTR_ERR_OR_ZERO(files[i]);
}

static int __init tunable_control_init(void)
{
	struct dentry *files[ARRAY_SIZE(word_files) + 2] = { };
	struct dentry *dir;
	unsigned int i;
	int err;

	if (!tunable_enabled)
		return 0;
	dir = securityfs_create_dir(TUNABLE_NAME, NULL);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	err = add_files(dir, files);
	if (!err)
		return 0;
	/* securityfs_remove() leaves errors and NULL alone. */
	for (i = ARRAY_SIZE(files); i--;)
		securityfs_remove(files[i]);
	securityfs_remove(dir);
	return err;
}
fs_initcall(tunable_control_init);
