// SPDX-License-Identifier: GPL-2.0-or-later
//! Handles keys.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::state::{Page, View};

const FILTER_LIMIT: usize = 64;

pub const HELP: [(&str, &str); 12] = [
    ("↑ ↓ j k", "select a hook; on the detail page, scroll"),
    ("PgUp PgDn", "a page up or down"),
    ("Home End", "the first or the last row"),
    ("← → < >", "choose the column to sort by"),
    ("r", "reverse the order"),
    ("/", "filter: part of a name, or a pattern with * and ?"),
    ("Esc", "clear the filter; leave the detail"),
    ("Enter", "details of the hook: times, system calls, modules"),
    ("a", "figures since the start, or for the last interval"),
    ("m", "show or hide modules' functions"),
    ("p Space", "pause: figures freeze, counting continues"),
    ("q ^C", "quit"),
];

/// Returns true for quit.
pub fn press(view: &mut View, key: KeyEvent) -> bool {
    if key.kind == KeyEventKind::Release {
        return false;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && matches!(key.code, KeyCode::Char('c' | 'C')) {
        return true;
    }
    if view.page == Page::Help {
        view.page = view.page_below;
        return false;
    }
    if view.typing {
        type_filter(view, key.code, control);
        return false;
    }
    if control {
        return false;
    }
    match key.code {
        KeyCode::Char('q' | 'Q') => return true,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => {
            view.page_below = view.page;
            view.page = Page::Help;
        }
        KeyCode::Char('p' | ' ') => view.pause(),
        KeyCode::Char('a') => view.toggle_since(),
        code if view.page == Page::Detail => detail(view, code),
        code => table(view, code),
    }
    false
}

fn type_filter(view: &mut View, code: KeyCode, control: bool) {
    match code {
        KeyCode::Enter => view.typing = false,
        KeyCode::Esc => {
            view.typing = false;
            view.filter.clear();
        }
        KeyCode::Backspace => drop(view.filter.pop()),
        KeyCode::Char('u') if control => view.filter.clear(),
        // Names have no other characters.
        KeyCode::Char(c) if !control => {
            if c.is_ascii_graphic() && view.filter.len() < FILTER_LIMIT {
                view.filter.push(c.to_ascii_lowercase());
            }
        }
        _ => {
            movement(view, code);
            return;
        }
    }
    view.arrange();
}

fn table(view: &mut View, code: KeyCode) {
    match code {
        KeyCode::Left | KeyCode::Char('<') => view.sort_beside(-1),
        KeyCode::Right | KeyCode::Char('>') => view.sort_beside(1),
        KeyCode::Char('r') => view.reverse(),
        KeyCode::Char('m') => view.toggle_modules(),
        KeyCode::Char('/') => view.typing = true,
        KeyCode::Esc => {
            view.filter.clear();
            view.arrange();
        }
        KeyCode::Enter if view.selected_figure().is_some() => {
            view.select(view.selected());
            view.scroll = 0;
            view.page = Page::Detail;
        }
        code => movement(view, code),
    }
}

fn movement(view: &mut View, code: KeyCode) {
    let selected = view.selected();
    if let Some(row) = moved(selected, view.page_height, code) {
        view.select(row);
    }
}

fn detail(view: &mut View, code: KeyCode) {
    match code {
        KeyCode::Esc | KeyCode::Enter | KeyCode::Backspace => view.page = Page::Table,
        code => {
            if let Some(scroll) = moved(view.scroll, view.page_height, code) {
                view.scroll = scroll;
            }
        }
    }
}

/// The new position after `at`; None for other keys.
fn moved(at: usize, page: usize, code: KeyCode) -> Option<usize> {
    Some(match code {
        KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => at.saturating_add(1),
        KeyCode::PageUp => at.saturating_sub(page.max(1)),
        KeyCode::PageDown => at.saturating_add(page.max(1)),
        KeyCode::Home => 0,
        KeyCode::End => usize::MAX,
        _ => return None,
    })
}
