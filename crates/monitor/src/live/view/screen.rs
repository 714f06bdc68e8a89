// SPDX-License-Identifier: GPL-2.0-or-later
//! Takes the terminal, and restores it in all cases.

use std::io::{self, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::{cursor, execute, terminal};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

static TAKEN: AtomicBool = AtomicBool::new(false);

pub struct Screen {
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub fn take() -> io::Result<Screen> {
        give_back_before_panics();
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let taken = execute!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match taken {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                let _ = give_back();
                Err(error)
            }
        }
    }

    pub fn leave(self) -> io::Result<()> {
        give_back()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = give_back();
    }
}

fn give_back() -> io::Result<()> {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let mut stdout = io::stdout();
    let left = execute!(stdout, terminal::LeaveAlternateScreen, cursor::Show);
    // Even if the output failed: this changes the terminal's settings.
    terminal::disable_raw_mode()?;
    left.and_then(|()| stdout.flush())
}

/// A panic's message must be on the main screen, where it stays.
fn give_back_before_panics() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let _ = give_back();
            before(panic);
        }));
    });
}
