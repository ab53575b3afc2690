//! Forces in time that are nothing where a motion begins, or next to nothing: powers, Gaussians,
//! steps that are smooth, what grows.

use dalembert::expr::Random;

/// The end of the time they are looked at.
pub const END: f64 = 10.0;

/// A force, as text and as a function of time.
pub struct Push {
    pub text: String,
    pub force: Box<dyn Fn(f64) -> f64>,
}

pub fn push(random: &mut Random) -> Push {
    let digits = |x: f64| (1000.0 * x).round() / 1000.0;
    let size = 10f64.powf((8.0 * random.signed()).round());
    let at = digits(5.5 + 3.5 * random.signed());
    let (kind, sharp) = (random.below(5), 10f64.powf(1.5 + 1.5 * random.signed()));
    let sharp = digits(sharp);
    match kind {
        0 => {
            let n = 2 + random.below(60) as i32;
            let text = format!("{size:e}*(t/8)^{n}");
            Push { text, force: Box::new(move |t| size * (t / 8.0).powi(n)) }
        }
        1 | 2 => {
            let text = format!("{size:e}*exp(-{sharp}*(t - {at})^2)");
            let force = move |t: f64| size * (-sharp * (t - at) * (t - at)).exp();
            Push { text, force: Box::new(force) }
        }
        3 => {
            let sharp = digits(sharp.min(60.0));
            let text = format!("{size:e}*exp({sharp}*(t - 10))");
            Push { text, force: Box::new(move |t| size * (sharp * (t - 10.0)).exp()) }
        }
        _ => {
            let sharp = digits(sharp.min(60.0));
            let text = format!("{size:e}*(1 + tanh({sharp}*(t - {at})))");
            let force = move |t: f64| size * (1.0 + (sharp * (t - at)).tanh());
            Push { text, force: Box::new(force) }
        }
    }
}

/// What the force gives a free unit mass from rest: how far it is at the end, and how fast.
pub fn free(push: &Push) -> [f64; 2] {
    let intervals = 100_000;
    let h = END / f64::from(intervals);
    let mut sums = [0.0; 2];
    for k in 0..=intervals {
        let t = h * f64::from(k);
        let weight = match k {
            0 => 1.0,
            k if k == intervals => 1.0,
            k if k % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let part = weight * h / 3.0 * (push.force)(t);
        sums[0] += (END - t) * part;
        sums[1] += part;
    }
    sums
}
