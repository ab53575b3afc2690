//! From a tape to series: which registers move, their recurrences, and when each is run.

use super::node::{Angle, Jet, Op, Pick, STILL, Sign, Solve};
use super::quads::{Numbered, Quads};
use super::{Correction, LANES, NoSeries, Phase, Series, Variable, Wanted};
use crate::companions::Companions;
use crate::tape::{Instruction, Register, Right, Tape};
use dalembert_expr::Function;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much ahead a recurrence is run, and in which phase. What is run further ahead serves
/// what is wanted later, and of what is equally far ahead the earliest counts.
type When = (usize, Reverse<usize>);

/// A phase, and how much ahead in it.
type Class = (usize, Reverse<usize>);

pub(super) fn series(
    tape: Tape,
    variables: &[Variable],
    outputs: &[Wanted],
) -> Result<Series, NoSeries> {
    if tape.instructions.iter().any(|i| matches!(i, Instruction::Restricted(_))) {
        return Err(NoSeries::Restricted);
    }
    let is_given = |i: &Instruction| matches!(i, Instruction::Call2(Function::Given, ..));
    if tape.instructions.iter().any(is_given) {
        return Err(NoSeries::Given);
    }
    let Companions { tape, of } = Companions::new(tape);
    let mut plan = Plan::new(&tape, variables);
    for (at, instruction) in tape.instructions.iter().enumerate() {
        plan.add(&tape, at, *instruction, of[at]);
    }
    let order = plan.order();
    let results: Vec<Jet> = tape.outputs.iter().map(|&r| plan.of_register[r as usize]).collect();
    let when = plan.schedule(&results, outputs);
    let unknown = plan.unknowns(&tape, variables);
    let follows = plan.follow(&order, &when, &unknown)?;
    for (&jet, wanted) in results.iter().zip(outputs) {
        let now = (wanted.ahead, Reverse(wanted.phase));
        if unknown.get(&jet).is_some_and(|known| now > *known) {
            return Err(NoSeries::TooEarly);
        }
    }
    let corrected = plan.corrected(&order, &when, &follows, (&results, outputs));
    let first = tape.first_variable();
    let moved: Vec<Jet> = (first..first + tape.variables).map(|r| plan.of_register[r]).collect();
    let last = |phase: usize, wanted: usize| phase.max(wanted + 1);
    let count = variables.iter().fold(1, |count, variable| match *variable {
        Variable::Moving { phase, .. } => last(count, phase),
        _ => count,
    });
    let count = outputs.iter().fold(count, |count, wanted| last(count, wanted.phase));
    let mut phases = vec![Phase::default(); count];
    for (&jet, &(ahead, Reverse(phase))) in &unknown {
        phases[phase].unknowns.push((jet, ahead as u32));
    }
    phases.iter_mut().for_each(|phase| phase.unknowns.sort_unstable());
    // What is further ahead first: the others read it.
    let mut classes: BTreeMap<Class, Vec<(Op, Jet)>> = BTreeMap::new();
    for at in order {
        let (Some((ahead, Reverse(phase))), of) = (when[at], plan.ops[at]) else { continue };
        classes.entry((phase, Reverse(ahead))).or_default().push(of);
        if corrected[at] {
            let is_moved = |jet: Jet| match unknown.get(&jet) {
                Some(known) => Some(*known) == when[at],
                None => plan.op_of.get(&jet).is_some_and(|&o| follows[o] && when[o] == when[at]),
            };
            plan.correct(at, ahead as u32, &is_moved, &mut phases[phase]);
        }
    }
    let ahead = when.iter().flatten().map(|when| when.0).max().unwrap_or(0);
    let mut quads = Quads::new(plan.jets);
    for ((phase, Reverse(ahead)), ops) in classes {
        let is_unknown = |jet: Jet| unknown.get(&jet) == Some(&(ahead, Reverse(phase)));
        quads.add((phase, ahead as u32), &ops, &plan.solves, &is_unknown);
    }
    let changes = |jet: Jet, phase: usize, ahead: u32| {
        let now = (ahead as usize, Reverse(phase));
        match unknown.get(&jet) {
            Some(known) => *known == now,
            None => plan.op_of.get(&jet).is_some_and(|&o| corrected[o] && when[o] == Some(now)),
        }
    };
    // Variables that are found together lie side by side.
    let mut runs: Vec<Vec<Jet>> = Vec::new();
    for (at, &jet) in moved.iter().enumerate().filter(|(_, jet)| **jet != STILL) {
        match runs.last_mut() {
            Some(run) if at > 0 && variables[at] == variables[at - 1] => run.push(jet),
            _ => runs.push(vec![jet]),
        }
    }
    // All coefficients are there of what is read later, and of all that solutions are made of.
    let mut kept: Vec<Jet> = Vec::new();
    for (&jet, wanted) in results.iter().zip(outputs) {
        let now = Some((wanted.ahead, Reverse(wanted.phase)));
        if wanted.is_final || plan.op_of.get(&jet).is_none_or(|&at| when[at] != now) {
            kept.push(jet);
        }
    }
    for solve in &plan.solves {
        kept.extend(solve.entries.iter().map(|entry| entry.2));
        kept.extend(solve.right.iter().chain(&solve.x));
    }
    let Numbered { ids, count, passing, nodes, again, packs } =
        quads.numbered(count, (&runs, &kept), &changes);
    let id = |jet: Jet| ids[jet as usize];
    let renumber = |solve: &mut Solve| {
        solve.entries.iter_mut().for_each(|entry| entry.2 = id(entry.2));
        solve.right.iter_mut().chain(&mut solve.x).for_each(|jet| *jet = id(*jet));
    };
    for ((phase, nodes), again) in phases.iter_mut().zip(nodes).zip(again) {
        (phase.nodes, phase.again) = (nodes, again);
        phase.unknowns.iter_mut().for_each(|(jet, _)| *jet = id(*jet));
        phase.corrections.iter_mut().for_each(|correction| correction.renumber(&id));
        phase.solves.iter_mut().for_each(renumber);
    }
    let mut quads_of_variables: Vec<Jet> =
        moved.iter().map(|&jet| id(jet) / LANES as Jet * LANES as Jet).collect();
    quads_of_variables.sort_unstable();
    quads_of_variables.dedup();
    let Plan { mut begins, picks, mut solves, .. } = plan;
    begins.iter_mut().for_each(|(jet, _)| *jet = id(*jet));
    solves.iter_mut().for_each(renumber);
    Ok(Series {
        tape: Arc::new(tape),
        variables: moved.into_iter().map(id).collect(),
        outputs: results.into_iter().map(id).collect(),
        begins,
        picks,
        jets: count,
        passing,
        phases,
        quads_of_variables,
        packs,
        ahead,
        solves,
        when: (variables.to_vec(), outputs.to_vec()),
        closing: None,
    })
}

