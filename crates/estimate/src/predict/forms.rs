// SPDX-License-Identifier: GPL-2.0-or-later
//! System calls that differ only in how the kernel reads their arguments.

/// Grouped by their common function in Linux 6.12, which the comments name.
const FORMS: &[&[&str]] = &[
    &["open", "openat", "openat2", "creat"], // do_sys_openat2()
    &["stat", "lstat", "fstat", "newfstatat", "statx"], // vfs_getattr()
    &["access", "faccessat", "faccessat2"],  // do_faccessat()
    &["read", "pread64", "readv", "preadv", "preadv2"], // rw_verify_area(READ)
    &["write", "pwrite64", "writev", "pwritev", "pwritev2"], // rw_verify_area(WRITE)
    &["unlink", "unlinkat"],                 // do_unlinkat()
    &["rename", "renameat", "renameat2"],    // do_renameat2()
    &["mkdir", "mkdirat"],                   // do_mkdirat()
    &["link", "linkat"],                     // do_linkat()
    &["symlink", "symlinkat"],               // do_symlinkat()
    &["readlink", "readlinkat"],             // do_readlinkat()
    &["mknod", "mknodat"],                   // do_mknodat()
    &["chmod", "fchmod", "fchmodat", "fchmodat2"], // chmod_common()
    &["chown", "lchown", "fchown", "fchownat"], // chown_common()
    &["utime", "utimes", "futimesat", "utimensat"], // vfs_utimes()
    &["setxattr", "lsetxattr", "fsetxattr"], // do_setxattr()
    &["getxattr", "lgetxattr", "fgetxattr"], // do_getxattr()
    &["listxattr", "llistxattr", "flistxattr"], // listxattr()
    &["removexattr", "lremovexattr", "fremovexattr"], // removexattr()
    &["getdents64", "getdents"],             // iterate_dir()
    &["fork", "vfork", "clone", "clone3"],   // kernel_clone()
    &["execve", "execveat"],                 // do_execveat_common()
    &["exit_group", "exit"],                 // do_exit()
    &["accept", "accept4"],                  // do_accept()
];

/// The first system call of the group; other system calls are returned unchanged.
pub(crate) fn form(system_call: &str) -> &str {
    let forms = FORMS.iter().find(|forms| forms.contains(&system_call));
    forms.map_or(system_call, |forms| forms[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_the_form_of_one() {
        assert_eq!(form("openat"), "open");
        assert_eq!(form("open"), "open");
        assert_eq!(form("mmap"), "mmap");
        let mut all: Vec<&str> = FORMS.iter().copied().flatten().copied().collect();
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n);
    }
}
