//! The values of each case, from its number alone.
//!
//! A grid takes every value of every list with every other, the last axis fastest. Other ways take
//! as many cases as are asked for, each axis by its law. A table has its cases written down.

use crate::axes::{Axis, Law};
use crate::sampling::{self, GRID, Way};

/// Cases.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is varied.
    pub names: Vec<String>,
    kind: Kind,
    count: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Grid(Vec<Vec<f64>>),
    Sampled { laws: Vec<Law>, way: &'static str, seed: u64 },
    Listed(Vec<f64>),
}

/// What was asked for of axes.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a> {
    /// The name of the way; by default a grid, or random places where an axis has no list.
    pub sampling: Option<&'a str>,
    /// How many cases; a grid has as many as it has.
    pub samples: Option<u64>,
    /// The seed.
    pub seed: u64,
}

/// A part of a study is a byte of memory and a file or two in one folder.
const MOST: u64 = 1 << 36;

impl Plan {
    /// A plan of axes; words on what does not go together.
    pub fn new(axes: Vec<Axis>, asked: &Asked<'_>) -> Result<Plan, String> {
        let open = axes.iter().find(|axis| !matches!(axis.law, Law::List(_)));
        let by_default = if open.is_some() || asked.samples.is_some() { "random" } else { GRID };
        let name = asked.sampling.unwrap_or(by_default);
        let names = axes.iter().map(|axis| axis.name.clone()).collect();
        let laws: Vec<Law> = axes.iter().map(|axis| axis.law.clone()).collect();
        if name == GRID {
            return grid(names, &axes, asked);
        }
        let Some(&Way { name, axes, .. }) = sampling::by_name(name) else {
            let known = sampling::ALL.iter().map(|way| way.name);
            let known: Vec<String> =
                [GRID].into_iter().chain(known).map(|n| format!("`{n}`")).collect();
            return Err(format!("there is no sampling `{name}`; there are {}", known.join(", ")));
        };
        if laws.len() > axes {
            return Err(format!("`{name}` has {axes} axes, and {} are varied", laws.len()));
        }
        match asked.samples {
            None => Err(match open {
                Some(axis) => format!(
                    "`{}` has no end of values: say how many cases with `--samples N`",
                    axis.name
                ),
                None => "say how many cases with `--samples N`".to_owned(),
            }),
            Some(count @ 1..=MOST) => {
                Ok(Plan { names, kind: Kind::Sampled { laws, way: name, seed: asked.seed }, count })
            }
            Some(count) => Err(format!("{count} is no number of cases: there may be 1 to {MOST}")),
        }
    }

    /// The cases of a table, row after row.
    pub fn of_table(names: Vec<String>, values: Vec<f64>) -> Plan {
        let count = (values.len() / names.len().max(1)) as u64;
        Plan { names, kind: Kind::Listed(values), count }
    }

    /// The names and numbers of a table, if the cases are one's.
    pub fn listed(&self) -> Option<(&[String], &[f64])> {
        match &self.kind {
            Kind::Listed(values) => Some((&self.names, values)),
            _ => None,
        }
    }

    /// How many cases there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The values of a case.
    pub fn values(&self, case: u64, values: &mut [f64]) {
        match &self.kind {
            Kind::Grid(lists) => {
                let mut rest = case;
                for (value, list) in values.iter_mut().zip(lists).rev() {
                    *value = list[(rest % list.len() as u64) as usize];
                    rest /= list.len() as u64;
                }
            }
            Kind::Sampled { laws, way, seed } => {
                let Some(way) = sampling::by_name(way) else { return };
                for (axis, (value, law)) in values.iter_mut().zip(laws).enumerate() {
                    *value = law.at((way.place)(case, axis, *seed));
                }
            }
            Kind::Listed(all) => {
                let n = self.names.len();
                values.copy_from_slice(&all[case as usize * n..(case as usize + 1) * n]);
            }
        }
    }
}

fn grid(names: Vec<String>, axes: &[Axis], asked: &Asked<'_>) -> Result<Plan, String> {
    if asked.samples.is_some() {
        return Err("a grid has as many cases as its values make; leave out `--samples`".to_owned());
    }
    let mut lists = Vec::new();
    let mut count = 1u64;
    for axis in axes {
        let Law::List(list) = &axis.law else {
            let words = "a grid needs a step: `FROM..TO:STEP`, or values `{A, B}`";
            return Err(format!("`{}`: {words}", axis.name));
        };
        let more = count.checked_mul(list.len() as u64).filter(|count| *count <= MOST);
        count = more.ok_or_else(|| format!("these are more than {MOST} cases"))?;
        lists.push(list.clone());
    }
    Ok(Plan { names, kind: Kind::Grid(lists), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(text: &str) -> Vec<Axis> {
        crate::axes::parse(text, &|x| x.parse().map_err(|_| "no number".to_owned())).unwrap()
    }

    fn all(plan: &Plan) -> Vec<Vec<f64>> {
        let mut row = vec![0.0; plan.names.len()];
        (0..plan.count())
            .map(|case| {
                plan.values(case, &mut row);
                row.clone()
            })
            .collect()
    }

    #[test]
    fn a_grid_has_every_value_with_every_other() {
        let plan = Plan::new(axes("a = {1, 2}, b = 0..1:0.5"), &Asked::default()).unwrap();
        let right = [[1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [2.0, 0.0], [2.0, 0.5], [2.0, 1.0]];
        assert_eq!(all(&plan), right);
    }

    #[test]
    fn sampled_cases_depend_on_their_number_and_the_seed_only() {
        for sampling in ["random", "sobol"] {
            let asked =
                |samples, seed| Asked { sampling: Some(sampling), samples: Some(samples), seed };
            let text = "a = 1..3, b ~ normal(5, 2), c = {1, 2}";
            let (few, many) =
                (Plan::new(axes(text), &asked(10, 4)), Plan::new(axes(text), &asked(64, 4)));
            let (few, many) = (all(&few.unwrap()), all(&many.unwrap()));
            assert_eq!(few, many[..10]);
            assert_ne!(few, all(&Plan::new(axes(text), &asked(10, 5)).unwrap()));
            assert!(
                many.iter().all(|row| (1.0..3.0).contains(&row[0]) && [1.0, 2.0].contains(&row[2]))
            );
        }
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let wrong = |text: &str, asked: &Asked<'_>| Plan::new(axes(text), asked).unwrap_err();
        assert!(wrong("a = 0..1", &Asked::default()).contains("--samples"));
        let grid = Asked { sampling: Some("grid"), ..Asked::default() };
        assert!(wrong("a = 0..1", &grid).contains("a grid needs a step"));
        let both = Asked { samples: Some(3), ..grid };
        assert!(wrong("a = {1}", &both).contains("leave out"));
        let unknown = Asked { sampling: Some("halton"), samples: Some(3), seed: 0 };
        assert!(wrong("a = {1}", &unknown).contains("no sampling `halton`"));
        let none = Asked { samples: Some(0), ..Asked::default() };
        assert!(wrong("a = {1}", &none).contains("no number of cases"));
        let many = Asked { samples: Some(MOST + 1), ..Asked::default() };
        assert!(wrong("a = {1}", &many).contains("1 to 68719476736"));
        let digit = "0..9:1";
        let axes: Vec<String> = (0..11).map(|k| format!("a{k} = {digit}")).collect();
        assert!(wrong(&axes.join(", "), &Asked::default()).contains("more than"));
    }
}
