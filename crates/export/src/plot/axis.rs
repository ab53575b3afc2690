//! An axis: its range, its ticks and what is written at them.

/// A range of values, mapped to a range of the picture.
pub(super) struct Axis {
    low: f64,
    high: f64,
    /// Where `low` and `high` lie in the picture.
    ends: (f64, f64),
    /// Values of the ticks and their labels.
    pub(super) ticks: Vec<(f64, String)>,
    /// What is left out of the labels, such as `×10⁶`; may be empty.
    pub(super) note: String,
}

impl Axis {
    /// An axis over this range, which is empty if its low end is the higher one. `margin` is a
    /// fraction of it, `gap` the least distance of ticks in the picture.
    pub(super) fn new(range: (f64, f64), margin: f64, ends: (f64, f64), gap: f64) -> Axis {
        let (low, high) = widen(range, margin);
        Axis::over(low, high, ends, gap)
    }

    /// An axis over exactly this range.
    pub(super) fn over(low: f64, high: f64, ends: (f64, f64), gap: f64) -> Axis {
        let most = ((ends.1 - ends.0).abs() / gap).max(2.0);
        let (ticks, note) = ticks(low, high, most);
        Axis { low, high, ends, ticks, note }
    }

    /// Where a value lies in the picture.
    pub(super) fn place(&self, value: f64) -> f64 {
        // Halves, since a range of doubles need not be one.
        let part = (0.5 * value - 0.5 * self.low) / (0.5 * self.high - 0.5 * self.low);
        self.ends.0 + part * (self.ends.1 - self.ends.0)
    }
}

/// A range with some room, and one that is not empty.
pub(super) fn widen((low, high): (f64, f64), margin: f64) -> (f64, f64) {
    if low > high {
        return (0.0, 1.0);
    }
    let size = low.abs().max(high.abs());
    // Zero, or so small that a part of it would not be a number of full precision.
    if size < 1e-290 {
        return (-1.0, 1.0);
    }
    // A constant, as far as rounding tells.
    if high - low <= 1e-13 * size {
        let room = 0.1 * size;
        return ((low - room).max(f64::MIN), (high + room).min(f64::MAX));
    }
    let room = (margin * (0.5 * high - 0.5 * low)) * 2.0;
    ((low - room).max(f64::MIN), (high + room).min(f64::MAX))
}

/// Ticks at round values, no more than so many, and what their labels leave out.
fn ticks(low: f64, high: f64, most: f64) -> (Vec<(f64, String)>, String) {
    // Divided by `most` first: the range itself may be beyond the largest double.
    let raw = high / most - low / most;
    let decade = raw.log10().floor();
    let mut power = decade as i32;
    let mut digit = 10;
    for candidate in [1, 2, 5] {
        if f64::from(candidate) * ten(power) >= raw * (1.0 - 1e-9) {
            digit = candidate;
            break;
        }
    }
    if digit == 10 {
        digit = 1;
        power += 1;
    }
    let step = f64::from(digit) * ten(power);
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    let largest = low.abs().max(high.abs());
    // Far from zero: the labels tell the distance from a round value.
    let offset = if largest / step > 1e5 { (0.5 * (first + last)).round() } else { 0.0 };
    let shown = |k: f64| k - offset;
    let extent = shown(first).abs().max(shown(last).abs()) * step;
    // Beyond these, powers of ten are left out of the labels.
    let scale = if extent >= 1e5 || (extent > 0.0 && extent < 1e-2) {
        extent.log10().floor() as i32
    } else {
        0
    };
    let decimals = (scale - power).max(0) as usize;
    let count = (last - first).clamp(0.0, 50.0) as usize;
    let list = (0..=count)
        .map(|at| {
            let k = first + at as f64;
            // From whole numbers, so that labels are round.
            let label = shown(k) * f64::from(digit) * ten(power - scale);
            (k * step, minus(format!("{label:.decimals$}")))
        })
        .collect();
    let mut note = String::new();
    if scale != 0 {
        note = format!("×10{}", superscript(scale));
    }
    if offset != 0.0 {
        let digits = ((largest / step).log10().ceil() as usize).min(17);
        let value = offset * step;
        let magnitude = value.abs().log10().floor();
        let text = if (-3.0..6.0).contains(&magnitude) {
            format!("{value:.0$}", (digits as i32 - magnitude as i32).clamp(0, 17) as usize)
        } else {
            format!("{value:.digits$e}")
        };
        let text = if text.contains('.') && !text.contains('e') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        };
        let sign = if value < 0.0 { "" } else { "+ " };
        note = format!("{note} {sign}{}", minus(text)).trim().to_owned();
    }
    (list, note)
}

/// 10ⁿ, exact where it can be.
fn ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

/// With a minus sign, and without one before zero.
fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

fn superscript(number: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
    };
    number.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> (Vec<String>, String) {
        let (list, note) = ticks(low, high, 6.0);
        for (value, label) in &list {
            assert!(value.is_finite() && !label.contains("NaN"), "{low} … {high}: {list:?}");
        }
        (list.into_iter().map(|t| t.1).collect(), note)
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(0.0, 10.0).0, ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.31, 0.42).0, ["−0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(
            labels(-1e-9, 1.2e-8),
            (["0.0", "0.5", "1.0"].map(String::from).into(), "×10⁻⁸".into())
        );
        assert_eq!(
            labels(0.0, 4e7),
            (["0", "1", "2", "3", "4"].map(String::from).into(), "×10⁷".into())
        );
        let (list, note) = labels(16.024_019_8, 16.024_019_801);
        assert!(note.contains("×10⁻¹⁰ + 16.02401980"), "{list:?} {note}");
    }

    #[test]
    fn every_range_has_ticks() {
        for (low, high) in [
            (0.0, 5e-324),
            (f64::MIN, f64::MAX),
            (1e-300, 3e-300),
            (1e300, 1.5e300),
            (-7.0, -7.0),
            (0.0, 0.0),
            (1.0, 1.0 + 1e-12),
            (-1e15, 1e-15),
        ] {
            let (low, high) = widen((low, high), 0.05);
            assert!(low < high, "{low} {high}");
            let (list, _) = labels(low, high);
            assert!((1..=12).contains(&list.len()), "{low} … {high}: {list:?}");
            let axis = Axis::new((low, high), 0.0, (0.0, 100.0), 15.0);
            assert!(axis.place(low).abs() < 1.0 && (axis.place(high) - 100.0).abs() < 1.0);
        }
        assert_eq!(widen((f64::INFINITY, f64::NEG_INFINITY), 0.1), (0.0, 1.0));
    }
}
