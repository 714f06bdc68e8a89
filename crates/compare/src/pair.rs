// SPDX-License-Identifier: GPL-2.0-or-later
//! Pairs the figures of two sides.

use std::collections::{BTreeSet, HashMap, VecDeque};

use model::comparison::{Side, UnmatchedCell};
use model::{Architecture, Key, Policy, Settings};

use crate::item::{Item, place};

pub(crate) struct Paired {
    /// (BASE, NEW), in the order of NEW.
    pub(crate) pairs: Vec<(Item, Item)>,
    pub(crate) unmatched: Vec<UnmatchedCell>,
    pub(crate) matched_by: Vec<String>,
}

/// Parts of a key that may differ because each side has only one value.
#[derive(Default, Clone, Copy)]
struct Loose {
    architecture: bool,
    kernel: bool,
    configuration: bool,
    filesystem: bool,
}

impl Loose {
    fn key(self, key: &Key) -> Key {
        let mut key = key.clone();
        if self.architecture {
            // Names of kernels for a foreign architecture include it.
            let suffix = format!("/{}", key.architecture);
            if let Some(name) = key.kernel.strip_suffix(&suffix) {
                key.kernel = name.to_owned();
            }
            key.architecture = Architecture::default();
        }
        if self.kernel {
            key.kernel.clear();
        }
        if self.configuration {
            key.stack.clear();
            key.integrity.clear();
            key.policy = Policy::default();
            key.settings = Settings::default();
        }
        if self.filesystem {
            key.filesystem.clear();
        }
        key
    }
}

/// Pairs figures with equal keys. A kernel, architecture, configuration or file system may differ
/// if each side has only one.
pub(crate) fn pair(base: Vec<Item>, new: Vec<Item>) -> Paired {
    let mut matched_by = vec![
        "measurements are matched by kernel, configuration, file system, benchmark, variant and metric"
            .to_owned(),
    ];
    let mut only = |what: &str, value: &dyn Fn(&Key) -> String| {
        let values = |items: &[Item]| -> BTreeSet<String> {
            items.iter().map(|item| value(&item.key)).collect()
        };
        let (old, young) = (values(&base), values(&new));
        let differ = old.len() == 1 && young.len() == 1 && old != young;
        if differ {
            let first = |values: &BTreeSet<String>| values.first().cloned().unwrap_or_default();
            matched_by.push(format!(
                "{what}: {} in BASE is compared with {} in NEW, the only one in each",
                first(&old),
                first(&young)
            ));
        }
        differ
    };
    let loose = Loose {
        architecture: only("architecture", &|key| key.architecture.to_string()),
        kernel: only("kernel", &|key| key.kernel.clone()),
        configuration: only("configuration", &Key::configuration_title),
        filesystem: only("file system", &|key| key.filesystem.clone()),
    };
    let (pairs, unmatched) = match_up(base, new, |key| loose.key(key));
    Paired {
        pairs,
        unmatched,
        matched_by,
    }
}

pub(crate) fn match_up(
    base: Vec<Item>,
    new: Vec<Item>,
    loosen: impl Fn(&Key) -> Key,
) -> (Vec<(Item, Item)>, Vec<UnmatchedCell>) {
    let key = |item: &Item| (loosen(&item.key), item.detail.clone());
    let mut waiting: HashMap<(Key, String), VecDeque<usize>> = HashMap::new();
    let mut base: Vec<Option<Item>> = base.into_iter().map(Some).collect();
    for (index, item) in base.iter().enumerate() {
        if let Some(item) = item {
            let queue = waiting.entry(key(item)).or_default();
            queue.push_back(index);
        }
    }
    let mut pairs = Vec::new();
    let mut alone = Vec::new();
    for item in new {
        let found = waiting.get_mut(&key(&item));
        let index = found.and_then(VecDeque::pop_front);
        match index.and_then(|index| base[index].take()) {
            Some(old) => pairs.push((old, item)),
            None => alone.push(unmatched(Side::New, item)),
        }
    }
    let mut left: Vec<UnmatchedCell> = (base.into_iter().flatten())
        .map(|item| unmatched(Side::Base, item))
        .collect();
    left.append(&mut alone);
    (pairs, left)
}

fn unmatched(side: Side, item: Item) -> UnmatchedCell {
    UnmatchedCell {
        side,
        place: place(&item.key),
        benchmark: item.key.title(),
        detail: item.detail,
        metric: item.key.metric,
    }
}
