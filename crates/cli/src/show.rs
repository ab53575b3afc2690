//! What `--show` asks for: `theta1, theta2`, `y against x`.
//!
//! Quantities are separated by commas. One that has no `against` of its own takes
//! that of the next one that has, as in "y1, y2 against x"; else it is shown against
//! time.

use dalembert::export::plot::{Curve, Figure, Panel};
use dalembert::export::quantity::Quantity;
use dalembert::export::table::Columns;

/// The quantities of one panel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    pairs: Vec<Pair>,
}

/// One quantity and what it is shown against.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    y: String,
    x: String,
}

impl Shown {
    /// Reads a text of `--show`.
    pub fn parse(text: &str) -> Result<Shown, String> {
        let mut pairs = Vec::new();
        let mut x = "t".to_owned();
        for piece in pieces(text).into_iter().rev() {
            let mut y = piece.clone();
            if let Some((left, right)) = split_word(&piece) {
                (y, x) = (left, right);
            }
            let (y, x) = (squeeze(&y), squeeze(&x));
            if y.is_empty() || x.is_empty() {
                return Err(format!("--show: a quantity is missing in `{}`", squeeze(text)));
            }
            pairs.push(Pair { y, x });
        }
        pairs.reverse();
        Ok(Shown { pairs })
    }

    /// Every coordinate against time, as far as they can be told apart.
    pub fn coordinates(names: impl Iterator<Item = String>) -> Shown {
        let most = 14;
        Shown { pairs: names.take(most).map(|y| Pair { y, x: "t".to_owned() }).collect() }
    }

    /// What the model has to observe for it, as texts of `observe`.
    pub fn observes(&self) -> Vec<String> {
        let all = self.pairs.iter().flat_map(|pair| [&pair.x, &pair.y]);
        all.filter(|text| *text != "t").cloned().collect()
    }
}

/// Panels whose quantities are found among the columns.
pub(crate) struct Chosen {
    panels: Vec<Vec<(usize, usize)>>,
    /// The columns that are needed, and their values so far.
    columns: Vec<usize>,
    values: Vec<Vec<f64>>,
}

impl Chosen {
    pub fn new(shown: &[Shown], columns: &Columns) -> Result<Chosen, String> {
        let mut panels = Vec::new();
        // Time, for the marks of events.
        let mut needed = vec![0];
        for panel in shown {
            let mut curves = Vec::new();
            for pair in &panel.pairs {
                let (xs, ys) = (find(columns, &pair.x)?, find(columns, &pair.y)?);
                // Vectors go together entry by entry, or all with one quantity.
                if xs.len() != 1 && xs.len() != ys.len() {
                    return Err(format!(
                        "--show: `{}` has {} entries, `{}` has {}",
                        pair.y,
                        ys.len(),
                        pair.x,
                        xs.len()
                    ));
                }
                for (at, &y) in ys.iter().enumerate() {
                    curves.push((xs[at % xs.len()], y));
                }
            }
            needed.extend(curves.iter().flat_map(|&(x, y)| [x, y]));
            panels.push(curves);
        }
        needed.sort_unstable();
        needed.dedup();
        let values = vec![Vec::new(); needed.len()];
        Ok(Chosen { panels, columns: needed, values })
    }

    /// Takes what is needed of a row.
    pub fn row(&mut self, row: &[f64]) {
        for (&column, values) in self.columns.iter().zip(&mut self.values) {
            values.push(row[column]);
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.values.iter_mut().for_each(Vec::clear);
    }

    /// The figure of all rows.
    pub fn figure(&self, title: &str, columns: &Columns) -> Figure {
        let values = |column: usize| {
            let at = self.columns.binary_search(&column).unwrap_or(0);
            self.values[at].clone()
        };
        let label = |column: usize| columns.labels[column].clone();
        let panel = |curves: &Vec<(usize, usize)>| {
            let mut across: Vec<usize> = curves.iter().map(|c| c.0).collect();
            across.dedup();
            let is_mixed = across.len() > 1;
            let curve = |(style, &(x, y)): (usize, &(usize, usize))| {
                let label = match is_mixed {
                    true => format!("{} against {}", label(y), label(x)),
                    false => label(y),
                };
                let (kind, t) = (columns.kinds[y], values(0));
                Curve { label, kind, style, t, x: values(x), y: values(y) }
            };
            let x_label = across.iter().map(|&x| label(x)).collect::<Vec<_>>().join(", ");
            let mut kinds = across.iter().map(|&x| columns.kinds[x]);
            let first = kinds.next().unwrap_or_default();
            let x_kind = if kinds.all(|kind| kind == first) { first } else { Quantity::Other };
            Panel { x_label, x_kind, curves: curves.iter().enumerate().map(curve).collect() }
        };
        let panels = self.panels.iter().map(panel).collect();
        Figure { title: title.to_owned(), panels, ..Figure::default() }.divided()
    }
}

/// The column of a quantity, or those of the entries of a vector.
fn find(columns: &Columns, name: &str) -> Result<Vec<usize>, String> {
    let names = columns.names.iter().enumerate();
    if let Some((at, _)) = names.clone().find(|(_, column)| *column == name) {
        return Ok(vec![at]);
    }
    let is_entry = |column: &str| {
        let rest = column.strip_prefix(name).and_then(|rest| rest.strip_prefix('['));
        rest.is_some_and(|rest| rest.ends_with(']') || rest.ends_with("]'"))
    };
    let found: Vec<usize> = names.filter(|(_, c)| is_entry(c)).map(|(at, _)| at).collect();
    match found.len() {
        0 => Err(format!("--show: there is no quantity `{name}`")),
        _ => Ok(found),
    }
}

/// Splits at commas outside of brackets.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let mut depth = 0i32;
    let mut list = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match list.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => list.push(String::new()),
        }
    }
    list
}

/// Splits at the word `against`.
fn split_word(text: &str) -> Option<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "against")?;
    Some((words[..at].join(" "), words[at + 1..].join(" ")))
}

/// As the names of outputs are written.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let shown = Shown::parse(text).expect("it is well written");
        shown.pairs.into_iter().map(|pair| (pair.y, pair.x)).collect()
    }

    fn pair(y: &str, x: &str) -> (String, String) {
        (y.to_owned(), x.to_owned())
    }

    #[test]
    fn quantities_are_against_time_unless_told() {
        assert_eq!(pairs("a, r[1,  2]"), [pair("a", "t"), pair("r[1, 2]", "t")]);
        assert_eq!(pairs("y against x"), [pair("y", "x")]);
        assert_eq!(pairs("y1, y2 against x"), [pair("y1", "x"), pair("y2", "x")]);
        assert_eq!(
            pairs("y1 against x1, y2 against x2, z"),
            [pair("y1", "x1"), pair("y2", "x2"), pair("z", "t")]
        );
        for wrong in ["", "x,", "against x", "y against"] {
            assert!(Shown::parse(wrong).is_err(), "{wrong}");
        }
    }
}
