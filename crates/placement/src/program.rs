// SPDX-License-Identifier: GPL-2.0-or-later
//! All files as one program: the functions that names refer to, and that members can hold.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::body::Body;
use crate::facts::{Fact, FileSystemFacts, SourceFacts};
use crate::load::{Bodies, FileData};
use crate::scan::{Function, Kind, MemberCopy, number};
use crate::tree::is_under;

pub(crate) type FunctionId = u32;
pub(crate) type NameId = u32;
pub(crate) type Numbered<T> = IndexSet<T, FxBuildHasher>;

/// The longest chain of aliases that is followed.
const MAX_ALIASES: u32 = 8;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) index: u32,
    pub(crate) name: NameId,
    pub(crate) kind: Kind,
}

struct Table {
    file: u32,
    name: NameId,
    structure: NameId,
}

#[derive(Default)]
pub(crate) struct Program<'a> {
    pub(crate) files: &'a [FileData],
    pub(crate) names: Numbered<&'a str>,
    /// Maps file-local names to program-wide names.
    maps: Vec<Vec<NameId>>,
    pub(crate) functions: Vec<Place>,
    /// Number of functions in the tree. `functions` has them once more for each layer of a file
    /// system, in the same order.
    pub(crate) own: u32,
    by_name: FxHashMap<NameId, Vec<FunctionId>>,
    tables: Vec<Table>,
    /// (index of `tables`, value) by member.
    by_member: FxHashMap<NameId, Vec<(u32, NameId)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Generic,
    FileSystem,
    Other,
}

/// The program with one file system. Other file systems are left out, so that results do not depend
/// on the other requests.
pub(crate) struct View<'p, 'a> {
    pub(crate) program: &'p Program<'a>,
    /// The first of the functions that names mean.
    base: FunctionId,
    classes: Vec<Class>,
    /// Members assigned to a member.
    copies: FxHashMap<NameId, Vec<MemberCopy<NameId>>>,
    /// Structs that a member of that name is or points to.
    member_types: FxHashMap<NameId, Vec<NameId>>,
    /// Names that the file system uses, which can be tables in other files.
    used: FxHashSet<NameId>,
    regular: Vec<NameId>,
    /// Structs for which its objects have no table that matters.
    idle: Vec<NameId>,
    /// Structs for which the file system has or uses tables.
    owned: FxHashSet<NameId>,
    resolved: RefCell<FxHashMap<(NameId, u32), Option<FunctionId>>>,
}

impl<'a> Program<'a> {
    pub(crate) fn new(files: &'a [FileData], layers: usize) -> Self {
        let mut program = Self {
            files,
            ..Self::default()
        };
        for (file, data) in (0u32..).zip(files) {
            let names = data.index.names.iter();
            let numbered = names.map(|name| number(program.names.insert_full(&**name).0));
            let map: Vec<NameId> = numbered.collect();
            let at = |name: u32| map.get(name as usize).copied().unwrap_or_default();
            for (index, function) in (0u32..).zip(&data.index.functions) {
                let id = number(program.functions.len());
                let name = at(function.name);
                program.functions.push(Place {
                    file,
                    index,
                    name,
                    kind: function.kind,
                });
                program.by_name.entry(name).or_default().push(id);
            }
            for table in &data.index.tables {
                let id = number(program.tables.len());
                program.tables.push(Table {
                    file,
                    name: at(table.name),
                    structure: at(table.structure),
                });
                for &(member, value) in &table.fields {
                    let setters = program.by_member.entry(at(member)).or_default();
                    setters.push((id, at(value)));
                }
            }
            program.maps.push(map);
        }
        program.own = number(program.functions.len());
        program.functions = program.functions.repeat(1 + layers);
        program
    }

    pub(crate) fn id(&self, name: &str) -> Option<NameId> {
        self.names.get_index_of(name).map(number)
    }

