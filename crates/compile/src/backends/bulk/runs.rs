//! An order of instructions in which those that do the same to neighbors stand together.
//!
//! A register goes where it is reached: numbers, constants and variables at the places of their own
//! numbers, results behind them in the order in which they are computed. Instructions of one kind
//! that are as far from the inputs are independent of each other; among them a run is a list whose
//! operands move on by one place from each to the next; those that do not depend on variables may
//! stay where they are instead. Its results are then neighbors again. What is in no run is a list of places.

use crate::tape::{Instruction, Tape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A shorter run is no gain over a list.
const SHORTEST: usize = 8;

/// When something can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stage {
    /// Before any variable is known.
    Prologue,
    /// When the first of them are.
    First,
    /// When all are.
    Rest,
}

/// Instructions of one kind whose results are neighbors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// One of them.
    pub(super) like: Instruction,
    pub(super) stage: Stage,
    /// The place of the first result. Cosines are behind all sines.
    pub(super) into: usize,
    pub(super) length: usize,
    pub(super) from: From,
}

/// Where a run reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// From a place on, or always there if it does not move.
    Steps([(usize, bool); 3]),
    /// From the places that the list has from there on.
    List(usize),
}

/// A tape as runs.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub(super) list: Vec<Run>,
    /// The places of those that do not step.
    pub(super) places: Vec<[u32; 3]>,
    /// The place of each register.
    pub(super) of: Vec<u32>,
    /// How many instructions are in runs that step.
    pub(super) stepping: usize,
}

/// Instructions that wait for their places.
struct Group {
    like: Instruction,
    stage: Stage,
    /// The operands, by places, and the instruction.
    members: Vec<([u32; 3], usize)>,
}

impl Runs {
    /// Arranges a tape of which so many variables are known first. None if it has instructions that
    /// do not come in runs, or would be more than `most` of them.
    pub(super) fn new(tape: &Tape, first_variables: usize, most: usize) -> Option<Runs> {
        let first = tape.first_instruction();
        let late = tape.first_variable() + first_variables..first;
        let mut runs = Runs {
            list: Vec::new(),
            places: Vec::new(),
            of: (0..tape.registers() as u32).collect(),
            stepping: 0,
        };
        let mut next = first;
        let variables = tape.first_variable()..first;
        let mut kept = first;
        for group in groups(tape, &late, most)? {
            let group = group.placed(tape, &runs.of);
            runs.take(&group, &variables, &mut next, kept);
            if group.stage == Stage::Prologue {
                kept = next;
            }
            if runs.list.len() > most {
                return None;
            }
        }
        Some(runs)
    }

    /// Gives a group its places.
    fn take(&mut self, group: &Group, variables: &Range<usize>, next: &mut usize, kept: usize) {
        // What does not depend on variables stays where it is: before these, and just behind them.
        let is_kept =
            |place: u32| (place as usize) < kept && !variables.contains(&(place as usize));
        let first = variables.end;
        let count = group.like.operands().1;
        // What could come next: for each way in which operands that are kept move or stay, as long as
        // a run has not shown which one is its own.
        let mut open: FxHashMap<[u32; 3], (usize, usize, u8)> = FxHashMap::default();
        let mut found: Vec<(Vec<usize>, u8)> = Vec::new();
        for (at, (places, _)) in group.members.iter().enumerate() {
            let known =
                open.remove(places).filter(|(run, length, _)| found[*run].0.len() == *length);
            let kept = (0..count).filter(|&k| is_kept(places[k])).fold(0, |mask, k| mask | 1 << k);
            let moving: u8 = (1 << count) - 1 - kept;
            let mut wait = |run: usize, length: usize, mask: u8| {
                let mut after = *places;
                (0..count).filter(|k| mask >> k & 1 == 1).for_each(|k| after[k] += 1);
                open.insert(after, (run, length, mask));
            };
            match known {
                Some((run, length, mask)) => {
                    found[run].0.push(at);
                    found[run].1 = mask;
                    wait(run, length + 1, mask);
                }
                None => {
                    found.push((vec![at], moving));
                    let ways = (0..=kept).filter(|way| way & !kept == 0 && (way | moving) != 0);
                    ways.for_each(|way| wait(found.len() - 1, 1, moving | way));
                }
            }
        }
        let (long, short): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(run, _)| run.len() >= SHORTEST);
        for (run, mask) in &long {
            let places = group.members[run[0]].0;
            let step = |k: usize| (places[k] as usize, mask >> k & 1 == 1);
            self.stepping += run.len();
            self.push(group, run, From::Steps([step(0), step(1), step(2)]), first, next);
        }
        let others: Vec<usize> = short.into_iter().flat_map(|(run, _)| run).collect();
        if !others.is_empty() {
            let from = From::List(self.places.len());
            self.places.extend(others.iter().map(|&at| group.members[at].0));
            self.push(group, &others, from, first, next);
        }
    }

    fn push(&mut self, group: &Group, run: &[usize], from: From, first: usize, next: &mut usize) {
        let (like, into, length) = (group.like, *next, run.len());
        for (k, &at) in run.iter().enumerate() {
            let register = first + group.members[at].1;
            self.of[register] = (into + k) as u32;
            if matches!(like, Instruction::SinCos(_)) {
                self.of[register + 1] = (into + length + k) as u32;
            }
        }
        *next += if matches!(like, Instruction::SinCos(_)) { 2 * length } else { length };
        self.list.push(Run { like, stage: group.stage, into, length, from });
    }
}

