//! What is varied, as it is written.
//!
//! ```text
//! m = 1..2:0.1          from 1 to 2 in steps of 0.1
//! m = 1..2              anywhere between, evenly
//! m = {1, 2, 5}         these
//! x ~ normal(0, 0.1)    mean and deviation
//! x ~ uniform(-1, 1)    the same as x = -1..1
//! x ~ lognormal(0, 1)   exp of a normal one
//! ```
//!
//! Numbers may be written as the language writes constants (`pi/2`): who reads them is given.

use crate::sampling::normal;

/// A quantity that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name, as written.
    pub name: String,
    /// How.
    pub law: Law,
}

/// How a quantity is varied.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// These values.
    List(Vec<f64>),
    /// Evenly between two values.
    Between(f64, f64),
    /// By its mean and deviation.
    Normal(f64, f64),
    /// exp of what has this mean and deviation.
    LogNormal(f64, f64),
}

/// What is wrong with what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// In words.
    pub words: String,
    /// The piece of the text that it is about.
    pub piece: String,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.piece, self.words)
    }
}

/// Most values of one axis.
const MOST: f64 = 1e9;

impl Law {
    /// The value at a place in 0 < u < 1; for a list, the entry there.
    pub fn at(&self, u: f64) -> f64 {
        match self {
            Law::List(values) => values[((u * values.len() as f64) as usize).min(values.len() - 1)],
            Law::Between(from, to) => from + u * (to - from),
            Law::Normal(mean, deviation) => mean + deviation * normal(u),
            Law::LogNormal(mean, deviation) => (mean + deviation * normal(u)).exp(),
        }
    }
}

/// Reads axes. `number` reads a constant.
pub fn parse(text: &str, number: &dyn Fn(&str) -> Result<f64, String>) -> Result<Vec<Axis>, Wrong> {
    let mut axes: Vec<Axis> = Vec::new();
    for piece in pieces(text) {
        let axis = parse_one(piece, number)?;
        if axes.iter().any(|other| other.name == axis.name) {
            return Err(wrong(piece, format!("`{}` is varied twice", axis.name)));
        }
        axes.push(axis);
    }
    match axes.is_empty() {
        true => Err(wrong(text.trim(), "nothing is varied; write `m = 1..2:0.1`".to_owned())),
        false => Ok(axes),
    }
}

fn wrong(piece: &str, words: String) -> Wrong {
    Wrong { words, piece: piece.trim().to_owned() }
}

/// A text at the commas that are in no bracket.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut from, mut found) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' | ';' if depth <= 0 => {
                found.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[from..]);
    found.into_iter().filter(|piece| !piece.trim().is_empty())
}

fn parse_one(piece: &str, number: &dyn Fn(&str) -> Result<f64, String>) -> Result<Axis, Wrong> {
    let fail = |words: String| wrong(piece, words);
    let value = |text: &str| match number(text.trim()) {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(fail(format!("`{}` is not a finite number", text.trim()))),
        Err(words) => Err(fail(words)),
    };
    let (name, law, is_law) = match (piece.split_once('~'), piece.split_once('=')) {
        (Some((name, law)), None) => (name, law, true),
        (None, Some((name, law))) => (name, law, false),
        _ => {
            let words = "write `NAME = FROM..TO:STEP`, `NAME = {A, B}` or `NAME ~ normal(M, D)`";
            return Err(fail(words.to_owned()));
        }
    };
    let (name, law) = (name.trim().to_owned(), law.trim());
    if name.is_empty() {
        return Err(fail("what is varied has no name".to_owned()));
    }
    let law = match is_law {
        true => distribution(law, &value, &fail)?,
        false => values(law, &value, &fail)?,
    };
    Ok(Axis { name, law })
}

type Value<'a> = dyn Fn(&str) -> Result<f64, Wrong> + 'a;
type Fail<'a> = dyn Fn(String) -> Wrong + 'a;

