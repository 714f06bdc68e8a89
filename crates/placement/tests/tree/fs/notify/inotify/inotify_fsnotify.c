// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

void fsnotify_destroy_mark(struct fsnotify_mark *mark)
{
	security_inode_permission(mark->inode, 0);
	inotify_handle_inode_event(mark);
}

int inotify_handle_inode_event(struct fsnotify_mark *mark)
{
	security_inode_getattr(mark->path);
	if (mark->flags & FSNOTIFY_MARK_FLAG_IN_ONESHOT)
		fsnotify_destroy_mark(mark);
	return 0;
}

static void go_round(struct path *path)
{
	security_inode_getattr(path);
	go_round(path);
}

SYSCALL_DEFINE1(forget, struct fsnotify_mark *, mark)
{
	fsnotify_destroy_mark(mark);
	return 0;
}

SYSCALL_DEFINE1(forever, struct path *, path)
{
	go_round(path);
	call_back(go_round);
	return 0;
}
