// SPDX-License-Identifier: GPL-2.0-or-later
//! Draws the view into a frame of any size.

use std::time::Duration;

use model::printable;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState};

use super::column::Column;
use super::detail;
use super::figures::{Key, Since};
use super::keys;
use super::state::{Page, View};
use super::units;

/// Below this height the header is one line shorter.
const TALL: u16 = 10;
const TEXT_LIMIT: usize = 160;
const TABLE_RATES: usize = 24;

pub struct Theme {
    colour: bool,
}

impl Theme {
    pub fn bold(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn faint(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn bad(&self) -> Style {
        self.coloured(self.bold(), Color::Red)
    }

    pub fn bar(&self) -> Style {
        self.coloured(Style::new(), Color::Cyan)
    }

    fn coloured(&self, style: Style, colour: Color) -> Style {
        if self.colour { style.fg(colour) } else { style }
    }
}

pub fn draw(frame: &mut Frame<'_>, view: &mut View) {
    let theme = Theme {
        colour: view.colour,
    };
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    let header_height = if area.height < TALL { 1 } else { 3 };
    let [header, body, footer] = Layout::vertical([
        Constraint::Length(header_height),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(header_lines(view, &theme)), header);
    match view.page {
        Page::Table => table(frame, body, view, &theme),
        Page::Detail => detail_page(frame, body, view, &theme),
        Page::Help => help(frame, body, &theme),
    }
    draw_footer(frame, footer, view, &theme);
}

/// The most important first: narrow terminals cut off the rest.
fn header_lines(view: &View, theme: &Theme) -> Vec<Line<'static>> {
    let monitoring = &view.monitoring;
    let shown = |text: &str| printable(text, TEXT_LIMIT);
    let figures = view.figures();
    let mut first = vec![Span::styled("lsmeter monitor", theme.bold())];
    let mut state =
        |text: String, style| first.extend([Span::raw("  "), Span::styled(text, style)]);
    for (holds, word) in [(view.is_paused(), "PAUSED"), (view.ended, "ENDED")] {
        if holds {
            state(word.to_owned(), theme.coloured(theme.bold(), Color::Yellow));
        }
    }
    if figures.total.lost > 0 {
        let lost = format!("{} calls LOST", units::count(figures.total.lost));
        state(lost, theme.bad());
    }
    let lasted = Duration::try_from_secs_f64(figures.total.seconds).unwrap_or(Duration::MAX);
    state(units::lasted(lasted), Style::new());
    state(shown(&monitoring.scope), Style::new());
    state(format!("mode {}", monitoring.mode), Style::new());
    let stack = match shown(&monitoring.active_lsms.join(",")) {
        stack if stack.is_empty() => "unknown".to_owned(),
        stack => stack,
    };
    let second = format!("Linux {}  LSMs {stack}", shown(&monitoring.release));
    let cost = monitoring.cost;
    let third = match cost.added_ns {
        0 => "the overhead of watching a call could not be measured here".to_owned(),
        added => format!(
            "watching adds {} to a call; the {} within its time are subtracted",
            units::time(f64::from(added)),
            units::time(f64::from(cost.within_ns)),
        ),
    };
    vec![
        Line::from(first),
        Line::from(second),
        Line::styled(third, theme.faint()),
    ]
}

fn table(frame: &mut Frame<'_>, area: Rect, view: &mut View, theme: &Theme) {
    let height = usize::from(area.height.saturating_sub(1));
    view.page_height = height;
    let first = view.follow_selection(height);
    if view.len() == 0 {
        let text = if !view.filter.is_empty() {
            "No hook matches: Esc shows all."
        } else if view.figures().total.seconds > 0.0 {
            "No hook has been called."
        } else {
            "Waiting for the first figures."
        };
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let columns = Column::that_fit(&view.columns(), view.sort, area.width);
    let hook_width = Column::hook_width(&columns, area.width);
    let width = |column: &Column| match column {
        Column::Hook => Constraint::Length(hook_width),
        Column::Recent => Constraint::Min(column.width()),
        column => Constraint::Length(column.width()),
    };
    let headings = columns.iter().map(|&column| {
        let mut title = column.title().to_owned();
        let mut style = theme.bold();
        if column == view.sort {
            let falls = column.is_left() == view.reversed;
            title.push(if falls { '↓' } else { '↑' });
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        aligned(column, title).style(style)
    });
    let rows = (first..view.len().min(first.saturating_add(height)))
        .map(|row| Row::new(columns.iter().map(|&column| cell(view, row, column, theme))));
    let table = Table::new(rows.collect::<Vec<_>>(), columns.iter().map(width))
        .header(Row::new(headings))
        .column_spacing(1)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::new().with_selected(view.selected().checked_sub(first));
    frame.render_stateful_widget(table, area, &mut state);
}

fn aligned(column: Column, text: String) -> Cell<'static> {
    let line = Line::from(text);
    Cell::new(match column.is_left() {
        true => line,
        false => line.right_aligned(),
    })
}

fn cell(view: &View, row: usize, column: Column, theme: &Theme) -> Cell<'static> {
    let Some(figure) = view.row(row) else {
        return Cell::default();
    };
    if column == Column::Recent {
        let rates = view.figures().rates(&Key::new(figure.total));
        let text = rates.map_or_else(String::new, |rates| {
            units::sparkline(rates.iter(), TABLE_RATES)
        });
        return Cell::new(text).style(theme.bar());
    }
    let value = column.value(&figure);
    let style = match column {
        Column::Denials if figure.hook.is_some_and(|hook| hook.denials() > 0) => theme.bad(),
        _ => Style::new(),
    };
    aligned(column, value.text()).style(style)
}

fn detail_page(frame: &mut Frame<'_>, area: Rect, view: &mut View, theme: &Theme) {
    let lines = detail::lines(view, usize::from(area.width), theme);
    let height = usize::from(area.height);
    view.page_height = height;
    view.scroll = view.scroll.min(lines.len().saturating_sub(height));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(view.scroll).take(height).collect();
    frame.render_widget(Paragraph::new(shown), area);
}

fn help(frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
    let lines = keys::HELP.iter().map(|(keys, what)| {
        Line::from(vec![
            Span::styled(format!("{keys:<10}"), theme.bold()),
            Span::raw(*what),
        ])
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

fn draw_footer(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    if view.typing {
        let text = format!("filter: {}", view.filter);
        let room = usize::from(area.width.saturating_sub(1));
        let skipped = text.chars().count().saturating_sub(room);
        let shown: String = text.chars().skip(skipped).collect();
        let column = u16::try_from(shown.chars().count()).unwrap_or(0);
        frame.render_widget(Paragraph::new(shown), area);
        frame.set_cursor_position((area.x + column.min(room as u16), area.y));
        return;
    }
    let keys = match view.page {
        Page::Table => "? help  / filter  Enter detail  q quit",
        Page::Detail => "Esc back  ↑ ↓ scroll  ? help  q quit",
        Page::Help => "any key goes back",
    };
    let mut spans = Vec::new();
    if view.page == Page::Table {
        spans.push(Span::raw(status(view)));
    } else if view.page == Page::Detail {
        spans.push(Span::raw(format!("{}  ", since(view))));
    }
    spans.push(Span::styled(keys, theme.faint()));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn since(view: &View) -> &'static str {
    match view.since {
        Since::Start => "since start",
        Since::LastReading => "last interval",
    }
}

fn status(view: &View) -> String {
    let mut text = match view.len() {
        0 => String::new(),
        len => format!("{}/{len}  ", view.selected() + 1),
    };
    text += since(view);
    if !view.filter.is_empty() {
        text += &format!("  filter {}", view.filter);
    }
    match view.figures().left_off {
        0 => {}
        left_off => text += &format!("  {left_off} more not shown"),
    }
    text + "  "
}