    pub(crate) fn name(&self, id: FunctionId) -> &'a str {
        self.names[self.functions[id as usize].name as usize]
    }

    pub(crate) fn path(&self, id: FunctionId) -> &'a str {
        &self.files[self.functions[id as usize].file as usize].path
    }

    pub(crate) fn body<'b>(&self, bodies: &'b [Bodies], id: FunctionId) -> Option<&'b Body> {
        let place = self.functions.get(id as usize)?;
        bodies.get(place.file as usize)?.get(&place.index)
    }

    pub(crate) fn named_by(&self, fact: &Fact) -> Vec<FunctionId> {
        let named = fact.function.iter().flat_map(|name| self.all(name));
        let here = |id: &FunctionId| fact.file.iter().any(|file| file == self.path(*id));
        named.copied().filter(here).collect()
    }

    pub(crate) fn function(&self, id: FunctionId) -> &'a Function {
        let place = self.functions[id as usize];
        &self.files[place.file as usize].index.functions[place.index as usize]
    }

    pub(crate) fn globals<'n>(
        &self,
        id: FunctionId,
        names: &'n [u32],
    ) -> impl Iterator<Item = NameId> + use<'_, 'n, 'a> {
        let map = &self.maps[self.functions[id as usize].file as usize];
        let names = names.iter();
        names.filter_map(|&name| map.get(name as usize).copied())
    }

    pub(crate) fn all(&self, name: &str) -> &[FunctionId] {
        self.id(name)
            .and_then(|id| self.by_name.get(&id))
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn syscall(&self, name: &str) -> Option<FunctionId> {
        let defines = |id: &FunctionId| self.functions[*id as usize].kind == Kind::Syscall;
        self.all(name).iter().copied().find(defines)
    }

    pub(crate) fn syscalls(&self) -> impl Iterator<Item = &'a str> + '_ {
        let all = self.functions.iter().take(self.own as usize);
        let calls = all.filter(|place| place.kind == Kind::Syscall);
        calls.map(|place| self.names[place.name as usize])
    }

    /// `None` if the tree does not have the file system. With functions of this layer, from 1.
    pub(crate) fn view(
        &self,
        fs: &str,
        layer: usize,
        others: bool,
        facts: &SourceFacts,
    ) -> Option<View<'_, 'a>> {
        let own = facts.fs.get(fs);
        let own = own.map_or_else(|| Cow::Owned(FileSystemFacts::new(fs)), Cow::Borrowed);
        let class = |file: &FileData| {
            if is_under(&own.paths, &file.path) {
                Class::FileSystem
            } else if is_under(&facts.generic, &file.path)
                || (others && is_under(&facts.others, &file.path))
            {
                Class::Generic
            } else {
                Class::Other
            }
        };
        let classes: Vec<_> = self.files.iter().map(class).collect();
        let mut used = FxHashSet::default();
        for ((data, map), class) in self.files.iter().zip(&self.maps).zip(&classes) {
            if *class == Class::FileSystem {
                let functions = data.index.functions.iter().flat_map(|f| &f.uses);
                let tables = data.index.tables.iter().flat_map(|table| &table.fields);
                let names = functions.chain(tables.map(|(_, value)| value));
                used.extend(names.filter_map(|&name| map.get(name as usize)));
            }
        }
        let ids = |names: &[String]| names.iter().filter_map(|name| self.id(name)).collect();
        let mut view = View {
            program: self,
            base: self.own * number(layer),
            used,
            regular: ids(&own.regular),
            idle: ids(&own.idle),
            owned: FxHashSet::default(),
            resolved: RefCell::default(),
            classes,
            copies: FxHashMap::default(),
            member_types: FxHashMap::default(),
        };
        view.collect_members();
        let owned = self.tables.iter();
        let owned = owned.filter(|table| self.is_named(table) && view.is_own(table));
        view.owned = owned.map(|table| table.structure).collect();
        view.classes.contains(&Class::FileSystem).then_some(view)
    }

    fn is_named(&self, table: &Table) -> bool {
        !self.names[table.name as usize].is_empty()
    }
}

impl View<'_, '_> {
    fn collect_members(&mut self) {
        let mut known: FxHashSet<(NameId, NameId)> = FxHashSet::default();
        let files = self.program.files.iter().zip(&self.program.maps);
        for ((data, map), class) in files.zip(&self.classes) {
            if *class == Class::Other {
                continue;
            }
            let at = |name: u32| map.get(name as usize).copied().unwrap_or_default();
            for copy in &data.index.copies {
                let copy = MemberCopy {
                    member: at(copy.member),
                    structure: at(copy.structure),
                    through: at(copy.through),
                    other: at(copy.other),
                };
                let copies = self.copies.entry(copy.member).or_default();
                if !copies.contains(&copy) {
                    copies.push(copy);
                }
            }
            for &(_, member, target) in &data.index.members {
                if known.insert((at(member), at(target))) {
                    let types = self.member_types.entry(at(member)).or_default();
                    types.push(at(target));
                }
            }
        }
    }

    pub(crate) fn types_of_member(&self, member: NameId) -> &[NameId] {
        self.member_types.get(&member).map_or(&[], Vec::as_slice)
    }

    /// Is it the file system's?
    pub(crate) fn has(&self, id: FunctionId) -> bool {
        self.class(self.program.functions[id as usize].file) == Class::FileSystem
    }

    fn class(&self, file: u32) -> Class {
        self.classes[file as usize]
    }

    fn is_own(&self, table: &Table) -> bool {
        match self.class(table.file) {
            Class::FileSystem => true,
            Class::Generic => self.used.contains(&table.name),
            Class::Other => false,
        }
    }

    pub(crate) fn resolve(&self, name: NameId, file: u32) -> Option<FunctionId> {
        let (mut name, mut file) = (name, file);
        for _ in 0..MAX_ALIASES {
            let id = self.resolve_once(name, file)?;
            let place = self.program.functions[id as usize];
            if place.kind != Kind::Alias {
                return Some(id);
            }
            let function = self.program.function(id);
            let mut others = self.program.globals(id, &function.uses);
            match (others.next(), others.next()) {
                (Some(other), None) if function.calls.is_empty() && other != name => {
                    (name, file) = (other, place.file)
                }
                _ => return Some(id),
            }
        }
        None
    }

