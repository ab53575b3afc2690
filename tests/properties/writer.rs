//! Random expressions in the letters of a [`System`](crate::system::System).

use crate::random::Random;
use crate::system::Row;

/// Writes the expressions of a system.
pub struct Writer<'r> {
    pub random: &'r mut Random,
    /// Letters that may appear undifferentiated, 1 … active.
    pub active: usize,
    /// How many velocities there are.
    pub n: usize,
    /// Whether time appears.
    pub timed: bool,
}

impl Writer<'_> {
    pub fn c(&mut self) -> String {
        self.random.coefficient()
    }

    pub fn q(&mut self) -> String {
        format!("q{}", 1 + self.random.below(self.active))
    }

    /// A function of positions and time.
    pub fn function(&mut self) -> String {
        let (a, b) = (self.q(), self.q());
        let (c, d) = (self.c(), self.c());
        match self.random.below(if self.timed { 6 } else { 3 }) {
            0 => format!("{c}*{a}"),
            1 => format!("{c}*{a}*{b}"),
            2 => format!("{c}*sin({a})"),
            3 => format!("{c}*tt"),
            4 => format!("{c}*sin({a} + {d}*tt)"),
            _ => format!("{c}*{a}*tt"),
        }
    }

    /// A linear form in velocities of which that of `lead` is one.
    fn form(&mut self, lead: usize, among: usize, letter: char) -> String {
        let mut text = format!("({} + {})*{letter}{lead}", self.c(), self.function());
        for j in (1..=among).filter(|&j| j != lead) {
            if self.random.one_in(2) {
                text += &match self.random.below(2) {
                    0 => format!(" + {}*{letter}{j}", self.c()),
                    _ => format!(" + ({})*{letter}{j}", self.function()),
                };
            }
        }
        text
    }

    pub fn kinetic(&mut self, rank: usize) -> String {
        let n = self.n;
        let mut terms: Vec<String> = Vec::new();
        if rank == n {
            for i in 1..=n {
                terms.push(format!("{}*v{i}^2", self.random.pick(&["0.5", "0.75", "1", "1.25"])));
            }
            for _ in 0..1 + self.random.below(2) {
                let lead = 1 + self.random.below(n);
                terms.push(format!("({})^2/2", self.form(lead, n, 'v')));
            }
        } else {
            // As many squares as the rank, each led by another velocity.
            let first = self.random.below(n);
            for k in 0..rank {
                let lead = 1 + (first + k) % n;
                let text = self.form(lead, n, 'v');
                terms.push(format!("({} + {}*v{lead})^2", text, self.random.pick(&["1.5", "2"])));
            }
        }
        if self.random.one_in(2) {
            for _ in 0..1 + self.random.below(2) {
                let i = 1 + self.random.below(n);
                terms.push(format!("({} + {})*v{i}", self.function(), self.function()));
            }
        }
        if self.random.one_in(2) {
            let (c, q) = (self.c(), self.q());
            terms.push(format!("{c}*cos({q}) + {}", self.function()));
        }
        terms.join(" + ")
    }

    pub fn potential(&mut self) -> String {
        let (a, b) = (self.q(), self.q());
        let (c, d) = (self.c(), self.c());
        let mut text = format!("{c}*{a}*{b}^2 + {d}*cos({b}) + {}", self.function());
        if self.timed {
            text += &format!(" + {}*{a}*tt", self.c());
        }
        text
    }

    pub fn row(&mut self, level: usize, lead: usize, nonlinear: bool) -> Row {
        let text = match level {
            0 => {
                let (c, q) = (self.c(), self.q());
                // The lead enters with unit weight, so that rows are independent.
                let mut text = format!("q{lead} + 0.3*{c}*{q}^2 + 0.4*({})", self.function());
                if self.timed {
                    text += &format!(" + {}*tt^2", self.c());
                }
                text
            }
            1 => {
                let mut text = format!("v{lead} + 0.6*({})", self.form(lead, self.active, 'v'));
                if self.random.one_in(2) {
                    text += &format!(" + {}", self.function());
                }
                if self.timed {
                    text += &format!(" + {}*sin(tt)", self.c());
                }
                if nonlinear {
                    let (i, j) = (self.random.below(self.active), self.random.below(self.active));
                    let c = self.c();
                    text += &match self.random.below(3) {
                        0 => format!(" + 0.4*{c}*v{}^2", i + 1),
                        1 => format!(" + 0.4*{c}*v{}*v{}", i + 1, j + 1),
                        _ => format!(" + 0.3*{c}*v{}^2*v{}", i + 1, j + 1),
                    };
                }
                text
            }
            _ => {
                let mut text = format!("a{lead} + 0.5*({})", self.form(lead, self.active, 'a'));
                let (c, i) = (self.c(), 1 + self.random.below(self.active));
                text += &format!(" + {c}*v{i} + {}", self.function());
                text
            }
        };
        Row::Plain { level, text }
    }

    /// A row of G = 2 I + small.
    pub fn speed(&mut self, i: usize) -> String {
        let mut text = format!("(2 + 0.25*({}))*v{i}", self.function());
        for j in (1..=self.n).filter(|&j| j != i) {
            if self.random.one_in(2) {
                text += &format!(" + 0.15*({} + {})*v{j}", self.function(), self.c());
            }
        }
        text
    }
}
