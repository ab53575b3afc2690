//! Products in fours: recurrences taken apart into products and the rest, an order in which four
//! products can be made at once, and numbers of series by which these lie side by side.
//!
//! A coefficient of a product is a sum over all orders, and nearly all the work of long series.
//! Four of them with neighboring factors are one sum over vectors: nothing is added across a
//! vector, and what was stored as a vector is loaded as one. Factors that are not neighbors are
//! copied together once an order ([`Step::Pack`]).

use super::node::{Angle, Ends, Factor, Jet, Last, Op, STILL, Sign, Solve, Step};
use super::{LANES, Node};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// A product of two series.
#[derive(Clone, Copy)]
struct Product {
    y: Jet,
    a: Jet,
    b: Jet,
    ends: Ends,
    given: Ends,
}

impl Product {
    /// Leaves out the newest coefficients of unknowns.
    fn leave_out(&mut self, is_unknown: &dyn Fn(Jet) -> bool) {
        if self.ends == Ends::Both && is_unknown(self.b) {
            self.ends = Ends::First;
        } else if self.ends == Ends::Both && is_unknown(self.a) {
            (self.a, self.b, self.ends) = (self.b, self.a, Ends::First);
        }
        if self.ends == Ends::First && is_unknown(self.a) {
            self.ends = Ends::None;
        }
    }
}

enum Work {
    Product(Product),
    Last(Last, Jet),
}

enum Scheduled {
    Last(Last, Jet),
    /// Up to four of one kind.
    Products(Vec<Product>),
}

/// What is run so much ahead in a phase, in order.
struct Class {
    phase: usize,
    ahead: u32,
    steps: Vec<Scheduled>,
    /// What is found one by one.
    singles: Vec<bool>,
}

/// Recurrences on their way to steps.
pub(super) struct Quads {
    jets: usize,
    classes: Vec<Class>,
}

/// Steps with series by their last numbers.
pub(super) struct Numbered {
    /// The number of each series before.
    pub(super) ids: Vec<Jet>,
    /// How many numbers there are; the first so many are of series of which only the newest
    /// coefficient is read.
    pub(super) count: usize,
    pub(super) passing: usize,
    /// The steps of each phase.
    pub(super) nodes: Vec<Vec<Node>>,
    /// Copies whose newest coefficients are copied again when they have changed, by phase.
    pub(super) again: Vec<Vec<Node>>,
    /// All copies.
    pub(super) packs: Vec<(Jet, [Jet; LANES])>,
}

impl Quads {
    pub(super) fn new(jets: usize) -> Quads {
        Quads { jets, classes: Vec::new() }
    }

    /// Adds the recurrences that are run so much ahead in a phase, each after what it reads.
    /// Unknowns of the phase that are as much ahead have 0 for their newest coefficients.
    pub(super) fn add(
        &mut self,
        (phase, ahead): (usize, u32),
        ops: &[(Op, Jet)],
        solves: &[Solve],
        is_unknown: &dyn Fn(Jet) -> bool,
    ) {
        let mut works = Vec::with_capacity(2 * ops.len());
        for &(op, y) in ops {
            self.take_apart(op, y, &mut works);
        }
        for work in &mut works {
            if let Work::Product(product) = work {
                product.leave_out(is_unknown);
                if ahead == 0 {
                    product.given = product.ends;
                }
            }
        }
        let mut singles = vec![false; self.jets];
        for work in &works {
            let Work::Last(last, y) = work else { continue };
            match last {
                Last::Solve(at) => {
                    solves[*at as usize].x.iter().for_each(|&x| singles[x as usize] = true);
                }
                _ => singles[*y as usize] = true,
            }
        }
        let steps = schedule(works, solves);
        self.classes.push(Class { phase, ahead, steps, singles });
    }

    fn product(&mut self, works: &mut Vec<Work>, a: Jet, b: Jet, ends: Ends) -> Jet {
        let y = self.jets as Jet;
        self.jets += 1;
        works.push(Work::Product(Product { y, a, b, ends, given: ends }));
        y
    }

