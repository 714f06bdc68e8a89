// SPDX-License-Identifier: GPL-2.0-or-later

use super::*;
use crate::decompress::Format;
use crate::fixtures::{bzimage, elf, put};
use crate::store::is_key;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// `allnoconfig` takes its input without the option `LACKS`; one source per object.
const MAKEFILE: &str = "\
allnoconfig:
	@sed '/CONFIG_LACKS/d' $(KCONFIG_ALLCONFIG) > $(O)/.config
OBJECTS := $(O)/init/main.o $(O)/fs/open.o
$(O)/%.o: %.c
	@mkdir -p $(dir $@)
	@echo '  CC      '$*.o
	@! grep -n 'error:' $< >&2
	@! grep -q sleep $< || sleep 1000
	@cp $< $@
bzImage: $(OBJECTS)
	@mkdir -p $(O)/arch/x86/boot
	@cp image $(O)/arch/x86/boot/bzImage
	@cp image $(O)/vmlinux
	@echo '  BUILD   arch/x86/boot/bzImage'
";

const MERGE_CONFIG: &[u8] = b"make KCONFIG_ALLCONFIG=$4 O=$3 allnoconfig\n";

struct Place {
    dir: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("cache")).unwrap();
        let place = Place { dir, store };
        place.put("Makefile", MAKEFILE.as_bytes());
        place.put("scripts/kconfig/merge_config.sh", MERGE_CONFIG);
        place.put("Kconfig", b"config A\n\tbool\nconfig LACKS\n\tbool\n");
        place.put("init/main.c", b"main");
        place.put("fs/open.c", b"open");
        let image = bzimage("6.6.6", &elf(Some(0x100_0000)), Some(Format::Zstd));
        place.put("image", &image);
        place
    }

    fn put(&self, path: &str, data: &[u8]) {
        put(&self.dir.path().join("tree"), path, data);
    }

    fn plan(&self, config: &str) -> Plan {
        let mut wishes = Wishes::default();
        wishes.add("own", config, Author::Flavour).unwrap();
        Plan {
            name: "x".into(),
            objects: "x".into(),
            jobs: NonZeroUsize::MIN,
            target: Target::new(Flavour::All, crate::arch::ALL[0]),
            compiler: Compiler::Gcc,
            wishes,
            tree: source::Tree {
                stamp: source::stamp(&self.dir.path().join("tree")).unwrap(),
                dir: self.dir.path().join("tree"),
                identity: "tree".into(),
                version: None,
            },
            changed: BTreeMap::new(),
        }
    }

    fn build(&self, plan: &Plan) -> (Result<(Kernel, u64), Error>, Vec<BuildEvent>) {
        let mut events = Vec::new();
        let cancel = AtomicBool::new(false);
        fs::create_dir_all(self.store.dir().join("build")).unwrap();
        let built = steps::build(&self.store, plan, &cancel, &mut |event| events.push(event));
        (built, events)
    }

    fn objects(&self) -> PathBuf {
        self.store.dir().join("build/x/src/obj")
    }

    fn is_empty(&self) -> bool {
        ["kernels", "names", "tmp"]
            .iter()
            .all(|part| fs::read_dir(self.store.dir().join(part)).unwrap().count() == 0)
    }
}

fn compiled(events: &[BuildEvent]) -> Vec<&str> {
    let mut objects = Vec::new();
    for event in events {
        if let BuildEvent::Compiling { what, .. } = event {
            objects.push(what.as_str());
        }
    }
    objects
}

#[test]
fn a_build_is_installed_and_the_tree_not_written_to() {
    let place = Place::new();
    let before = files::walk(&place.dir.path().join("tree")).unwrap();
    let (built, events) = place.build(&place.plan("CONFIG_A=y\n"));
    let (kernel, count) = built.unwrap();
    assert_eq!(count, 2);
    assert_eq!(kernel.name, "build:x");
    assert_eq!(kernel.release, "6.6.6");
    assert_eq!(kernel.pvh_entry, Some(0x100_0000));
    let config = fs::read_to_string(kernel.config.unwrap()).unwrap();
    assert_eq!(config, "CONFIG_A=y\n");
    assert_eq!(compiled(&events), ["init/main.o", "fs/open.o"]);
    assert!(events.contains(&BuildEvent::Finishing("writing bzImage")));
    assert_eq!(files::walk(&place.dir.path().join("tree")).unwrap(), before);
    let listed = place.store.list().unwrap();
    assert_eq!((listed.len(), &listed[0].name[..]), (1, "build:x"));

    place.store.remove("build:x").unwrap();
    assert!(place.is_empty() && !place.objects().exists());
}

#[test]
fn only_what_changed_is_made_again() {
    let place = Place::new();
    let plan = place.plan("CONFIG_A=y\n");
    place.build(&plan).0.unwrap();
    let (built, events) = place.build(&plan);
    assert_eq!(built.unwrap().1, 0);
    assert!(compiled(&events).is_empty());
    place.put("fs/open.c", b"edited");
    let (built, events) = place.build(&place.plan("CONFIG_A=y\n"));
    assert_eq!(built.unwrap().1, 1);
    assert!(matches!(
        &events[1],
        BuildEvent::Compiling { done: 1, what } if what == "fs/open.o"
    ));
}

