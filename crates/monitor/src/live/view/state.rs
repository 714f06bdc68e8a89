// SPDX-License-Identifier: GPL-2.0-or-later
//! The view's state, without drawing and keys.

use model::{MonitorMode, Monitoring, WatchedHook, glob};

use super::Reading;
use super::column::Column;
use super::figures::{Figure, Figures, Key, Since};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Page {
    #[default]
    Table,
    Detail,
    Help,
}

#[derive(Debug, Default)]
pub struct View {
    pub monitoring: Monitoring,
    pub colour: bool,
    /// The page, and the one that help returns to.
    pub page: Page,
    pub page_below: Page,
    pub since: Since,
    pub ended: bool,
    /// A part of a hook's or function's name, or a pattern for all of it; in lower case.
    pub filter: String,
    pub typing: bool,
    pub modules: bool,
    pub sort: Column,
    pub reversed: bool,
    pub scroll: usize,
    pub page_height: usize,
    figures: Figures,
    held: Option<Figures>,
    rows: Vec<usize>,
    selected: usize,
    selected_key: Option<Key>,
    offset: usize,
}

impl View {
    pub fn new(monitoring: &Monitoring, colour: bool) -> View {
        let sort = match monitoring.mode {
            MonitorMode::Count => Column::Rate,
            MonitorMode::Time | MonitorMode::Histogram => Column::Share,
        };
        View {
            monitoring: monitoring.clone(),
            colour,
            sort,
            page_height: 1,
            ..View::default()
        }
    }

    /// While paused, the reading is shown later.
    pub fn update(&mut self, reading: Reading) {
        self.figures.update(reading);
        self.arrange();
    }

    pub fn figures(&self) -> &Figures {
        self.held.as_ref().unwrap_or(&self.figures)
    }

    pub fn is_paused(&self) -> bool {
        self.held.is_some()
    }

    pub fn pause(&mut self) {
        self.held = match self.held {
            Some(_) => None,
            None => Some(self.figures.clone()),
        };
        self.arrange();
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, row: usize) -> Option<Figure<'_>> {
        let figures = self.figures();
        let hook = figures.total.hooks.get(*self.rows.get(row)?)?;
        Some(figures.figure(hook, self.since))
    }

    /// The selected row; below [`View::len`] unless that is 0.
    pub fn selected(&self) -> usize {
        self.selected
    }

    pub fn columns(&self) -> Vec<Column> {
        Column::all(self.monitoring.mode, self.modules)
    }

    pub fn sort_beside(&mut self, by: isize) {
        let mut columns = self.columns();
        columns.retain(|&column| column != Column::Recent);
        let place = columns.iter().position(|&column| column == self.sort);
        let place = place.unwrap_or(0).saturating_add_signed(by);
        self.sort = columns[place.min(columns.len() - 1)];
        self.arrange();
    }

    pub fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    pub fn toggle_modules(&mut self) {
        self.modules = !self.modules;
        if !self.columns().contains(&self.sort) {
            self.sort = Column::Hook;
        }
        self.arrange();
    }

    pub fn toggle_since(&mut self) {
        self.since = match self.since {
            Since::Start => Since::LastReading,
            Since::LastReading => Since::Start,
        };
        self.arrange();
    }

    /// Selects a row, at most the last one.
    pub fn select(&mut self, row: usize) {
        self.selected = row.min(self.rows.len().saturating_sub(1));
        self.selected_key = self.row(self.selected).map(|row| Key::new(row.total));
    }

    pub fn arrange(&mut self) {
        let figures = self.held.as_ref().unwrap_or(&self.figures);
        let hooks = &figures.total.hooks;
        // If only modules' functions are watched, show them.
        let all = self.modules || hooks.iter().all(|hook| hook.module.is_some());
        let mut rows: Vec<(usize, Figure<'_>)> = hooks
            .iter()
            .enumerate()
            .filter(|(_, hook)| (all || hook.module.is_none()) && takes(&self.filter, hook))
            .map(|(place, hook)| (place, figures.figure(hook, self.since)))
            .collect();
        rows.sort_by(|(_, a), (_, b)| {
            let (first, second) = if self.reversed { (b, a) } else { (a, b) };
            let order = self.sort.compare(first, second);
            let [a, b] = [a, b].map(|row| (&row.total.hook, &row.total.function));
            order.then_with(|| a.cmp(&b))
        });
        let is_selected =
            |row: &(usize, Figure<'_>)| Some(Key::new(row.1.total)) == self.selected_key;
        // Find the nearest one, because a hostile source may contain the same name several times.
        let found = (0..rows.len())
            .filter(|&row| is_selected(&rows[row]))
            .min_by_key(|row| row.abs_diff(self.selected));
        self.rows = rows.into_iter().map(|(place, _)| place).collect();
        // Without any user action, the first row is selected.
        let at_rest = self.selected == 0 && self.offset == 0 && self.page == Page::Table;
        match found {
            Some(row) if !at_rest => self.selected = row,
            _ => self.select(self.selected),
        }
    }

    pub fn selected_figure(&self) -> Option<Figure<'_>> {
        self.row(self.selected)
    }

    /// Scrolls the table of `height` rows to the selection; returns the first row.
    pub fn follow_selection(&mut self, height: usize) -> usize {
        let last = self.rows.len().saturating_sub(height);
        let highest = (self.selected + 1).saturating_sub(height);
        self.offset = self.offset.clamp(highest, self.selected.max(highest));
        self.offset = self.offset.min(last);
        self.offset
    }
}

fn takes(filter: &str, hook: &WatchedHook) -> bool {
    [&hook.hook, &hook.function].into_iter().any(|name| {
        let name = name.to_ascii_lowercase();
        match filter.contains(['*', '?']) {
            true => glob(filter, &name),
            false => name.contains(filter),
        }
    })
}
