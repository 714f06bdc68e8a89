// SPDX-License-Identifier: GPL-2.0-or-later
//! Edits of the kernel's own files for UML kernels.

pub(crate) struct Edit {
    pub(crate) anchor: &'static str,
    /// The replacement; `{}` is the anchor.
    text: &'static str,
}

impl Edit {
    const fn new(anchor: &'static str, text: &'static str) -> Edit {
        Edit { anchor, text }
    }

    /// None if the anchor does not occur exactly once.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        let (before, after) = text.split_once(self.anchor)?;
        if after.contains(self.anchor) {
            return None;
        }
        let changed = self.text.replacen("{}", self.anchor, 1);
        Some(format!("{before}{changed}{after}"))
    }

    pub(crate) fn line(&self) -> &'static str {
        self.anchor.trim_end().lines().last().unwrap_or("").trim()
    }
}

pub(crate) type Form = &'static [(&'static str, &'static [Edit])];

/// For each change, the first form whose anchors are all in the tree. Kernels differ.
pub(crate) static CHANGES: &[&[Form]] = &[
    &[
        &[(
            "arch/um/Kbuild",
            &[Edit::new("obj-y += kernel/", "obj-y += lsmeter/ kernel/")],
        )],
        // 6.1 lists directories in another file, but reads this one too.
        &[(
            "arch/um/Kbuild",
            &[Edit::new(
                "# SPDX-License-Identifier: GPL-2.0-only\n",
                "{}obj-y += lsmeter/\n",
            )],
        )],
    ],
    &[&[("arch/um/Kconfig", &[KCONFIG, OWN_KCONFIG])]],
    // 6.1 does not allow Landlock, because of the host's inodes, which this kernel does not have,
    // and is never preemptible. Later kernels have neither restriction.
    &[&[("arch/um/Kconfig", &[INODES, PREEMPTION])], &[]],
    &[&[("arch/um/Makefile", &[MODEL, RETPOLINES])]],
    &[&[("arch/x86/include/asm/alternative.h", &[LOCK_PREFIX])]],
    &[&[("arch/um/kernel/uml.lds.S", &[ORDER, TEXT])]],
    &[
        &[(PROCESS, &[KERNEL_PID, IS_ORPHAN, KNOW_KERNEL])],
        // 6.1 does not make this request, so it is added.
        &[(
            PROCESS,
            &[PRCTL, KERNEL_PID, ASK_AND_IS_ORPHAN, KNOW_KERNEL],
        )],
        &[
            (
                PROCESS,
                &[KERNEL_PID_OF_DATA, TELL_KERNEL, KNOW_KERNEL_OF_MM],
            ),
            ("arch/um/include/shared/skas/stub-data.h", &[DATA]),
            ("arch/um/kernel/skas/stub_exe.c", &[IS_ORPHAN_OF_PROGRAM]),
        ],
    ],
    &[&[(
        "arch/um/kernel/skas/uaccess.c",
        &[INCLUDE, FROM_USER, TO_USER, STRNCPY, CLEAR, STRNLEN],
    )]],
];

pub(crate) const PROCESS: &str = "arch/um/os-Linux/skas/process.c";

const KCONFIG: Edit = Edit::new(
    "config UML\n\tbool\n\tdefault y\n",
    "{}\tselect HAVE_ARCH_JUMP_LABEL\n\tselect HAVE_ARCH_JUMP_LABEL_RELATIVE\n\
     \tselect HAVE_STATIC_CALL\n",
);

const INODES: Edit = Edit::new("\tselect ARCH_EPHEMERAL_INODES\n", "");

const PREEMPTION: Edit = Edit::new("\tselect ARCH_NO_PREEMPT\n", "");

/// Calls need to be indirect only if there are modules, which are far away.
const MODEL: Edit = Edit::new(
    "ifdef CONFIG_64BIT\n\tKBUILD_CFLAGS += -mcmodel=large\n",
    "ifdef CONFIG_MODULES\n\tKBUILD_CFLAGS += -mcmodel=large\n",
);

const OWN_KCONFIG: Edit = Edit::new("config MMU\n", "source \"arch/um/lsmeter/Kconfig\"\n\n{}");

const RETPOLINES: Edit = Edit::new(
    "HOST_DIR := arch/$(HEADER_ARCH)\n",
    "ifdef CONFIG_LSMETER_RETPOLINES\n\tKBUILD_CFLAGS += -mindirect-branch=thunk-inline \
     -mindirect-branch-register\nendif\n\n{}",
);

// Kernels for one processor use only the last of the two.
const LOCK_PREFIX: Edit = Edit::new(
    "#define LOCK_PREFIX_HERE \"\"\n#define LOCK_PREFIX \"\"\n",
    "#ifdef CONFIG_LSMETER_LOCK_PREFIXES\n#define LOCK_PREFIX_HERE \"\"\n\
     #define LOCK_PREFIX \"\\n\\tlock; \"\n#else\n{}#endif\n",
);