    /// A recurrence as products and what follows from them.
    fn take_apart(&mut self, op: Op, y: Jet, works: &mut Vec<Work>) {
        use Ends::{Both, First};
        let last = match op {
            Op::Add(a, b) => Last::Add(a, b),
            Op::Sub(a, b) => Last::Sub(a, b),
            Op::Neg(a) => Last::Neg(a),
            Op::Scale(c, a) => Last::Scale(c, a),
            Op::ScaleAdd(c, a, b) => Last::ScaleAdd(c, a, b),
            Op::Over(a, c) => Last::Over(a, c),
            Op::Derivative(a) => Last::Derivative(a),
            Op::Pick(a, b, place) => Last::Pick(a, b, place),
            Op::Mul(a, b) => {
                works.push(Work::Product(Product { y, a, b, ends: Both, given: Both }));
                return;
            }
            Op::MulAdd(a, b, c) => Last::Add(self.product(works, a, b, Both), c),
            Op::Div(a, b) => Last::Div(a, self.product(works, b, y, First), b),
            Op::Sqrt(a) => Last::Sqrt(a, self.product(works, y, y, Ends::None)),
            Op::Exp(_, dot) => Last::Integral(self.product(works, dot, y, First), Sign::Plus),
            Op::Slope(_, dot, c, sign) => Last::Integral(self.product(works, dot, c, First), sign),
            Op::SinCos(_, dot, cos) => {
                let down = self.product(works, dot, y, First);
                let up = self.product(works, dot, cos, First);
                works.push(Work::Last(Last::Integral(down, Sign::Minus), cos));
                Last::Integral(up, Sign::Plus)
            }
            Op::Log(a, y_dot) => {
                Last::Quotient(a, self.product(works, a, y_dot, First), a, Sign::Plus)
            }
            Op::Quotient(a, c, y_dot, sign) => {
                Last::Quotient(a, self.product(works, c, y_dot, Ends::None), c, sign)
            }
            Op::Power(a, a_dot, y_dot, e) => {
                let p = self.product(works, a_dot, y, First);
                Last::Power(p, self.product(works, a, y_dot, First), a, e)
            }
            Op::Angle(Angle { b, a, b_dot, a_dot, c, y_dot }) => {
                let p = self.product(works, b_dot, a, Both);
                let q = self.product(works, a_dot, b, Both);
                Last::Angle([p, q, self.product(works, c, y_dot, Ends::None)], c)
            }
            Op::Solve(at) => Last::Solve(at),
        };
        works.push(Work::Last(last, y));
    }

    /// Which series only pass: they are found and read at one order, then at the next. Not those
    /// that are `kept`.
    fn passing(&self, kept: &[Jet]) -> Vec<bool> {
        let mut found_in: Vec<Option<usize>> = vec![None; self.jets];
        for (number, class) in self.classes.iter().enumerate() {
            for step in &class.steps {
                match step {
                    Scheduled::Last(_, y) => found_in[*y as usize] = Some(number),
                    Scheduled::Products(group) => {
                        group.iter().for_each(|p| found_in[p.y as usize] = Some(number));
                    }
                }
            }
        }
        let mut passing: Vec<bool> = found_in.iter().map(Option::is_some).collect();
        kept.iter().for_each(|&jet| passing[jet as usize] = false);
        for (number, class) in self.classes.iter().enumerate() {
            for step in &class.steps {
                match step {
                    Scheduled::Last(last, _) => last.reads(&mut |jet| {
                        passing[jet as usize] &= found_in[jet as usize] == Some(number);
                    }),
                    Scheduled::Products(group) => group.iter().for_each(|p| {
                        (passing[p.a as usize], passing[p.b as usize]) = (false, false);
                    }),
                }
            }
        }
        passing
    }