#[test]
fn a_source_that_changes_meanwhile_is_refused() {
    let place = Place::new();
    let build = |change: &dyn Fn()| {
        let cancel = AtomicBool::new(false);
        let plan = place.plan("CONFIG_A=y\n");
        fs::create_dir_all(place.store.dir().join("build")).unwrap();
        steps::build(&place.store, &plan, &cancel, &mut |event| {
            if matches!(&event, BuildEvent::Compiling { what, .. } if what == "init/main.o") {
                change();
            }
        })
    };
    let changed = build(&|| place.put("fs/open.c", b"patched")).unwrap_err();
    assert!(changed.to_string().contains("changed while"), "{changed}");
    assert!(place.is_empty());
    // As if the compiler had read the old source and written the object after the change.
    fs::write(place.objects().join("fs/open.o"), "open").unwrap();
    build(&|| {}).unwrap();
    let object = fs::read_to_string(place.objects().join("fs/open.o")).unwrap();
    assert_eq!(object, "patched");
    // A reverted change may have been compiled.
    place.put("init/main.c", b"edited");
    let taken_back = build(&|| {
        place.put("fs/open.c", b"other");
        place.put("fs/open.c", b"patched");
    });
    assert!(taken_back.is_err());
}

#[test]
fn an_interrupted_build_goes_on_where_it_stopped() {
    let place = Place::new();
    place.put("fs/open.c", b"sleep");
    let plan = place.plan("CONFIG_A=y\n");
    fs::create_dir_all(place.store.dir().join("build")).unwrap();
    let cancel = AtomicBool::new(false);
    let ended = steps::build(&place.store, &plan, &cancel, &mut |event| {
        if matches!(&event, BuildEvent::Compiling { what, .. } if what == "fs/open.o") {
            cancel.store(true, Ordering::Relaxed);
        }
    });
    let error = ended.unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert!(place.is_empty());
    assert!(place.objects().join("init/main.o").exists());
    place.put("fs/open.c", b"quick");
    let (built, _) = place.build(&place.plan("CONFIG_A=y\n"));
    assert_eq!(built.unwrap().1, 1);
}

#[test]
fn another_tree_begins_anew() {
    let place = Place::new();
    let mut plan = place.plan("CONFIG_A=y\n");
    place.build(&plan).0.unwrap();
    let other = place.dir.path().join("other");
    fs::rename(place.dir.path().join("tree"), &other).unwrap();
    plan.tree.dir = other;
    assert_eq!(place.build(&plan).0.unwrap().1, 2);
}

#[test]
fn a_recipe_is_found_again_under_any_name() {
    let place = Place::new();
    let plan = place.plan("CONFIG_A=y\n");
    let key = key(&plan, "gcc 12");
    assert!(place.store.built(&key, "build:x").unwrap().is_none());
    let kernel = place.build(&plan).0.unwrap().0;
    place.store.remember(&key, "build:x").unwrap();
    let other = place.store.built(&key, "build:y").unwrap().unwrap();
    assert_eq!(
        (other.name.as_str(), &other.image),
        ("build:y", &kernel.image)
    );
    place.store.remove("build:x").unwrap();
    assert!(place.store.built(&key, "build:y").unwrap().is_some());
    fs::write(other.vmlinux.unwrap(), b"damaged").unwrap();
    assert!(place.store.built(&key, "build:y").unwrap().is_none());
    place.store.remove("build:y").unwrap();
    assert!(place.store.built(&key, "build:y").unwrap().is_none());
}

#[test]
fn a_key_follows_all_that_decides() {
    let place = Place::new();
    let first = key(&place.plan("CONFIG_A=y\n"), "gcc 12");
    assert!(is_key(&first));
    assert_eq!(key(&place.plan("# words\nCONFIG_A=y\n"), "gcc 12"), first);
    let mut keys = BTreeSet::from([first]);
    assert!(keys.insert(key(&place.plan("CONFIG_A=n\n"), "gcc 12")));
    assert!(keys.insert(key(&place.plan("CONFIG_A=y\n"), "gcc 13")));
    let mut plan = place.plan("CONFIG_A=y\n");
    plan.tree.identity = "other".into();
    assert!(keys.insert(key(&plan, "gcc 12")));
    let mut plan = place.plan("CONFIG_A=y\n");
    for text in ["text", "other"] {
        plan.changed.insert("security/x".into(), text.into());
        assert!(keys.insert(key(&plan, "gcc 12")));
    }
    for arch in crate::arch::ALL
        .iter()
        .filter(|arch| **arch != crate::arch::ALL[0])
    {
        let mut plan = place.plan("CONFIG_A=y\n");
        plan.target = Target::new(Flavour::All, arch);
        assert_eq!(plan.target.source, arch.source.name);
        assert!(keys.insert(key(&plan, "gcc 12")), "{arch}");
    }
    plan.name = "y".into();
    plan.jobs = NonZeroUsize::MAX;
    assert!(!keys.insert(key(&plan, "gcc 12")));
}

#[test]
fn a_full_disk_is_told_before_it_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let error = check_space(dir.path(), u64::MAX).unwrap_err();
    assert!(error.hint().unwrap().contains("XDG_CACHE_HOME"));
    check_space(dir.path(), 0).unwrap();
}

#[test]
fn names_of_source_packages() {
    assert_eq!(source_series("linux-source-6.12"), Some("6.12"));
    assert_eq!(source_series("linux-source-6.1.55"), Some("6.1.55"));
    assert_eq!(source_series("linux-source"), None);
    assert_eq!(source_series("linux-source-6"), None);
}

#[test]
fn debug_information_is_asked_for_as_the_tree_has_it() {
    let place = Place::new();
    let tree = place.dir.path().join("tree");
    assert_eq!(debug_info(&tree), "");
    place.put(
        "lib/Kconfig.debug",
        b"config DEBUG_INFO\n\tbool \"Compile\"\n",
    );
    assert_eq!(debug_info(&tree), "CONFIG_DEBUG_INFO=y");
    let choice = b"choice\nconfig DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT\n";
    place.put("lib/Kconfig.debug", choice);
    assert_eq!(debug_info(&tree), "");
}
