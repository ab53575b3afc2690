//! The Whipple bicycle of the gallery, upright and straight ahead: the eigenvalues of its two
//! modes against speed, and between which speeds it is stable by itself.
//!
//! ```text
//! cargo run --release --example bicycle
//! ```
//!
//! All of it comes from the nonlinear model with nine coordinates and six rolling conditions; the
//! eight zero eigenvalues (place, heading, wheel angles, speed, height and pitch) are told apart
//! by `linearize` itself.

use dalembert::analyze::linearize::{Linearization, linearize};
use dalembert::simulate::Setting;
use dalembert::{Input, Options};
use std::error::Error;

fn at_speed(speed: f64) -> Result<Linearization, Box<dyn Error>> {
    let input = Input::open("gallery:whipple-bicycle").map_err(|e| e.message)?;
    let options = Options { set: vec![format!("x'={speed:?}")], ..Options::default() };
    let model = dalembert::load(&input, &options).model.ok_or("the model has faults")?;
    let setting = Setting::new(&model).map_err(|missing| missing.to_string())?;
    linearize(&setting).map_err(|error| format!("{error:?}").into())
}

/// The real part of the weave pair.
fn weave(speed: f64) -> Result<f64, Box<dyn Error>> {
    let found = at_speed(speed)?;
    let pair = found.spectrum.modes.iter().find(|m| m.value[1] > 0.0).ok_or("no pair")?;
    Ok(pair.value[0])
}

/// The larger of the real eigenvalues; 0 where it is counted among the zeros.
fn capsize(speed: f64) -> Result<f64, Box<dyn Error>> {
    let found = at_speed(speed)?;
    let reals: Vec<f64> =
        found.spectrum.modes.iter().filter(|m| m.value[1] == 0.0).map(|m| m.value[0]).collect();
    Ok(if reals.len() == 2 { reals[0] } else { 0.0 })
}

/// Where a function changes its sign, by false position (the Illinois method).
fn root(
    mut a: f64,
    mut b: f64,
    f: impl Fn(f64) -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let (mut fa, mut fb) = (f(a)?, f(b)?);
    for _ in 0..40 {
        let c = b - fb * (b - a) / (fb - fa);
        let fc = f(c)?;
        if fc == 0.0 || (c - b).abs() <= 1e-13 * c.abs() {
            return Ok(c);
        }
        if fc * fb < 0.0 {
            (a, fa) = (b, fb);
        } else {
            fa /= 2.0;
        }
        (b, fb) = (c, fc);
    }
    Ok(b)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("speed  eigenvalues");
    for speed in 0..=10 {
        let found = at_speed(f64::from(speed))?;
        let mut words = Vec::new();
        for mode in &found.spectrum.modes {
            match mode.value {
                [re, 0.0] => words.push(format!("{re:.10}")),
                [re, im] if im > 0.0 => words.push(format!("{re:.10} ± {im:.10} i")),
                _ => {}
            }
        }
        println!("{speed:>5}  {}   {}", words.join(", "), found.stability.name());
    }
    println!("weave speed    {:.10}", root(4.0, 4.6, weave)?);
    println!("capsize speed  {:.10}", root(5.8, 6.2, capsize)?);
    Ok(())
}