    /// Gives numbers. `runs` are series that lie side by side, of which and of those `kept` all
    /// coefficients are there; `moved` says which newest coefficients change at the end of a
    /// phase, by what is so much ahead in it.
    pub(super) fn numbered(
        self,
        phases: usize,
        (runs, kept): (&[Vec<Jet>], &[Jet]),
        moved: &dyn Fn(Jet, usize, u32) -> bool,
    ) -> Numbered {
        let mut passing = self.passing(kept);
        runs.iter().flatten().for_each(|&jet| passing[jet as usize] = false);
        let mut numbers = Numbers { ids: vec![None; self.jets], next: LANES as Jet };
        numbers.ids[STILL as usize] = Some(STILL);
        for class in &self.classes {
            for step in &class.steps {
                match step {
                    Scheduled::Last(_, y) if passing[*y as usize] => _ = numbers.of(*y),
                    Scheduled::Products(group) if group.iter().all(|p| passing[p.y as usize]) => {
                        numbers.side_by_side(&group.iter().map(|p| p.y).collect::<Vec<Jet>>());
                    }
                    _ => {}
                }
            }
        }
        let passing = (numbers.next as usize).next_multiple_of(LANES);
        numbers.next = passing as Jet;
        // As a factor also what is constant has all coefficients.
        let zero = Factor::Quad { first: numbers.quad(), is_fresh: false };
        runs.iter().for_each(|run| numbers.side_by_side(run));
        let groups = || {
            let steps = self.classes.iter().flat_map(|class| &class.steps);
            steps.filter_map(|step| match step {
                Scheduled::Products(products) => Some(products),
                Scheduled::Last(..) => None,
            })
        };
        for group in groups() {
            if numbers.ids[group[0].y as usize].is_none() {
                numbers.side_by_side(&group.iter().map(|p| p.y).collect::<Vec<Jet>>());
            }
        }
        for group in groups() {
            for of in [|p: &Product| p.a, |p: &Product| p.b] {
                let members: Vec<Jet> = group.iter().map(of).collect();
                let is_new = |(at, jet): (usize, &Jet)| {
                    numbers.ids[*jet as usize].is_none() && !members[..at].contains(jet)
                };
                if members.iter().enumerate().all(is_new) {
                    numbers.side_by_side(&members);
                }
            }
        }
        let ids: Vec<Jet> = (0..self.jets as Jet).map(|jet| numbers.of(jet)).collect();
        let mut found = Numbered {
            ids,
            count: 0,
            passing,
            nodes: vec![Vec::new(); phases],
            again: vec![Vec::new(); phases],
            packs: Vec::new(),
        };
        for class in &self.classes {
            class.number(&mut numbers, &mut found, zero, moved);
        }
        found.count = (numbers.next as usize).next_multiple_of(LANES);
        found
    }
}

struct Numbers {
    ids: Vec<Option<Jet>>,
    next: Jet,
}

impl Numbers {
    /// Room for series side by side.
    fn quad(&mut self) -> Jet {
        let first = self.next.next_multiple_of(LANES as Jet);
        self.next = first + LANES as Jet;
        first
    }

    /// Numbers one after the other, from a multiple of four on; nothing else comes to the last of
    /// them.
    fn side_by_side(&mut self, jets: &[Jet]) {
        for four in jets.chunks(LANES) {
            let first = self.quad();
            for (id, &jet) in (first..).zip(four) {
                self.ids[jet as usize] = Some(id);
            }
        }
    }