impl Group {
    /// The same with the places of its operands, in their order.
    fn placed(mut self, tape: &Tape, of: &[u32]) -> Group {
        for (places, at) in &mut self.members {
            let (registers, count) = tape.instructions[*at].operands();
            for (place, &r) in places.iter_mut().zip(&registers[..count]) {
                *place = of[r as usize];
            }
            // Sums and products have no order; the lesser first, as it is among its neighbors.
            let commutes = matches!(
                tape.instructions[*at],
                Instruction::Add(..) | Instruction::Mul(..) | Instruction::Fma(..)
            );
            if commutes && places[0] > places[1] {
                places.swap(0, 1);
            }
        }
        let key =
            |places: &[u32; 3]| [places[0].max(places[1]).max(places[2]), places[0], places[1]];
        self.members.sort_by_key(|(places, _)| key(places));
        self
    }
}

/// The instructions by stage, distance from the inputs, and kind. None if these are more than `most`:
/// each is a run at least.
fn groups(tape: &Tape, late: &Range<usize>, most: usize) -> Option<impl Iterator<Item = Group>> {
    let first = tape.first_instruction();
    let mut reached: Vec<(Stage, u32)> = (0..first)
        .map(|r| match r {
            r if late.contains(&r) => (Stage::Rest, 0),
            r if r >= tape.first_variable() => (Stage::First, 0),
            _ => (Stage::Prologue, 0),
        })
        .collect();
    let mut order = Vec::with_capacity(tape.instructions.len());
    let mut kinds = FxHashSet::default();
    for (at, instruction) in tape.instructions.iter().enumerate() {
        match instruction {
            Instruction::Factor(_) | Instruction::Solve(_) | Instruction::Restricted(_) => {
                return None;
            }
            Instruction::Follow => {
                reached.push(*reached.last()?);
                continue;
            }
            _ => {}
        }
        let (registers, count) = instruction.operands();
        let mut own = (Stage::Prologue, 0);
        for &r in &registers[..count] {
            let (stage, level) = *reached.get(r as usize)?;
            own = (own.0.max(stage), own.1.max(level + 1));
        }
        // Instructions of the body may be as constant as those ahead of it.
        if at >= tape.prologue {
            own.0 = own.0.max(Stage::First);
        }
        reached.push(own);
        order.push((own, instruction.kind(), at));
        kinds.insert((own, instruction.kind()));
        if kinds.len() > most {
            return None;
        }
    }
    order.sort_unstable();
    let same = |a: &((Stage, u32), (u8, u8), usize), b: &((Stage, u32), (u8, u8), usize)| {
        (a.0, a.1) == (b.0, b.1)
    };
    let groups: Vec<Group> = order
        .chunk_by(same)
        .map(|chunk| Group {
            like: tape.instructions[chunk[0].2],
            stage: chunk[0].0.0,
            members: chunk.iter().map(|&(.., at)| ([0; 3], at)).collect(),
        })
        .collect();
    Some(groups.into_iter())
}
