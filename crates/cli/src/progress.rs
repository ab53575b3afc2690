//! How far work has come, as one line on a terminal: a run tells its time, any other
//! work what it is about and how long it has been at it.
//!
//! The line is drawn only where standard error is a terminal. One lock covers it and
//! everything else that is written, so that text never lands in the middle of it.

use dalembert::simulate::run::Progress;
use dalembert::sweep::study;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Short runs end before a line could be read.
const QUIET: Duration = Duration::from_millis(300);
/// Other work is given longer before it is announced.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);
const BAR: usize = 20;

/// What the line is about.
struct Work {
    /// What is being done, and since when; `None` if something else draws the line.
    stage: Option<(&'static str, Instant)>,
    is_drawn: bool,
}

static WORK: Mutex<Work> = Mutex::new(Work { stage: None, is_drawn: false });

fn work() -> MutexGuard<'static, Work> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    fn draw(&mut self, text: &str) {
        self.is_drawn = true;
        // Without wrapping, so that a narrow terminal cuts the line.
        let _ = write!(std::io::stderr().lock(), "\r\x1b[?7l\x1b[2K{text}\x1b[?7h");
        let _ = std::io::stderr().flush();
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
            let _ = std::io::stderr().flush();
        }
    }
}

/// Leaves an empty line, which stays empty as long as what is returned is kept.
#[must_use]
pub(crate) fn pause() -> impl Drop {
    struct Pause(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, Work>);
    impl Drop for Pause {
        fn drop(&mut self) {}
    }
    let mut work = work();
    work.clear();
    Pause(work)
}

fn is_shown() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stderr().is_terminal() && !is_dumb
}

/// Says what is being done from here on; after a while it is shown, with a clock.
pub(crate) fn stage(words: &'static str) {
    work().stage = Some((words, Instant::now()));
}

/// Ends the line for good.
pub(crate) fn finish() {
    let mut work = work();
    work.stage = None;
    work.clear();
}

/// Begins to watch over the work of a command.
pub(crate) fn watch() {
    if !is_shown() {
        return;
    }
    // Ends with the program.
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(REDRAW);
            let mut work = work();
            if let Some((words, since)) = work.stage
                && since.elapsed() >= PATIENCE
            {
                let text = format!("{words} …  {}", clock(since.elapsed().as_secs_f64()));
                work.draw(&text);
            }
        }
    });
}

/// The line of a run.
pub(crate) struct ProgressLine {
    is_shown: bool,
    begun: Option<Instant>,
    drawn: Option<Instant>,
}

impl ProgressLine {
    pub fn new() -> ProgressLine {
        ProgressLine { is_shown: is_shown(), begun: None, drawn: None }
    }

    /// To be called at each step; draws when it is time to.
    pub fn step(&mut self, progress: Progress) {
        self.draw(|seconds| line(progress, seconds));
    }

    /// The same of a study, after each case.
    pub fn case(&mut self, progress: study::Progress) {
        self.draw(|seconds| cases(progress, seconds));
    }

    fn draw(&mut self, text: impl FnOnce(f64) -> String) {
        if !self.is_shown {
            return;
        }
        let now = Instant::now();
        let begun = match self.begun {
            Some(begun) => begun,
            None => {
                // From here on the run itself tells how far it is.
                work().stage = None;
                *self.begun.insert(now)
            }
        };
        let is_due = match self.drawn {
            None => now - begun >= QUIET,
            Some(last) => now - last >= REDRAW,
        };
        if is_due {
            self.drawn = Some(now);
            work().draw(&text((now - begun).as_secs_f64()));
        }
    }

    /// Leaves an empty line.
    pub fn clear(&mut self) {
        self.drawn = None;
        work().clear();
    }
}

fn cases(progress: study::Progress, seconds: f64) -> String {
    let study::Progress { finished, own, failed, count } = progress;
    let part = finished as f64 / count.max(1) as f64;
    let rate = own as f64 / seconds;
    let left = (count - finished) as f64 / rate;
    let failed = if failed > 0 { format!("  {failed} failed") } else { String::new() };
    format!(
        "{} {:3.0} %  {finished} of {count} cases  {}/s{failed}  {} left",
        bar(part),
        (100.0 * part).floor(),
        short(rate),
        clock(left)
    )
}

fn bar(part: f64) -> String {
    let full = (part * BAR as f64) as usize;
    "█".repeat(full) + &"░".repeat(BAR - full)
}

fn line(progress: Progress, seconds: f64) -> String {
    let Progress { t, start, end, steps } = progress;
    let whole = end - start;
    let part = if whole == 0.0 { 1.0 } else { ((t - start) / whole).clamp(0.0, 1.0) };
    let bar = bar(part);
    let rate = (t - start).abs() / seconds;
    let left = if part > 0.0 { seconds * (1.0 - part) / part } else { f64::INFINITY };
    format!(
        "{bar} {:3.0} %  t = {} of {}  {} s/s  {steps} steps  {} left",
        (100.0 * part).floor(),
        short(t),
        short(end),
        short(rate),
        clock(left)
    )
}

/// Three digits or so.
fn short(x: f64) -> String {
    match x.abs() {
        a if a == 0.0 || (0.01..1e6).contains(&a) => {
            let digits = if a >= 100.0 { 0 } else { 2 };
            let text = format!("{x:.digits$}");
            if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').into() }
        }
        _ => format!("{x:.1e}"),
    }
}

/// `12 s`, `3:05 min`, `2:10 h`.
fn clock(seconds: f64) -> String {
    match seconds.round() {
        s if s.is_nan() || s >= 1e7 => "long".to_owned(),
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{}:{:02} min", s as u64 / 60, s as u64 % 60),
        s => format!("{}:{:02} h", s as u64 / 3600, s as u64 / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_time_rate_and_what_is_left() {
        let progress = Progress { t: 4.25, start: 0.0, end: 10.0, steps: 1234 };
        assert_eq!(
            line(progress, 2.0),
            "████████░░░░░░░░░░░░  42 %  t = 4.25 of 10  2.12 s/s  1234 steps  3 s left"
        );
        let backwards = Progress { t: -7.5, start: 0.0, end: -1e7, steps: 1 };
        assert_eq!(
            line(backwards, 1.0),
            "░░░░░░░░░░░░░░░░░░░░   0 %  t = -7.5 of -1.0e7  7.5 s/s  1 steps  370:22 h left"
        );
        let nowhere = Progress { t: 0.0, start: 0.0, end: 0.0, steps: 0 };
        assert!(line(nowhere, 0.0).contains("100 %"));
    }

    #[test]
    fn a_study_tells_cases_rate_and_what_is_left() {
        let progress = study::Progress { finished: 600, own: 100, failed: 2, count: 1000 };
        assert_eq!(
            cases(progress, 2.0),
            "████████████░░░░░░░░  60 %  600 of 1000 cases  50/s  2 failed  8 s left"
        );
    }

    #[test]
    fn times_are_short() {
        assert_eq!(clock(59.4), "59 s");
        assert_eq!(clock(185.0), "3:05 min");
        assert_eq!(clock(7800.0), "2:10 h");
        assert_eq!(clock(f64::INFINITY), "long");
    }
}