/// Objects named before all others are linked first.
const ORDER: Edit = Edit::new("    TEXT_TEXT\n", "#include <asm/lsmeter-layout.h>\n{}");

const TEXT: Edit = Edit::new("    LOCK_TEXT\n", "{}    STATIC_CALL_TEXT\n");

// A process requests to be killed when the kernel ends. If the kernel ended before this request,
// the process would remain.
const KERNEL_PID: Edit = Edit::new(
    "static int userspace_tramp(void *stack)\n",
    "static int lsmeter_kernel_pid;\n\n{}",
);

const IS_ORPHAN: Edit = Edit::new(
    "\tos_set_pdeathsig();\n",
    "{}\tif (getppid() != lsmeter_kernel_pid)\n\t\texit(1);\n",
);

const KNOW_KERNEL: Edit = Edit::new(
    "\tpid = clone(userspace_tramp, ",
    "\tlsmeter_kernel_pid = os_getpid();\n{}",
);

const PRCTL: Edit = Edit::new("#include <sys/mman.h>\n", "{}#include <sys/prctl.h>\n");

const ASK_AND_IS_ORPHAN: Edit = Edit::new(
    "\tptrace(PTRACE_TRACEME, 0, 0, 0);\n",
    "\tprctl(PR_SET_PDEATHSIG, SIGKILL);\n\tif (getppid() != lsmeter_kernel_pid)\n\t\texit(1);\n{}",
);

const KERNEL_PID_OF_DATA: Edit = Edit::new(
    "static int userspace_tramp(void *data)\n",
    "static int lsmeter_kernel_pid;\n\n{}",
);

const TELL_KERNEL: Edit = Edit::new(
    "\t\t.stub_start = STUB_START,\n",
    "{}\t\t.lsmeter_kernel_pid = lsmeter_kernel_pid,\n",
);

const KNOW_KERNEL_OF_MM: Edit = Edit::new(
    "\tmm_id->pid = clone(userspace_tramp, ",
    "\tlsmeter_kernel_pid = os_getpid();\n{}",
);

const DATA: Edit = Edit::new("struct stub_init_data {\n", "{}\tint lsmeter_kernel_pid;\n");

const IS_ORPHAN_OF_PROGRAM: Edit = Edit::new(
    "\tif (res != sizeof(init_data))\n\t\tstub_syscall1(__NR_exit, 10);\n",
    "{}\tif (stub_syscall0(__NR_getppid) != init_data.lsmeter_kernel_pid)\n\
     \t\tstub_syscall1(__NR_exit, 1);\n",
);

const INCLUDE: Edit = Edit::new("#include <os.h>\n", "#include <asm/lsmeter.h>\n{}");

// While the agent runs, its addresses are the kernel's.
const FROM_USER: Edit = Edit::new(
    "\treturn buffer_op((unsigned long) from, n, 0, copy_chunk_from_user, &to);\n",
    "\tif (lsmeter_plain_copies) {\n\t\tmemcpy(to, (const void *)from, n);\n\t\treturn 0;\n\t}\n{}",
);

const TO_USER: Edit = Edit::new(
    "\treturn buffer_op((unsigned long) to, n, 1, copy_chunk_to_user, &from);\n",
    "\tif (lsmeter_plain_copies) {\n\t\tmemcpy((void *)to, from, n);\n\t\treturn 0;\n\t}\n{}",
);

const STRNCPY: Edit = Edit::new(
    "\tn = buffer_op((unsigned long) src, count, 0, strncpy_chunk_from_user,\n",
    "\tif (lsmeter_plain_copies) {\n\t\tn = strscpy(dst, (const char *)src, count);\n\
     \t\treturn n < 0 ? count : n;\n\t}\n{}",
);

const CLEAR: Edit = Edit::new(
    "\treturn buffer_op((unsigned long) mem, len, 1, clear_chunk, NULL);\n",
    "\tif (lsmeter_plain_copies) {\n\t\tmemset((void *)mem, 0, len);\n\t\treturn 0;\n\t}\n{}",
);

const STRNLEN: Edit = Edit::new(
    "\tn = buffer_op((unsigned long) str, len, 0, strnlen_chunk, &count);\n",
    "\tif (lsmeter_plain_copies) {\n\t\tn = strnlen((const char *)str, len);\n\
     \t\treturn n < len ? n + 1 : 0;\n\t}\n{}",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_there_twice_or_not_at_all_is_no_place() {
        let edit = Edit::new("b\n", "{}c\n");
        assert_eq!(edit.apply("a\nb\nd\n").as_deref(), Some("a\nb\nc\nd\n"));
        assert_eq!(edit.apply("a\n"), None);
        assert_eq!(edit.apply("b\nb\n"), None);
        assert_eq!(KCONFIG.line(), "default y");
    }
}