impl Correction {
    fn renumber(&mut self, id: &dyn Fn(Jet) -> Jet) {
        match self {
            Correction::Linear { y, of, op, .. } => {
                (*y, *of, *op) = (id(*y), of.map(id), op.renumbered(id));
            }
            Correction::Derivative { y, of, .. } => (*y, *of) = (id(*y), id(*of)),
            Correction::Solve { .. } => {}
        }
    }
}

struct Plan {
    /// The jet of each register.
    of_register: Vec<Jet>,
    jets: usize,
    begins: Vec<(Jet, Register)>,
    picks: Vec<Pick>,
    /// Recurrences, and the jet that each is for; of several the first.
    ops: Vec<(Op, Jet)>,
    op_of: FxHashMap<Jet, usize>,
    derivatives: FxHashMap<Jet, Jet>,
    solves: Vec<Solve>,
}

impl Plan {
    fn new(tape: &Tape, variables: &[Variable]) -> Plan {
        let mut plan = Plan {
            of_register: vec![STILL; tape.registers()],
            jets: 1,
            begins: Vec::new(),
            picks: Vec::new(),
            ops: Vec::new(),
            op_of: FxHashMap::default(),
            derivatives: FxHashMap::default(),
            solves: Vec::new(),
        };
        for (at, variable) in variables.iter().enumerate().take(tape.variables) {
            if *variable != Variable::Held {
                plan.moves(tape.first_variable() + at);
            }
        }
        // A companion may come after what it belongs to, so registers have series first.
        let mut is_moving = false;
        for (at, instruction) in tape.instructions.iter().enumerate() {
            is_moving = match instruction {
                Instruction::Follow => is_moving,
                _ => !is_constant(instruction) && plan.reads_moving(tape, instruction),
            };
            if is_moving {
                plan.moves(tape.first_instruction() + at);
            }
        }
        plan.solves = tape.rights.iter().map(|right| plan.solve(tape, right)).collect();
        plan
    }

