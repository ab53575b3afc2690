//! Threads that share a compiled system, each with parameters of its own: the period of small
//! swings of a pendulum, by its length. `cargo run --example sweep`.

use dalembert::prelude::*;
use std::f64::consts::PI;
use std::thread;

const MODEL: &str = "
param m = 1, l = 1, g = 9.81
coord x, y
kinetic m/2*(x'^2 + y'^2)
potential m*g*y
constraint rod: x^2 + y^2 = l^2
";

/// 2π/ω with x'' = −ω² x next to the lowest point.
fn period(work: &mut Work, length: f64) -> Result<f64, Error> {
    work.set("l", length)?;
    let aside = 1e-5 * length;
    let position = [aside, -(length * length - aside * aside).sqrt()];
    let a = work.accelerations(0.0, &position, &[0.0, 0.0])?;
    Ok(2.0 * PI / (-a[0] / aside).sqrt())
}

/// A table of lengths and periods.
pub fn main() -> Result<(), Error> {
    let system = dalembert::parse(MODEL)?.compile()?;
    let lengths: Vec<f64> = (1..=12).map(|k| 0.25 * f64::from(k)).collect();
    let part = |lengths: &[f64]| -> Result<Vec<f64>, Error> {
        let mut work = system.work();
        lengths.iter().map(|&length| period(&mut work, length)).collect()
    };
    let parts: Vec<Result<Vec<f64>, Error>> = thread::scope(|scope| {
        let threads: Vec<_> = lengths.chunks(4).map(|own| scope.spawn(|| part(own))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for (own, periods) in lengths.chunks(4).zip(parts) {
        for (length, period) in own.iter().zip(periods?) {
            assert!((period - 2.0 * PI * (length / 9.81).sqrt()).abs() < 1e-6);
            println!("{length:5.2} m  {period:.6} s");
        }
    }
    Ok(())
}
