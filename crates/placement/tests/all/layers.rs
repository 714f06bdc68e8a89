// SPDX-License-Identifier: GPL-2.0-or-later
//! File systems with others below them.

use placement::{Request, Tree, analyse};

use super::{files, request, toy};

fn tree() -> Tree {
    let mut all = files(&toy());
    for more in ["apart", "layers"] {
        all.extend(files(&toy().with_file_name(more)));
    }
    Tree::from_files("tree", all).unwrap()
}

fn on(fs: &str, syscall: &str) -> Request {
    Request {
        fs: vec![fs.to_owned()],
        ..request(&[syscall])
    }
}

#[test]
fn calls_lead_to_the_layers_of_a_file_system() {
    let tree = tree();
    for (syscall, fs, expected) in [
        ("statx", "toyfs", "inode_getattr 1/1"),
        // The hook is called for both inodes, and no function below itself.
        ("statx", "overlay:toyfs", "inode_getattr 2/2"),
        ("mkdirat", "overlay:toyfs", "inode_permission 1/1"),
        (
            "mkdirat",
            "overlay:otherfs",
            "inode_getattr toy, path_mkdir 1/1",
        ),
        // The success path is that on the first layer.
        (
            "mkdirat",
            "overlay:toyfs:otherfs",
            "inode_getattr toy, inode_permission 1/1, path_mkdir 0/1",
        ),
        (
            "mkdirat",
            "overlay:otherfs:toyfs",
            "inode_getattr toy, inode_permission 0/1, path_mkdir 1/1",
        ),
        // Its own inode, then the layer's.
        ("fchmod", "overlay:toyfs", "inode_permission 1/1"),
        ("flock", "overlay:toyfs", "inode_permission 1/1"),
        // Perhaps its own inode: then it is called below itself.
        ("access", "overlay:toyfs", "inode_getattr 1/unbounded"),
    ] {
        let document = analyse(&tree, &on(fs, syscall)).unwrap();
        let hooks = document.syscalls[0].hooks.iter();
        let hooks = hooks.map(|hook| match hook.nested.keys().next() {
            Some(module) => format!("{} {module}", hook.hook),
            None => format!("{} {}/{}", hook.hook, hook.success_path, hook.max),
        });
        let found = hooks.collect::<Vec<_>>().join(", ");
        assert_eq!(found, expected, "{syscall} on {fs}");
        assert_eq!(document.syscalls[0].filesystem, fs);
    }
}

#[test]
fn layers_are_checked() {
    let many = "overlay".to_owned() + &":toyfs".repeat(5);
    for (fs, expected) in [
        ("overlay:nofs", "the tree has no file system `nofs`"),
        ("overlay", "the tree has no file system `tmpfs`"),
        (&*many, "a file system has more than 4 layers"),
    ] {
        let error = analyse(&tree(), &on(fs, "statx")).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