    fn reads_moving(&self, tape: &Tape, instruction: &Instruction) -> bool {
        let mut is_moving = false;
        let mut see = |r: Register| is_moving |= self.of_register[r as usize] != STILL;
        tape.reads(instruction, &mut see);
        if let Instruction::Solve(right) = instruction {
            let matrix = tape.rights[*right as usize].matrix;
            tape.reads(&Instruction::Factor(matrix), &mut see);
        }
        is_moving
    }

    fn solve(&self, tape: &Tape, right: &Right) -> Solve {
        let jet = |r: Register| self.of_register[r as usize];
        let entries = tape.matrices[right.matrix as usize].entries.iter();
        let moving = entries.filter(|e| jet(e.register) != STILL);
        Solve {
            matrix: right.matrix,
            entries: moving.map(|e| (e.row, e.column, jet(e.register))).collect(),
            right: right.entries.iter().map(|&r| jet(r)).collect(),
            x: Vec::new(),
        }
    }

    fn jet(&mut self) -> Jet {
        self.jets += 1;
        (self.jets - 1) as Jet
    }

    /// Gives a register a series.
    fn moves(&mut self, register: usize) -> Jet {
        let jet = self.jet();
        self.of_register[register] = jet;
        self.begins.push((jet, register as Register));
        jet
    }

    fn push(&mut self, op: Op, y: Jet) {
        self.op_of.insert(y, self.ops.len());
        self.ops.push((op, y));
    }

    /// The series of m a_m.
    fn derivative(&mut self, a: Jet) -> Jet {
        if a == STILL {
            return STILL;
        }
        if let Some(&known) = self.derivatives.get(&a) {
            return known;
        }
        let jet = self.jet();
        self.derivatives.insert(a, jet);
        self.push(Op::Derivative(a), jet);
        jet
    }

    /// The series of a register, also if it is constant, with its value.
    fn with_value(&mut self, register: Register) -> Jet {
        match self.of_register[register as usize] {
            STILL => {
                let jet = self.jet();
                self.begins.push((jet, register));
                jet
            }
            jet => jet,
        }
    }

