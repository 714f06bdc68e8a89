// SPDX-License-Identifier: GPL-2.0-or-later
//! Container images and their settings.

use std::fs;

use model::Workload;
use serde_json::json;
use testing::image::{Layout, digest};

use super::*;
use crate::root::account::Account;

fn here() -> String {
    format!("linux/{}", kernels::arch::native().debian.name)
}

fn prepared(path: &str) -> Result<Root, LabError> {
    let mut report = |_| {};
    let spec = RootSpec {
        path: Some(path.to_owned()),
        ..RootSpec::default()
    };
    Root::prepare(&spec, &mut Watch::new(&GO_ON, &mut report))
}

#[track_caller]
fn no_root(path: &str, why: &str, hint: &str) {
    let error = prepared(path).unwrap_err();
    assert!(error.to_string().contains(why), "{error}");
    let given = error.hint().unwrap();
    assert!(given.contains(hint), "{given}");
}

fn layers() -> [Tar; 2] {
    [
        Tar::new().file("a", "1").file("b", "1"),
        Tar::new().file(".wh.a", "").file("c", "2"),
    ]
}

#[test]
fn layers_are_unpacked_one_upon_the_other() {
    let layout = Layout::default();
    let config = json!({ "WorkingDir": "/work/here", "User": null });
    layout.index(&[layout.image(&here(), &layers(), &config)]);
    let root = prepared(layout.path()).unwrap();
    let ended = root.digest.clone();
    let cut = |tar: Tar| Tar::cut(&tar);
    layout.index(&[layout.image_of(&here(), layers().map(cut).into(), &config)]);
    assert_eq!(prepared(layout.path()).unwrap().digest, ended);
    let read = |name: &str| fs::read_to_string(root.path().join(name));
    assert_eq!(
        (read("b").unwrap(), read("c").unwrap()),
        ("1".into(), "2".into())
    );
    assert!(read("a").is_err() && root.path().join("work/here").is_dir());
}

#[test]
fn the_guests_image_is_found_among_several() {
    let layout = Layout::default();
    let image = |text: &str| layout.image(&here(), &[Tar::new().file("x", text)], &json!({}));
    let other = layout.image("linux/riscv64", &layers(), &json!({}));
    let built = json!({
        "digest": digest(b"never there"),
        "platform": { "os": "unknown", "architecture": "unknown" },
    });
    let list = json!({ "manifests": [other, image("listed"), built] });
    let list = layout.blob("index.v1+json", list.to_string().as_bytes());
    layout.index(std::slice::from_ref(&list));
    let path = layout.path();
    assert_eq!(prepared(path).unwrap().bytes, 6);
    layout.index(&[list.clone(), image("second")]);
    no_root(path, "has 2 images", "skopeo copy oci:");
    layout.index(&[other]);
    let none = format!("no image for {}, only for linux/riscv64", here());
    no_root(path, &none, "--platform");
    let mut endless = list;
    for _ in 0..6 {
        let list = json!({ "manifests": [endless] });
        endless = layout.blob("index.v1+json", list.to_string().as_bytes());
    }
    layout.index(&[endless]);
    no_root(path, "too deeply", "skopeo inspect");
}

#[test]
fn what_is_damaged_is_no_image() {
    let layout = Layout::default();
    let image = layout.image(&here(), &layers(), &json!({}));
    layout.index(std::slice::from_ref(&image));
    let blobs = layout.0.path().join("blobs/sha256");
    for entry in fs::read_dir(&blobs).unwrap() {
        let path = entry.unwrap().path();
        let whole = fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[6] ^= 1;
        fs::write(&path, changed).unwrap();
        let error = prepared(layout.path()).unwrap_err().to_string();
        assert!(
            error.contains("is damaged") || error.contains("cannot read"),
            "{error}"
        );
        assert!(
            error.contains(path.file_name().unwrap().to_str().unwrap()),
            "{error}"
        );
        fs::remove_file(&path).unwrap();
        no_root(layout.path(), "is missing", "incomplete");
        fs::write(&path, whole).unwrap();
    }
    prepared(layout.path()).unwrap();
    let mut image = image;
    image["digest"] = json!("sha256:../../../etc/passwd");
    layout.index(&[image]);
    no_root(layout.path(), "bad SHA-256 digest", "complete OCI image");
    layout.write("index.json", b"[]");
    no_root(layout.path(), "cannot read", "OCI image layout");
}

#[test]
fn what_is_no_archive_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("plain");
    let path = path.to_str().unwrap();
    fs::write(path, "no archive\n".repeat(100)).unwrap();
    no_root(path, "cannot read", "OCI image layout");
    fs::write(path, Tar::new().file("bin/x", "").bytes()).unwrap();
    prepared(path).unwrap();
}

