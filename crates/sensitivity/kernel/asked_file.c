// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tunable Security Module: the file "asked", which lists the hook calls of
 * labelled processes in order: hook, object, other arguments.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tunable.h"

/* The recording that is read; kept after recording has stopped. */
static struct tunable_recording *kept;
static DEFINE_MUTEX(kept_lock);

static void *question_at(loff_t pos)
{
	s64 asked = kept ? atomic64_read(&kept->asked) : 0;

	if (pos < min_t(s64, asked, TUNABLE_QUESTIONS_MAX))
		return &kept->questions[pos];
	/* One more line, for the lost calls. */
	return asked > TUNABLE_QUESTIONS_MAX && pos == TUNABLE_QUESTIONS_MAX ?
	       SEQ_START_TOKEN : NULL;
}

static void *asked_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kept_lock);
	return question_at(*pos);
}

static void *asked_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return question_at(*pos);
}

static void asked_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kept_lock);
}

static bool is_complete(const struct tunable_question *q)
{
	/* Sees the rest as record() left it. */
	return smp_load_acquire(&q->is_complete);
}

/* The first line that has these credentials, instead of their address. */
static unsigned int first_line_with(u64 cred)
{
	unsigned int i, j;

	for (i = 0; i < TUNABLE_QUESTIONS_MAX; i++) {
		const struct tunable_question *q = &kept->questions[i];

		if (!is_complete(q))
			continue;
		for (j = 0; j < q->count; j++)
			if (q->values[j].kind == TUNABLE_VALUE_CRED &&
			    q->values[j].number == cred)
				return i + 1;
	}
	return 0;
}

static void show_text(struct seq_file *m, const char *text)
{
	for (; *text; text++)
		if (isascii(*text) && isgraph(*text) && *text != '\\' &&
		    *text != ',')
			seq_putc(m, *text);
		else
			seq_printf(m, "\\%03o", (unsigned char)*text);
}

static void show_value(struct seq_file *m, const struct tunable_question *q,
		       const struct tunable_value *v)
{
	switch (v->kind) {
	case TUNABLE_VALUE_SIGNED:
		seq_printf(m, "%lld", (s64)v->number);
		break;
	case TUNABLE_VALUE_UNSIGNED:
		seq_printf(m, "%llu", v->number);
		break;
	case TUNABLE_VALUE_TEXT:
		break;
	case TUNABLE_VALUE_INODE:
		seq_printf(m, "inode:%u:%u:%llu", MAJOR(v->dev), MINOR(v->dev),
			   v->number);
		break;
	case TUNABLE_VALUE_SUPER_BLOCK:
		seq_printf(m, "sb:%u:%u", MAJOR(v->dev), MINOR(v->dev));
		break;
	case TUNABLE_VALUE_OWN_CRED:
		seq_puts(m, "cred:self");
		break;
	case TUNABLE_VALUE_CRED:
		seq_printf(m, "cred:%u", first_line_with(v->number));
		break;
	case TUNABLE_VALUE_TASK:
		seq_printf(m, "task:%llu", v->number);
		break;
	case TUNABLE_VALUE_MM:
		seq_puts(m, "mm");
		break;
	default:
		seq_putc(m, '-');
	}
	if ((v->text || v->is_cut) && v->kind != TUNABLE_VALUE_TEXT)
		seq_putc(m, '/');
	show_text(m, q->text + v->text);
	if (v->is_cut)
		seq_putc(m, '~');
}

static void show_details(struct seq_file *m, const struct tunable_question *q)
{
	char before = ' ';
	unsigned int i;

	for (i = 0; i < q->count; i++) {
		const struct tunable_value *v = &q->values[i];

		if (i == q->object || v->kind == TUNABLE_VALUE_NONE)
			continue;
		seq_printf(m, "%c%s=", before, v->name);
		show_value(m, q, v);
		before = ',';
	}
	if (before == ' ')
		seq_puts(m, " -");
}

static int asked_show(struct seq_file *m, void *v)
{
	const struct tunable_question *q = v;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "lost %lld\n", atomic64_read(&kept->asked) -
					     TUNABLE_QUESTIONS_MAX);
		return 0;
	}
	if (!is_complete(q))
		return SEQ_SKIP;
	seq_printf(m, "%s ", tunable_point_name(q->point));
	if (q->object < q->count)
		show_value(m, q, &q->values[q->object]);
	else
		seq_putc(m, '-');
	show_details(m, q);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations asked_seq = {
	.start = asked_start,
	.next = asked_next,
	.stop = asked_stop,
	.show = asked_show,
};

static int asked_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &asked_seq);
}

/* After this, no hook uses the old recording. */
static void publish(struct tunable_recording *r)
{
	rcu_assign_pointer(tunable_recording, r);
	synchronize_rcu();
}

static int start_recording(void)
{
	struct tunable_recording *r = kvzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	mutex_lock(&kept_lock);
	publish(r);
	kvfree(kept);
	kept = r;
	mutex_unlock(&kept_lock);
	return 0;
}

static void stop_recording(void)
{
	mutex_lock(&kept_lock);
	if (rcu_access_pointer(tunable_recording)) {
		publish(NULL);
	} else {
		kvfree(kept);
		kept = NULL;
	}
	mutex_unlock(&kept_lock);
}

static ssize_t asked_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	char *text = tunable_copy_written(buf, count, ppos);
	const char *word;
	int err = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	word = strim(text);
	if (!strcmp(word, "1"))
		err = start_recording();
	else if (!strcmp(word, "0"))
		stop_recording();
	else
		err = -EINVAL;
	kfree(text);
	if (err)
		return err;
	*ppos += count;
	return count;
}

const struct file_operations tunable_asked_fops = {
	.open = asked_open,
	.read = seq_read,
	.write = asked_write,
	.llseek = seq_lseek,
	.release = seq_release,
};