    fn resolve_once(&self, name: NameId, file: u32) -> Option<FunctionId> {
        let mut resolved = self.resolved.borrow_mut();
        let known = resolved.entry((name, file));
        *known.or_insert_with(|| self.best(name, file))
    }

    fn best(&self, name: NameId, file: u32) -> Option<FunctionId> {
        let files = self.program.files;
        let here = &files[file as usize].path;
        let directory = here.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut best = None;
        for &id in self.program.by_name.get(&name)? {
            let place = self.program.functions[id as usize];
            let path = &files[place.file as usize].path;
            if place.kind == Kind::Syscall || self.class(place.file) == Class::Other {
                continue;
            }
            let near = !directory.is_empty() && path.starts_with(directory);
            let header = path.ends_with(".h");
            let mut archs = kernels::arch::ALL.iter();
            let of_arch = archs.any(|arch| path.starts_with(arch.source.include));
            let shared = path.starts_with("include/") || of_arch;
            let score = match place.kind {
                _ if place.file == file => 9,
                // Header stubs for disabled options hide the real function.
                Kind::Static if header && path.starts_with("include/linux/") => 8,
                Kind::Global if !header => 6 + u32::from(near),
                Kind::Static | Kind::Global if header && (near || shared) => 5,
                Kind::Macro | Kind::Alias if header && near => 4,
                Kind::Macro | Kind::Alias if header && shared => 3,
                Kind::Static | Kind::Macro | Kind::Alias
                    if header && directory_holds(path, directory) =>
                {
                    2
                }
                _ => continue,
            };
            if best.is_none_or(|(found, _)| score > found) {
                best = Some((score, id));
            }
        }
        best.map(|(_, id)| self.base + id)
    }

    /// Functions that tables assign to members copied to this member; only one level is followed.
    fn copied(&self, member: NameId) -> Vec<FunctionId> {
        let program = self.program;
        let mut found = Vec::new();
        for copy in self.copies.get(&member).into_iter().flatten() {
            let through = self.types_of_member(copy.through);
            for &(table, value) in program.by_member.get(&copy.other).into_iter().flatten() {
                let table = &program.tables[table as usize];
                let fits = table.structure == copy.structure || through.contains(&table.structure);
                let named = !program.names[table.structure as usize].is_empty();
                if fits && named && self.class(table.file) != Class::Other {
                    found.extend(self.resolve(value, table.file));
                }
            }
        }
        found
    }

    /// `None` without such a table.
    pub(crate) fn regular_sets(&self, member: NameId, structs: &[NameId]) -> Option<bool> {
        let tables = &self.program.tables;
        let regular = |table: &Table| {
            self.regular.contains(&table.name)
                && structs.contains(&table.structure)
                && self.class(table.file) != Class::Other
        };
        if !tables.iter().any(regular) {
            return None;
        }
        let mut setters = self.program.by_member.get(&member).into_iter().flatten();
        Some(setters.any(|&(table, _)| regular(&tables[table as usize])))
    }

    /// Possible functions of a member, limited to the structs if known; a regular file's first.
    /// `None` if no such table exists.
    pub(crate) fn targets(&self, member: NameId, structs: &[NameId]) -> Option<Vec<FunctionId>> {
        let mut all = structs.iter();
        if !structs.is_empty() && all.all(|structure| self.idle.contains(structure)) {
            return Some(Vec::new());
        }
        let names = &self.program.names;
        let fits = |table: &Table| {
            structs.is_empty()
                || names[table.structure as usize].is_empty()
                || structs.contains(&table.structure)
        };
        let mut all = structs.iter();
        let owned = all.any(|structure| self.owned.contains(structure));
        let mut found: Vec<(bool, FunctionId)> = Vec::new();
        let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
        for &(table, value) in self.program.by_member.get(&member).into_iter().flatten() {
            let table = &self.program.tables[table as usize];
            if !fits(table) || self.class(table.file) == Class::Other {
                continue;
            }
            // If the file system has tables for a struct, only those are used.
            let named = self.program.is_named(table);
            if named && self.owned.contains(&table.structure) && !self.is_own(table) {
                continue;
            }
            let Some(id) = self.resolve(value, table.file) else {
                continue;
            };
            if seen.insert(id) {
                found.push((self.regular.contains(&table.name), id));
            }
        }
        for id in self.copied(member) {
            if seen.insert(id) {
                found.push((false, id));
            }
        }
        found.sort_by_key(|&(regular, _)| !regular);
        let known = owned || !found.is_empty();
        known.then(|| found.into_iter().map(|(_, id)| id).collect())
    }
}

/// `path` may include a header of a directory above: `fs/internal.h` for `fs/ext4/x.c`.
fn directory_holds(path: &str, directory: &str) -> bool {
    path.rsplit_once('/')
        .is_some_and(|(holder, _)| Path::new(directory).starts_with(holder))
}