fn distribution(law: &str, value: &Value<'_>, fail: &Fail<'_>) -> Result<Law, Wrong> {
    let known = "`normal(MEAN, DEVIATION)`, `lognormal(MEAN, DEVIATION)`, `uniform(FROM, TO)`";
    let Some((kind, rest)) = law.split_once('(') else {
        return Err(fail(format!("a law is one of {known}")));
    };
    let Some(inside) = rest.trim_end().strip_suffix(')') else {
        return Err(fail("a bracket is not closed".to_owned()));
    };
    let arguments: Vec<&str> = pieces(inside).collect();
    let [a, b] = arguments[..] else {
        return Err(fail(format!("a law has two numbers: {known}")));
    };
    let (a, b) = (value(a)?, value(b)?);
    match kind.trim() {
        "normal" | "lognormal" if b <= 0.0 => Err(fail("a deviation is above 0".to_owned())),
        "normal" => Ok(Law::Normal(a, b)),
        "lognormal" => Ok(Law::LogNormal(a, b)),
        "uniform" if a < b => Ok(Law::Between(a, b)),
        "uniform" => Err(fail("its end is not above its beginning".to_owned())),
        other => Err(fail(format!("there is no law `{other}`; there are {known}"))),
    }
}

fn values(law: &str, value: &Value<'_>, fail: &Fail<'_>) -> Result<Law, Wrong> {
    if let Some(inside) = law.strip_prefix('{') {
        let Some(inside) = inside.strip_suffix('}') else {
            return Err(fail("a bracket is not closed".to_owned()));
        };
        let list: Vec<f64> = pieces(inside).map(value).collect::<Result<_, _>>()?;
        return match list.is_empty() {
            true => Err(fail("there are no values".to_owned())),
            false => Ok(Law::List(list)),
        };
    }
    let Some((from, rest)) = law.split_once("..") else {
        return Ok(Law::List(vec![value(law)?]));
    };
    let from = value(from)?;
    let Some((to, step)) = rest.split_once(':') else {
        let to = value(rest)?;
        return match from < to {
            true => Ok(Law::Between(from, to)),
            false => Err(fail("its end is not above its beginning".to_owned())),
        };
    };
    let (to, step) = (value(to)?, value(step)?);
    // The end belongs to it, but for what steps leave of it by rounding.
    let count = ((to - from) / step * (1.0 + 1e-12) + 1e-9).floor();
    if step == 0.0 || count < 0.0 {
        return Err(fail("its steps do not lead to its end".to_owned()));
    }
    if count >= MOST {
        return Err(fail(format!("these are {count:.0} values")));
    }
    // By whole steps, so that rounding does not add up; the last is the end itself if it is met.
    let mut list: Vec<f64> = (0..=count as u64).map(|k| from + step * k as f64).collect();
    if let Some(last) = list.last_mut()
        && (*last - to).abs() <= 1e-9 * step.abs()
    {
        *last = to;
    }
    Ok(Law::List(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Axis>, Wrong> {
        parse(text, &|number| number.parse().map_err(|_| format!("`{number}` is no number")))
    }

    #[test]
    fn axes_are_read_as_they_are_written() {
        let axes =
            read("m = 1..2:0.25, th[1,2]' ~ normal(0, 0.5), k = {1, 2, 5}, L=-1..1").unwrap();
        let names: Vec<&str> = axes.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["m", "th[1,2]'", "k", "L"]);
        assert_eq!(axes[0].law, Law::List(vec![1.0, 1.25, 1.5, 1.75, 2.0]));
        assert_eq!(axes[1].law, Law::Normal(0.0, 0.5));
        assert_eq!(axes[2].law, Law::List(vec![1.0, 2.0, 5.0]));
        assert_eq!(axes[3].law, Law::Between(-1.0, 1.0));
        let tenths = &read("m = 0..1:0.1").unwrap()[0].law;
        let Law::List(tenths) = tenths else { panic!("{tenths:?}") };
        assert_eq!((tenths.len(), tenths[10]), (11, 1.0));
        let down = read("m = 2..1:-0.5").unwrap();
        assert_eq!(down[0].law, Law::List(vec![2.0, 1.5, 1.0]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("", "nothing is varied"),
            ("m", "write `NAME = FROM..TO:STEP`"),
            ("= 1..2", "no name"),
            ("m = 1..x", "`x` is no number"),
            ("m = 2..1", "not above its beginning"),
            ("m = 1..2:0", "do not lead to its end"),
            ("m = 1..2:-1", "do not lead to its end"),
            ("m = 0..1:1e-12", "values"),
            ("m = {}", "no values"),
            ("m = {1, 2", "not closed"),
            ("m ~ normal(1)", "two numbers"),
            ("m ~ normal(1, -1)", "above 0"),
            ("m ~ cauchy(0, 1)", "no law `cauchy`"),
            ("m ~ normal", "a law is one of"),
            ("m = 1..2, m = 3", "varied twice"),
        ];
        for (text, expected) in cases {
            let error = read(text).expect_err(text);
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
    }
}