    /// The recurrence of an instruction, if it moves.
    fn add(&mut self, tape: &Tape, at: usize, instruction: Instruction, c: Option<Register>) {
        let register = tape.first_instruction() + at;
        let y = self.of_register[register];
        if y == STILL {
            return;
        }
        let ([ra, rb, rc], _) = instruction.operands();
        let [a, b, third] = [ra, rb, rc].map(|r| self.of_register[r as usize]);
        let c = c.map_or(STILL, |c| self.of_register[c as usize]);
        let op = match instruction {
            Instruction::Add(..) => Op::Add(a, b),
            Instruction::Sub(..) => Op::Sub(a, b),
            Instruction::Neg(_) => Op::Neg(a),
            Instruction::Mul(..) => match (a, b) {
                (STILL, b) => Op::Scale(ra, b),
                (a, STILL) => Op::Scale(rb, a),
                (a, b) => Op::Mul(a, b),
            },
            Instruction::Div(..) if b == STILL => Op::Over(a, rb),
            Instruction::Div(..) => Op::Div(a, b),
            Instruction::Fma(..) => match (a, b, third) {
                (STILL, STILL, c) => Op::Add(c, STILL),
                (STILL, b, STILL) => Op::Scale(ra, b),
                (a, STILL, STILL) => Op::Scale(rb, a),
                (STILL, b, c) => Op::ScaleAdd(ra, b, c),
                (a, STILL, c) => Op::ScaleAdd(rb, a, c),
                (a, b, STILL) => Op::Mul(a, b),
                (a, b, c) => Op::MulAdd(a, b, c),
            },
            Instruction::Sqrt(_) => Op::Sqrt(a),
            Instruction::Pow(..) if b == STILL => {
                Op::Power(a, self.derivative(a), self.derivative(y), rb)
            }
            Instruction::Pow(..) => Op::Exp(c, self.derivative(c)),
            Instruction::SinCos(_) => {
                Op::SinCos(a, self.derivative(a), self.of_register[register + 1])
            }
            Instruction::Call1(function, _) => match function {
                Function::Exp => Op::Exp(a, self.derivative(a)),
                Function::Log => Op::Log(a, self.derivative(y)),
                Function::Asin | Function::Atan => {
                    Op::Quotient(a, c, self.derivative(y), Sign::Plus)
                }
                Function::Acos => Op::Quotient(a, c, self.derivative(y), Sign::Minus),
                Function::Cos => Op::Slope(a, self.derivative(a), c, Sign::Minus),
                Function::Abs => self.pick(a, STILL, Pick::Abs(ra)),
                _ => Op::Slope(a, self.derivative(a), c, Sign::Plus),
            },
            Instruction::Call2(Function::Atan2, ..) => {
                let (b_dot, a_dot) = (self.derivative(a), self.derivative(b));
                let (b, a) = (self.with_value(ra), self.with_value(rb));
                Op::Angle(Angle { b, a, b_dot, a_dot, c, y_dot: self.derivative(y) })
            }
            Instruction::Call2(..) => self.pick(a, b, Pick::Equal(register as Register, ra)),
            Instruction::Select(..) => self.pick(b, third, Pick::Select(ra)),
            Instruction::Solve(right) => {
                let count = tape.rights[right as usize].entries.len();
                let x = self.of_register[register..register + count].to_vec();
                self.solves[right as usize].x = x;
                Op::Solve(right)
            }
            Instruction::Follow | Instruction::Factor(_) | Instruction::Restricted(_) => return,
        };
        self.push(op, y);
        let more = match op {
            Op::SinCos(_, _, cos) => vec![cos],
            Op::Solve(right) => self.solves[right as usize].x.clone(),
            _ => Vec::new(),
        };
        more.into_iter().for_each(|jet| {
            self.op_of.insert(jet, self.ops.len() - 1);
        });
    }

    fn pick(&mut self, a: Jet, b: Jet, pick: Pick) -> Op {
        self.picks.push(pick);
        Op::Pick(a, b, (self.picks.len() - 1) as u32)
    }

    /// The recurrences in an order in which each comes after what it reads at the same order.
    fn order(&self) -> Vec<usize> {
        let (mut order, mut state) =
            (Vec::with_capacity(self.ops.len()), vec![0u8; self.ops.len()]);
        let mut stack: Vec<(usize, bool)> = (0..self.ops.len()).rev().map(|o| (o, false)).collect();
        while let Some((at, done)) = stack.pop() {
            if done {
                order.push(at);
            } else if state[at] == 0 {
                state[at] = 1;
                stack.push((at, true));
                self.ops[at].0.reads(&self.solves, &mut |jet, _| {
                    if let Some(&other) = self.op_of.get(&jet)
                        && state[other] == 0
                    {
                        stack.push((other, false));
                    }
                });
            }
        }
        order
    }

    /// When each recurrence is run; `None` where nothing needs it.
    fn schedule(&self, results: &[Jet], outputs: &[Wanted]) -> Vec<Option<When>> {
        let mut when: Vec<Option<When>> = vec![None; self.ops.len()];
        let first = results.iter().zip(outputs);
        let mut stack: Vec<(Jet, When)> =
            first.map(|(&jet, w)| (jet, (w.ahead, Reverse(w.phase)))).collect();
        while let Some((jet, wanted)) = stack.pop() {
            let Some(&at) = self.op_of.get(&jet) else { continue };
            if when[at] < Some(wanted) {
                when[at] = Some(wanted);
                let op = self.ops[at].0;
                op.reads(&self.solves, &mut |jet, _| stack.push((jet, wanted)));
                op.remembers(&mut |jet| stack.push((jet, wanted)));
            }
        }
        when
    }

