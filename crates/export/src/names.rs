//! Names for what would be too long: parts of formulas that get a letter, and the
//! letters of the theory where the model uses them for something else.

use crate::derivation::Derivation;
use dalembert_derive::Shape;
use dalembert_expr::{ExprId, Notation};
use std::collections::{BTreeMap, BTreeSet};

/// Formulas of more nodes, in text, have their common parts named.
const LONG: u64 = 400;
/// Common parts of fewer nodes are repeated.
const SHARED: u64 = 10;
/// Sums of more nodes inside of a product would not fit on a line of a document.
const ROOM: u64 = 34;

/// The parts of a document's formulas that have names.
#[derive(Default)]
pub(crate) struct Names {
    /// The name of each.
    pub of: BTreeMap<ExprId, String>,
    /// All of them, each before those that hold it.
    pub order: Vec<ExprId>,
}

impl Derivation<'_> {
    /// Every expression that a document shows.
    pub(crate) fn shown_expressions(&self) -> Vec<ExprId> {
        let shown = self.shown();
        let mut all: Vec<ExprId> = self.energies().iter().map(|e| e.1).collect();
        all.push(self.dissipation);
        all.extend(&self.residuals);
        all.extend(&shown.kinematics);
        all.extend(shown.metric.rows.iter().flatten().map(|e| e.1));
        all.extend(shown.force.iter().chain(&shown.nonideal).chain(&shown.bias));
        all.extend(shown.jacobian.rows.iter().flatten().map(|e| e.1));
        all.extend(shown.auxiliary.iter().flat_map(|a| &a.residuals));
        for quantity in &shown.intermediate {
            match &quantity.value {
                Shape::Scalar(value) => all.push(*value),
                Shape::Vector(list) => all.extend(list),
                Shape::Matrix(matrix) => all.extend(matrix.rows.iter().flatten().map(|e| e.1)),
            }
        }
        for row in self.rows.iter().chain(&self.constraint_rows) {
            all.extend([row.left, row.right]);
        }
        all.extend(self.parts.iter().flatten().flat_map(|part| &part.values));
        if let Some(Ok(solved)) = &self.solved {
            all.extend(solved.multipliers.iter().chain(&solved.rates).map(|e| e.1));
        }
        let conditions = self.conditions.iter().flat_map(|c| &c.items);
        all.extend(conditions.flat_map(|item| item.rows.iter().map(|row| row.1)));
        all.extend(self.systems.iter().flat_map(|system| system.k.iter().chain(&system.r)));
        all
    }

    /// The names that a document in this notation needs.
    pub(crate) fn names(&self, notation: Notation) -> Names {
        let all = self.shown_expressions();
        let exprs = self.exprs();
        let parts = match notation {
            Notation::Latex => exprs.parts_to_name(&all, u64::MAX, ROOM),
            _ if all.iter().all(|&id| exprs.count_tree_size(id) <= LONG) => Vec::new(),
            _ => exprs.parts_to_name(&all, SHARED, u64::MAX),
        };
        let prefix = self.free_letter(&["z", "w", "h", "c", "y", "a"]);
        let of = parts.iter().enumerate().map(|(at, &id)| {
            let name = notation.name(&format!("{prefix}{}", at + 1), 0);
            (id, name)
        });
        Names { of: of.collect(), order: parts }
    }

    /// The first letter that no name of the model begins with.
    fn free_letter(&self, letters: &[&'static str]) -> &'static str {
        let used = self.model_names();
        let is_free = |letter: &&&str| !used.iter().any(|name| name.starts_with(**letter));
        letters.iter().find(is_free).copied().unwrap_or("part")
    }

    fn model_names(&self) -> BTreeSet<&str> {
        let system = self.system();
        let coordinates = system.coordinates.iter().map(|c| c.name.as_str());
        let parameters = system.parameters.iter().map(|p| p.name.as_str());
        let speeds = system.speeds.iter().map(|s| s.name.as_str());
        let inputs = system.inputs.iter().map(|u| u.name.as_str());
        let states = system.states.iter().map(|z| z.name.as_str());
        coordinates.chain(parameters).chain(speeds).chain(inputs).chain(states).collect()
    }

    /// Whether the model has a letter for its own, alone or with an index.
    fn is_taken(&self, letter: char) -> bool {
        self.model_names().iter().any(|name| {
            let rest = name.strip_prefix(letter);
            rest.is_some_and(|rest| rest.chars().all(|c| !c.is_alphabetic()))
        })
    }

    /// The letter of an energy: in script where the model has it for its own.
    pub(crate) fn energy_letter(&self, letter: &str, notation: Notation) -> String {
        let is_taken = letter.chars().next().is_some_and(|letter| self.is_taken(letter));
        match (is_taken, notation) {
            (false, _) => letter.to_owned(),
            (true, Notation::Latex) => format!("\\mathcal{{{letter}}}"),
            (true, _) => letter.chars().map(script).collect(),
        }
    }

    /// A letter of the theory in text: bold where the model has it for its own.
    pub(crate) fn letter(&self, letter: &str) -> String {
        let bold = |c: char| match c {
            'A'..='Z' => char::from_u32(0x1D400 + (c as u32 - 'A' as u32)).unwrap_or(c),
            'a'..='z' => char::from_u32(0x1D41A + (c as u32 - 'a' as u32)).unwrap_or(c),
            c => c,
        };
        let plain = letter.chars().next().is_none_or(|first| !self.is_taken(first));
        if plain { letter.to_owned() } else { letter.chars().map(bold).collect() }
    }
}

/// A capital in script. Some stand among the letterlike symbols.
fn script(letter: char) -> char {
    match letter {
        'H' => 'ℋ',
        'L' => 'ℒ',
        'R' => 'ℛ',
        'A'..='Z' => char::from_u32(0x1D49C + (letter as u32 - 'A' as u32)).unwrap_or(letter),
        letter => letter,
    }
}
