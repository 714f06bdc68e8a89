// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lsmeter's agent in a UML kernel (ARCH=um). A system call from this kernel's user space costs two
 * context switches between the host's processes. So the agent is linked into the kernel and calls
 * the functions that implement system calls (call.c) in the context of process 1, whose program
 * does nothing except enter the agent.
 *
 * The device /lsmeter is the agent's port, which reads and writes the host's file descriptor 0.
 */
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/init_syscalls.h>
#include <linux/initrd.h>
#include <linux/kdev_t.h>
#include <linux/miscdevice.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <asm/lsmeter.h>
#include <os.h>
#include "start.h"

#define DEVICE		"/lsmeter"
#define PROGRAM		"/init"
#define PROGRAM_BASE	0x400000UL
#define HOST_PORT	0

bool lsmeter_plain_copies __read_mostly;

static ssize_t port_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char block[512];
	int n = os_read_file(HOST_PORT, block, min(len, sizeof(block)));

	if (n > 0 && copy_to_user(buf, block, n))
		return -EFAULT;
	return n;
}

static ssize_t port_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char block[512];

	len = min(len, sizeof(block));
	if (copy_from_user(block, buf, len))
		return -EFAULT;
	return os_write_file(HOST_PORT, block, len);
}

static long port_start(struct file *file, unsigned int command, unsigned long argument)
{
	if (!is_global_init(current) || lsmeter_plain_copies)
		return -EPERM;
	lsmeter_plain_copies = true;
	lsmeter_start();
}

static const struct file_operations port_operations = {
	.read = port_read,
	.write = port_write,
	.unlocked_ioctl = port_start,
	.llseek = noop_llseek,
};

static struct miscdevice port = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lsmeter",
	.fops = &port_operations,
};

/* The program of process 1: open(DEVICE, O_RDWR), then an ioctl that does not return. */
asm(".pushsection .rodata\n"
    "lsmeter_program_begin:\n"
    "	leaq	2f(%rip), %rdi\n"
    "	movl	$2, %esi\n"
    "	movl	$2, %eax\n"		/* open */
    "	syscall\n"
    "	movl	%eax, %edi\n"
    "	xorl	%esi, %esi\n"
    "	xorl	%edx, %edx\n"
    "	movl	$16, %eax\n"		/* ioctl */
    "	syscall\n"
    "	movl	$1, %edi\n"
    "	movl	$231, %eax\n"		/* exit_group, which causes a panic that the host sees */
    "	syscall\n"
    "2:	.asciz	\"" DEVICE "\"\n"
    "lsmeter_program_end:\n"
    ".popsection\n");

extern const char lsmeter_program_begin[], lsmeter_program_end[];

static int __init write_program(void)
{
	size_t len = lsmeter_program_end - lsmeter_program_begin;
	struct {
		struct elf64_hdr header;
		struct elf64_phdr segments[2];
	} head = {
		.header = {
			.e_ident = {
				0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
			},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = PROGRAM_BASE + sizeof(head),
			.e_phoff = sizeof(head.header),
			.e_ehsize = sizeof(head.header),
			.e_phentsize = sizeof(head.segments[0]),
			.e_phnum = ARRAY_SIZE(head.segments),
		},
		.segments = {
			{
				.p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_vaddr = PROGRAM_BASE,
				.p_paddr = PROGRAM_BASE,
				.p_filesz = sizeof(head) + len,
				.p_memsz = sizeof(head) + len,
				.p_align = PAGE_SIZE,
			}, {
				.p_type = PT_GNU_STACK,
				.p_flags = PF_R | PF_W,
			},
		},
	};
	struct file *file;
	loff_t pos = 0;
	ssize_t n;

	file = filp_open(PROGRAM, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_write(file, &head, sizeof(head), &pos);
	if (n == sizeof(head))
		n = kernel_write(file, lsmeter_program_begin, len, &pos);
	/*
	 * The file must be closed at once, whatever kind of thread this is, because a file that is
	 * open for writing cannot be executed.
	 */
	fput(file);
	task_work_run();
	flush_delayed_fput();
	return n == len ? 0 : -EIO;
}

static int __init lsmeter_init(void)
{
	int ret = misc_register(&port);

	if (ret)
		return ret;
	/*
	 * The initramfs is being unpacked at the same time, and contains a file with the program's
	 * name.
	 */
	wait_for_initramfs();
	ret = init_mknod(DEVICE, S_IFCHR | 0600,
			 new_encode_dev(MKDEV(MISC_MAJOR, port.minor)));
	if (!ret)
		ret = write_program();
	if (ret)
		panic("lsmeter: the agent's program and port cannot be made: %d", ret);
	return 0;
}
late_initcall(lsmeter_init);
