// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes tar files and container images for tests, including invalid ones.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

/// A tar file; names are written unchanged, however hostile.
pub struct Tar(Builder<Vec<u8>>);

impl Default for Tar {
    fn default() -> Tar {
        Tar(Builder::new(Vec::new()))
    }
}

impl Tar {
    pub fn new() -> Tar {
        Tar::default()
    }

    pub fn entry(self, kind: EntryType, name: &str, link: &str, data: &[u8], mode: u32) -> Tar {
        self.owned((7, 8), kind, name, link, data, mode)
    }

    pub fn owned(
        mut self,
        (uid, gid): (u32, u32),
        kind: EntryType,
        name: &str,
        link: &str,
        data: &[u8],
        mode: u32,
    ) -> Tar {
        let mut pax: Vec<(&str, &[u8])> = Vec::new();
        let mut header = Header::new_ustar();
        for (key, text) in [("path", name), ("linkpath", link)] {
            if text.len() > 100 {
                pax.push((key, text.as_bytes()));
            }
        }
        self.0.append_pax_extensions(pax).unwrap();
        let fields = header.as_old_mut();
        let cut = |text: &str| text.as_bytes()[..text.len().min(100)].to_vec();
        fields.name[..cut(name).len()].copy_from_slice(&cut(name));
        fields.linkname[..cut(link).len()].copy_from_slice(&cut(link));
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(1_600_000_000);
        header.set_uid(uid.into());
        header.set_gid(gid.into());
        header.set_size(data.len() as u64);
        if matches!(kind, EntryType::Char | EntryType::Block) {
            header.set_device_major(1).unwrap();
            header.set_device_minor(3).unwrap();
        }
        header.set_cksum();
        self.0.append(&header, data).unwrap();
        self
    }

    pub fn file(self, name: &str, data: &str) -> Tar {
        self.entry(EntryType::Regular, name, "", data.as_bytes(), 0o644)
    }

    pub fn dir(self, name: &str) -> Tar {
        self.entry(EntryType::Directory, name, "", b"", 0o700)
    }

    pub fn symlink(self, name: &str, to: &str) -> Tar {
        self.entry(EntryType::Symlink, name, to, b"", 0o777)
    }

    pub fn hard(self, name: &str, to: &str) -> Tar {
        self.entry(EntryType::Link, name, to, b"", 0o644)
    }

    pub fn so_far(&self) -> Vec<u8> {
        [self.0.get_ref().as_slice(), &[0; 1024]].concat()
    }

    /// Without the zeros at its end, as umoci(1) writes it.
    pub fn cut(&self) -> Vec<u8> {
        self.0.get_ref().clone()
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

pub struct Layout(pub TempDir);

impl Default for Layout {
    fn default() -> Layout {
        let layout = Layout(tempfile::tempdir().unwrap());
        layout.write("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#);
        layout
    }
}

impl Layout {
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn blob(&self, kind: &str, bytes: &[u8]) -> Value {
        let digest = digest(bytes);
        self.write(&format!("blobs/{}", digest.replace(':', "/")), bytes);
        json!({
            "mediaType": format!("application/vnd.oci.image.{kind}"),
            "digest": digest,
            "size": bytes.len(),
        })
    }

    /// Adds an image with `layers`, compressed; returns its descriptor.
    pub fn image(&self, platform: &str, layers: &[Tar], config: &Value) -> Value {
        let layers = layers.iter().map(Tar::so_far).collect();
        self.image_of(platform, layers, config)
    }

    /// Adds an image with `layers`; returns its descriptor.
    pub fn image_of(&self, platform: &str, layers: Vec<Vec<u8>>, config: &Value) -> Value {
        let (os, architecture) = platform.split_once('/').unwrap();
        let ids: Vec<String> = layers.iter().map(|layer| digest(layer)).collect();
        let config = json!({
            "os": os, "architecture": architecture, "config": config,
            "rootfs": { "type": "layers", "diff_ids": ids },
        });
        let config = self.blob("config.v1+json", config.to_string().as_bytes());
        let kind = "layer.v1.tar+gzip";
        let layers = layers.iter().map(|layer| self.blob(kind, &gzip(layer)));
        let layers: Vec<Value> = layers.collect();
        let manifest = json!({ "schemaVersion": 2, "config": config, "layers": layers });
        self.blob("manifest.v1+json", manifest.to_string().as_bytes())
    }

    pub fn index(&self, listed: &[Value]) {
        let index = json!({ "schemaVersion": 2, "manifests": listed });
        self.write("index.json", index.to_string().as_bytes());
    }

    pub fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    pub fn copied(&self, to: &Path) {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(self.0.path())
            .arg(to)
            .status();
        assert!(copied.unwrap().success());
    }
}

pub fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().fold("sha256:".to_owned(), |text, byte| {
        format!("{text}{byte:02x}")
    })
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}
