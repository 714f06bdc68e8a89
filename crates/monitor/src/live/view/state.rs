// SPDX-License-Identifier: GPL-2.0-or-later
//! What the view is about to show: pure state, which neither draws nor reads keys.

use model::{MonitorMode, Monitoring};

use super::column::Column;
use super::figures::{Figure, Figures, Key, Since};
use super::filter::Filter;
use super::source::Reading;

/// Which page is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Table,
    /// All about one function.
    Detail,
    Help,
}

#[derive(Debug)]
pub struct View {
    /// What does not change.
    pub monitoring: Monitoring,
    pub colour: bool,
    /// The page, and the one below it while help is shown.
    pub page: Page,
    /// The page that help goes back to.
    pub page_below: Page,
    pub since: Since,
    pub ended: bool,
    /// Which hooks are shown.
    pub filter: Filter,
    pub typing: bool,
    /// Are modules' functions shown, too?
    pub modules: bool,
    /// What the table is sorted by.
    pub sort: Column,
    pub reversed: bool,
    /// The first line of the detail that is shown.
    pub scroll: usize,
    /// Lines of a page, as they were drawn last.
    pub page_height: usize,
    figures: Figures,
    /// What is shown instead while paused.
    held: Option<Figures>,
    /// Places of the functions in the table, in order.
    rows: Vec<usize>,
    selected: usize,
    /// The function that is selected: it stays so when the order changes.
    selected_key: Option<Key>,
    /// The first row that is shown.
    offset: usize,
}

impl View {
    /// Of what is monitored, without any figures yet.
    pub fn new(monitoring: &Monitoring, colour: bool) -> View {
        let sort = match monitoring.mode {
            MonitorMode::Count => Column::Rate,
            MonitorMode::Time | MonitorMode::Histogram => Column::Share,
        };
        View {
            monitoring: monitoring.clone(),
            colour,
            page: Page::Table,
            page_below: Page::Table,
            since: Since::Start,
            ended: false,
            filter: Filter::default(),
            typing: false,
            modules: false,
            sort,
            reversed: false,
            scroll: 0,
            page_height: 1,
            figures: Figures::default(),
            held: None,
            rows: Vec::new(),
            selected: 0,
            selected_key: None,
            offset: 0,
        }
    }

    /// Takes a reading in. While paused it is shown later.
    pub fn update(&mut self, reading: Reading) {
        self.figures.update(reading);
        self.arrange();
    }

    /// What is shown: the last figures, or those at which it was paused.
    pub fn figures(&self) -> &Figures {
        self.held.as_ref().unwrap_or(&self.figures)
    }

    pub fn is_paused(&self) -> bool {
        self.held.is_some()
    }

    /// Freezes the figures, or lets them go on.
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

    /// What the table has in a row.
    pub fn row(&self, row: usize) -> Option<Figure<'_>> {
        let figures = self.figures();
        let hook = figures.total.hooks.get(*self.rows.get(row)?)?;
        Some(figures.figure(hook, self.since))
    }

    /// The row that is selected; below [`View::len`] unless that is 0.
    pub fn selected(&self) -> usize {
        self.selected
    }

    pub fn columns(&self) -> Vec<Column> {
        Column::all(self.monitoring.mode, self.modules)
    }

    /// Sorts by the column that is `by` to the right of the present one.
    pub fn sort_beside(&mut self, by: isize) {
        let mut columns = self.columns();
        columns.retain(|column| column.is_sortable());
        let place = columns.iter().position(|&column| column == self.sort);
        let place = place.unwrap_or(0).saturating_add_signed(by);
        self.sort = columns[place.min(columns.len() - 1)];
        self.arrange();
    }

    pub fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    /// Shows modules' functions, or no longer.
    pub fn toggle_modules(&mut self) {
        self.modules = !self.modules;
        if !self.columns().contains(&self.sort) {
            self.sort = Column::Hook;
        }
        self.arrange();
    }

    /// Counts since the start, or since the last reading.
    pub fn toggle_since(&mut self) {
        self.since = match self.since {
            Since::Start => Since::LastReading,
            Since::LastReading => Since::Start,
        };
        self.arrange();
    }

    /// Selects a row, or the last one if there are fewer.
    pub fn select(&mut self, row: usize) {
        self.selected = row.min(self.rows.len().saturating_sub(1));
        self.selected_key = self.row(self.selected).map(|row| Key::of(row.total));
    }

    /// Brings rows into order, after anything that they depend on has changed.
    pub fn arrange(&mut self) {
        let figures = self.held.as_ref().unwrap_or(&self.figures);
        let hooks = &figures.total.hooks;
        // Who asked for a module's functions alone wants to see them.
        let all = self.modules || hooks.iter().all(|hook| hook.module.is_some());
        let mut rows: Vec<(usize, Figure<'_>)> = hooks
            .iter()
            .enumerate()
            .filter(|(_, hook)| (all || hook.module.is_none()) && self.filter.takes(hook))
            .map(|(place, hook)| (place, figures.figure(hook, self.since)))
            .collect();
        rows.sort_by(|(_, a), (_, b)| {
            let order = self.sort.compare(a, b);
            let order = if self.reversed {
                order.reverse()
            } else {
                order
            };
            // What is equal keeps still from one reading to the next.
            order.then_with(|| {
                (&a.total.hook, &a.total.function).cmp(&(&b.total.hook, &b.total.function))
            })
        });
        let is_selected =
            |row: &(usize, Figure<'_>)| Some(Key::of(row.1.total)) == self.selected_key;
        // The nearest one, for what is hostile may have many of a name.
        let found = (0..rows.len())
            .filter(|&row| is_selected(&rows[row]))
            .min_by_key(|row| row.abs_diff(self.selected));
        let rows = rows.into_iter().map(|(place, _)| place).collect();
        self.rows = rows;
        // Nobody has moved yet: whatever comes first is selected.
        let at_rest = self.selected == 0 && self.offset == 0 && self.page == Page::Table;
        match found {
            Some(row) if !at_rest => self.selected = row,
            _ => self.select(self.selected),
        }
    }

    /// The selected function: the one that detail is about.
    pub fn selected_figure(&self) -> Option<Figure<'_>> {
        self.row(self.selected)
    }

    /// Moves the part of the table that is shown, `height` rows, to where the selection
    /// is. Says which row is the first.
    pub fn follow_selection(&mut self, height: usize) -> usize {
        let last = self.rows.len().saturating_sub(height);
        let highest = (self.selected + 1).saturating_sub(height);
        self.offset = self.offset.clamp(highest, self.selected.max(highest));
        self.offset = self.offset.min(last);
        self.offset
    }
}