    fn of(&mut self, jet: Jet) -> Jet {
        *self.ids[jet as usize].get_or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

impl Class {
    fn number(
        &self,
        numbers: &mut Numbers,
        found: &mut Numbered,
        zero: Factor,
        moved: &dyn Fn(Jet, usize, u32) -> bool,
    ) {
        let &Class { phase, ahead, ref steps, ref singles } = self;
        let mut copies: FxHashMap<([Jet; LANES], bool), Jet> = FxHashMap::default();
        for step in steps {
            let ids = &found.ids;
            let group = match step {
                Scheduled::Last(last, y) => {
                    let last = last.renumbered(&|jet| ids[jet as usize]);
                    let step = Step::Last(last, ids[*y as usize]);
                    found.nodes[phase].push(Node { step, ahead });
                    continue;
                }
                Scheduled::Products(group) => group,
            };
            let Product { ends, given, .. } = group[0];
            let y = ids[group[0].y as usize];
            let (is_first, is_second) = (ends != Ends::None, ends == Ends::Both);
            let all = |of: fn(&Product) -> Jet| group.iter().map(of).collect::<Vec<Jet>>();
            let both = [(all(|p| p.a), is_first), (all(|p| p.b), is_second)];
            let [a, b] = both.map(|(members, has_newest)| {
                let id = |at: usize| found.ids[members[at] as usize];
                if members.iter().all(|jet| *jet == STILL) {
                    return zero;
                }
                if members.iter().all(|jet| *jet == members[0]) {
                    return Factor::Same(id(0));
                }
                let first = id(0);
                let is_quad = first.is_multiple_of(LANES as Jet)
                    && (0..members.len()).all(|lane| id(lane) == first + lane as Jet);
                if is_quad {
                    let is_fresh = has_newest && members.iter().any(|&jet| singles[jet as usize]);
                    return Factor::Quad { first, is_fresh };
                }
                let mut from = [STILL; LANES];
                (0..members.len()).for_each(|lane| from[lane] = id(lane));
                let is_new = !copies.contains_key(&(from, has_newest));
                let to = *copies.entry((from, has_newest)).or_insert_with(|| numbers.quad());
                if is_new {
                    let node = Node { step: Step::Pack { to, from, before: !has_newest }, ahead };
                    found.nodes[phase].push(node);
                    found.packs.push((to, from));
                    if has_newest && members.iter().any(|&jet| moved(jet, phase, ahead)) {
                        found.again[phase].push(node);
                    }
                }
                Factor::Quad { first: to, is_fresh: false }
            });
            let step = Step::Products { y, a, b, ends, given };
            found.nodes[phase].push(Node { step, ahead });
        }
    }
}

/// An order in which products come in fours where they can.
fn schedule(works: Vec<Work>, solves: &[Solve]) -> Vec<Scheduled> {
    let mut made_by: FxHashMap<Jet, usize> = FxHashMap::default();
    for (at, work) in works.iter().enumerate() {
        match work {
            Work::Last(Last::Solve(solve), _) => {
                let x = &solves[*solve as usize].x;
                x.iter().for_each(|&jet| _ = made_by.insert(jet, at));
            }
            Work::Last(_, y) | Work::Product(Product { y, .. }) => _ = made_by.insert(*y, at),
        }
    }
    let mut waits = vec![0usize; works.len()];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); works.len()];
    for (at, work) in works.iter().enumerate() {
        work.reads(solves, &mut |jet| {
            if let Some(&other) = made_by.get(&jet)
                && other != at
            {
                waits[at] += 1;
                next[other].push(at);
            }
        });
    }
    let mut uses: FxHashMap<Jet, usize> = FxHashMap::default();
    for work in &works {
        if let Work::Product(Product { a, b, .. }) = work {
            [a, b].into_iter().for_each(|jet| *uses.entry(*jet).or_default() += 1);
        }
    }
    let mut ready: VecDeque<usize> = VecDeque::new();
    // Of each kind, and whether they are sorted.
    let mut products: [(Vec<(Product, usize)>, bool); 9] = Default::default();
    let release = |at: usize, ready: &mut VecDeque<usize>, products: &mut [(Vec<_>, bool); 9]| {
        match works[at] {
            Work::Last(..) => ready.push_back(at),
            Work::Product(mut p) => {
                // What is in many products comes first, so that it is all four.
                if p.ends == Ends::Both && (uses[&p.b], p.b) > (uses[&p.a], p.a) {
                    (p.a, p.b) = (p.b, p.a);
                }
                let (list, is_sorted) = &mut products[3 * p.ends as usize + p.given as usize];
                list.push((p, at));
                *is_sorted = false;
            }
        }
    };
    (0..works.len()).filter(|&at| waits[at] == 0).for_each(|at| {
        release(at, &mut ready, &mut products);
    });
    let mut steps = Vec::new();
    loop {
        let mut done = Vec::new();
        if let Some(at) = ready.pop_front() {
            if let Work::Last(last, y) = works[at] {
                steps.push(Scheduled::Last(last, y));
            }
            done.push(at);
        } else {
            // Fours that are ready together can be made together; fewer only if nothing else is.
            let longest = products.iter_mut().max_by_key(|(list, _)| list.len().min(LANES));
            let Some((list, is_sorted)) = longest.filter(|(list, _)| !list.is_empty()) else {
                break;
            };
            if !*is_sorted {
                list.sort_by_key(|(p, _)| Reverse((p.a == p.b, p.a, p.b)));
                *is_sorted = true;
            }
            loop {
                let group = list.split_off(list.len().saturating_sub(LANES));
                done.extend(group.iter().map(|(_, at)| *at));
                let group = group.into_iter().rev().map(|(product, _)| product).collect();
                steps.push(Scheduled::Products(group));
                if list.len() < LANES {
                    break;
                }
            }
        }
        for at in done {
            for other in std::mem::take(&mut next[at]) {
                waits[other] -= 1;
                if waits[other] == 0 {
                    release(other, &mut ready, &mut products);
                }
            }
        }
    }
    steps
}

