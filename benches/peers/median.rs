//! The median of many calls.

use std::time::{Duration, Instant};

/// Seconds of one call, the median of so many at least, and of as many as there is patience for.
pub fn median(patience: Duration, least: usize, mut call: impl FnMut()) -> f64 {
    let clock = Instant::now();
    call();
    let once = clock.elapsed().max(Duration::from_nanos(20));
    let inner = (Duration::from_millis(2).as_nanos() / once.as_nanos()).max(1) as u32;
    let mut times = Vec::new();
    let clock = Instant::now();
    while times.len() < least || clock.elapsed() < patience {
        let own = Instant::now();
        (0..inner).for_each(|_| call());
        times.push(own.elapsed().as_secs_f64() / f64::from(inner));
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