    /// When the newest coefficient of each variable is found.
    fn unknowns(&self, tape: &Tape, variables: &[Variable]) -> FxHashMap<Jet, When> {
        let first = tape.first_variable();
        let known = variables.iter().enumerate().filter_map(|(at, variable)| match *variable {
            Variable::Moving { phase, ahead } => {
                Some((self.of_register[first + at], (ahead, Reverse(phase))))
            }
            _ => None,
        });
        known.collect()
    }

    /// Which recurrences read unknowns that are found in the phase in which they are run.
    fn follow(
        &self,
        order: &[usize],
        when: &[Option<When>],
        unknown: &FxHashMap<Jet, When>,
    ) -> Result<Vec<bool>, NoSeries> {
        let mut follows = vec![false; self.ops.len()];
        let mut is_late = false;
        for &at in order {
            let Some(now) = when[at] else { continue };
            let mut moved = false;
            self.ops[at].0.reads(&self.solves, &mut |jet, _| match unknown.get(&jet) {
                Some(&(ahead, phase)) => {
                    is_late |= (ahead, phase) < now;
                    moved |= (ahead, phase) == now;
                }
                None => {
                    let other = self.op_of.get(&jet);
                    moved |= other.is_some_and(|&o| follows[o] && when[o] == Some(now));
                }
            });
            follows[at] = moved;
        }
        if is_late { Err(NoSeries::TooEarly) } else { Ok(follows) }
    }

    /// Which recurrences are corrected: those whose newest coefficient is read again.
    fn corrected(
        &self,
        order: &[usize],
        when: &[Option<When>],
        follows: &[bool],
        (results, outputs): (&[Jet], &[Wanted]),
    ) -> Vec<bool> {
        let mut again = vec![false; self.ops.len()];
        let op_of = |jet: Jet| self.op_of.get(&jet).copied();
        for (&jet, wanted) in results.iter().zip(outputs) {
            if let Some(at) = op_of(jet) {
                let is_later = when[at] != Some((wanted.ahead, Reverse(wanted.phase)));
                again[at] |= wanted.is_final || is_later;
            }
        }
        for (at, (op, _)) in self.ops.iter().enumerate() {
            again[at] |= op.remembers_itself();
            if when[at].is_some() {
                op.remembers(&mut |jet| op_of(jet).into_iter().for_each(|o| again[o] = true));
            }
        }
        for &at in order.iter().rev() {
            if when[at].is_none() {
                continue;
            }
            self.ops[at].0.reads(&self.solves, &mut |jet, is_linear| {
                if let Some(other) = op_of(jet) {
                    again[other] |= !is_linear || when[other] != when[at] || again[at];
                }
            });
        }
        again.iter().zip(follows).map(|(again, follows)| *again && *follows).collect()
    }

    fn correct(&self, at: usize, ahead: u32, is_moved: &dyn Fn(Jet) -> bool, phase: &mut Phase) {
        let (op, y) = self.ops[at];
        let moved = |jet: Jet| if is_moved(jet) { jet } else { STILL };
        let into = &mut phase.corrections;
        match op {
            Op::Derivative(a) => into.push(Correction::Derivative { y, ahead, of: moved(a) }),
            Op::Solve(right) => {
                let mut of = self.solves[right as usize].clone();
                of.entries.retain(|entry| is_moved(entry.2));
                of.right.iter_mut().for_each(|jet| *jet = moved(*jet));
                into.push(Correction::Solve { at: phase.solves.len() as u32, ahead });
                phase.solves.push(of);
            }
            _ => {
                let of = op.sources().map(moved);
                into.push(Correction::Linear { y, ahead, of, op });
            }
        }
        if let Op::SinCos(a, dot, cos) = op {
            let (of, op) = ([moved(a), STILL, STILL], Op::Slope(a, dot, y, Sign::Minus));
            into.push(Correction::Linear { y: cos, ahead, of, op });
        }
    }
}

/// Whether an instruction's value is one of a few, so that its series is constant.
fn is_constant(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Factor(_) => true,
        Instruction::Call1(function, _) | Instruction::Call2(function, ..) => function.is_step(),
        _ => false,
    }
}