impl Work {
    /// Calls `visit` for each series whose newest coefficient is read.
    fn reads(&self, solves: &[Solve], visit: &mut dyn FnMut(Jet)) {
        match *self {
            Work::Product(Product { a, b, ends, .. }) => {
                if ends != Ends::None {
                    visit(a);
                }
                if ends == Ends::Both {
                    visit(b);
                }
            }
            Work::Last(Last::Solve(at), _) => {
                let Solve { entries, right, .. } = &solves[at as usize];
                entries.iter().for_each(|entry| visit(entry.2));
                right.iter().for_each(|&jet| visit(jet));
            }
            Work::Last(last, _) => last.reads(visit),
        }
    }
}

impl Last {
    /// Calls `visit` for each series whose newest coefficient is read, but for those of a solution.
    pub(super) fn reads(self, visit: &mut dyn FnMut(Jet)) {
        match self {
            Last::Add(a, b) | Last::Sub(a, b) | Last::Pick(a, b, _) => {
                [a, b].into_iter().for_each(visit);
            }
            Last::Neg(a) | Last::Scale(_, a) | Last::Over(a, _) | Last::Derivative(a) => visit(a),
            Last::ScaleAdd(_, a, b) | Last::Div(a, b, _) | Last::Sqrt(a, b) => {
                [a, b].into_iter().for_each(visit);
            }
            Last::Integral(p, _) => visit(p),
            Last::Quotient(a, p, ..) | Last::Power(a, p, ..) => {
                [a, p].into_iter().for_each(visit);
            }
            Last::Angle(products, _) => products.into_iter().for_each(visit),
            Last::Solve(_) => {}
        }
    }

    /// The same with other numbers for the series.
    fn renumbered(self, id: &dyn Fn(Jet) -> Jet) -> Last {
        match self {
            Last::Add(a, b) => Last::Add(id(a), id(b)),
            Last::Sub(a, b) => Last::Sub(id(a), id(b)),
            Last::Neg(a) => Last::Neg(id(a)),
            Last::Scale(c, a) => Last::Scale(c, id(a)),
            Last::ScaleAdd(c, a, b) => Last::ScaleAdd(c, id(a), id(b)),
            Last::Over(a, c) => Last::Over(id(a), c),
            Last::Derivative(a) => Last::Derivative(id(a)),
            Last::Pick(a, b, place) => Last::Pick(id(a), id(b), place),
            Last::Div(a, p, b) => Last::Div(id(a), id(p), id(b)),
            Last::Sqrt(a, p) => Last::Sqrt(id(a), id(p)),
            Last::Integral(p, sign) => Last::Integral(id(p), sign),
            Last::Quotient(a, p, c, sign) => Last::Quotient(id(a), id(p), id(c), sign),
            Last::Power(p, q, a, e) => Last::Power(id(p), id(q), id(a), e),
            Last::Angle(of, c) => Last::Angle(of.map(id), id(c)),
            Last::Solve(at) => Last::Solve(at),
        }
    }
}
