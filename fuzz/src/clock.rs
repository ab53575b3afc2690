//! How long one input takes: processor time of the thread where the system tells it, so that a
//! machine with other work to do is not taken for a hang.

use std::time::{Duration, Instant};

/// Waiting counts too, but less: an input that sleeps hangs as well.
const WAITING: u32 = 20;

/// The time since it was begun.
pub struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    pub fn begin() -> Self {
        Self { wall: Instant::now(), processor: processor() }
    }

    pub fn elapsed(&self) -> Duration {
        let wall = self.wall.elapsed();
        match (self.processor, processor()) {
            (Some(begun), Some(now)) => (now - begun).max(wall / WAITING),
            _ => wall,
        }
    }
}

/// Of this thread, since it began. Linux alone tells it without a call to C.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