#[test]
fn an_image_says_what_a_workload_does_not() {
    let layout = Layout::default();
    let config = json!({
        "Entrypoint": ["/bin/git", "-q"], "Cmd": ["status"], "User": "worker:staff",
        "Env": ["PATH=/opt", "A=b"], "WorkingDir": "/src",
    });
    let lists = Tar::new()
        .file(
            "private/users",
            "root:x:0:0::/:\nbroken\nworker:x:500:501::/:\n",
        )
        .symlink("etc/passwd", "/private/users")
        .file("etc/group", "staff:x:50:\nnumber:y\n");
    layout.index(&[layout.image(&here(), &[lists], &config)]);
    let completed = |path: &str, workload: Workload| {
        let mut report = |_| {};
        let mut programs = Programs {
            root: RootSpec {
                path: Some(path.to_owned()),
                ..RootSpec::default()
            },
            digest: String::new(),
            workloads: vec![workload],
        };
        let root = Root::prepare_for(Some(&mut programs), &mut Watch::new(&GO_ON, &mut report))?;
        Ok::<_, LabError>((root.unwrap(), programs.workloads.pop().unwrap()))
    };
    let (root, all) = completed(layout.path(), Workload::default()).unwrap();
    assert_eq!(all.name, "git--q-status");
    assert_eq!(all.argv, ["/bin/git", "-q", "status"]);
    assert_eq!(all.cwd.as_deref(), Some("/src"));
    assert_eq!(all.user.as_deref(), Some("500:50"));
    let env = [
        "PATH=/opt",
        "A=b",
        "HOME=/tmp",
        "LC_ALL=C",
        "PYTHONHASHSEED=0",
    ];
    assert_eq!(all.env.unwrap(), env);
    let given = Workload {
        name: "said".to_owned(),
        argv: vec!["true".to_owned()],
        user: Some("0".to_owned()),
        env: Some(Vec::new()),
        cwd: Some("/".to_owned()),
        ..Workload::default()
    };
    let expected = Workload {
        user: Some("0:0".to_owned()),
        ..given.clone()
    };
    assert_eq!(completed(layout.path(), given).unwrap().1, expected);

    let who = |text: &str| Account::find(text, root.path()).map(|account| account.to_string());
    for (text, expected) in [
        ("worker", "500:501"),
        ("500", "500:501"),
        ("9", "9:0"),
        ("9:8", "9:8"),
    ] {
        assert_eq!(who(text).unwrap(), expected);
    }
    for text in ["nobody", "worker:nogroup", "-1", ":", "root:-1"] {
        let error = who(text).unwrap_err();
        assert!(error.to_string().contains("the root has no"), "{error}");
    }
    let bare = tempfile::tempdir().unwrap();
    let error = completed(bare.path().to_str().unwrap(), Workload::default()).unwrap_err();
    assert!(error.to_string().contains("no workload"), "{error}");
}

/// One image as saved by several tools: see `saved/README.md`.
#[test]
fn what_tools_save_is_one_root() {
    let saved = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/root/tests/saved");
    let path = |name: &str| saved.join(name).to_str().unwrap().to_owned();
    no_root(
        &path("docker.tar.gz"),
        "is a container image",
        "skopeo copy docker-archive:",
    );
    no_root(&path("podman-oci.tar.gz"), "a container image", "tar -xf");
    let place = tempfile::tempdir().unwrap();
    let roots = ["podman-oci", "skopeo-oci"].map(|name| {
        let image = place.path().join(name);
        fs::create_dir(&image).unwrap();
        let mut tar = std::process::Command::new("tar");
        tar.arg("-xf").arg(path(&format!("{name}.tar.gz")));
        assert!(tar.arg("-C").arg(&image).status().unwrap().success());
        prepared(image.to_str().unwrap())
    });
    if !kernels::arch::ALL[0].is_native() {
        let error = roots[0].as_ref().unwrap_err().to_string();
        assert!(error.contains("has no image"), "{error}");
        return;
    }
    let roots = roots.map(Result::unwrap);
    for root in &roots {
        assert_eq!(root.digest, roots[0].digest);
        let is_there = |path: &str| root.path().join(path).exists();
        assert!(is_there("data/link") && is_there("bin/tool"));
        assert!(!is_there("data/gone") && !is_there("old"));
        let mut workload = Workload::default();
        root.settings.complete(&mut workload, root.path()).unwrap();
        assert_eq!(workload.argv, ["/bin/tool"]);
        assert_eq!(workload.cwd.as_deref(), Some("/data"));
        assert_eq!(workload.user.as_deref(), Some("1234:4321"));
        let env = workload.env.unwrap();
        assert!(env.iter().any(|word| word == "GREETING=hello world"));
    }
}
