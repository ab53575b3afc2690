//! Constraints whose force acts in another direction than their own: by inputs that hold them, or
//! as what slides on something is held.
//!
//! ```text
//! Γ v̇ = F + B μ + Aᵀλ ,   C = (B − Aᵀ) μ for the rows of μ
//! ```
//!
//! is told to the solver of forces that depend on multipliers (`coupled`) as D = B −
//! Aᵀ. J = I − L D is then −L B for these rows: what pushes by B move their multipliers by. The rank
//! of J is that of A Γ⁻¹B under the other rows. It is decided in units in which each row is as long as
//! its own push, and each column as its own direction, both measured by the masses; where it is not
//! full, nothing pushes along some combination of the rows.

use crate::linalg::{lu, sized, svd::Svd};
use crate::terms::Terms;
use crate::tolerances::coupling::DIRECTED;

/// The multipliers that act in given directions, with storage kept from call to call.
#[derive(Clone, Debug, Default)]
pub struct Directed {
    /// Their places among all multipliers that occur in forces.
    own: Vec<usize>,
    /// det J of them alone.
    pub determinant: f64,
    /// The largest ratio of singular values of J seen: how unevenly the directions push.
    pub condition: f64,
    row: Vec<f64>,
    along: Vec<f64>,
    pushed: Vec<f64>,
    block: Vec<f64>,
    scaled: Vec<f64>,
    order: Vec<usize>,
    svd: Svd,
}

impl Directed {
    /// Those that are marked.
    pub fn new(marked: &[bool]) -> Directed {
        let own = (0..marked.len()).filter(|&c| marked[c]).collect();
        Directed { own, determinant: 1.0, ..Directed::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// Looks at their part of J, of `count` rows; `slopes` is D, column by column. How many
    /// combinations of the rows are pushed along, and how many there are, if not all are.
    pub fn look_at(
        &mut self,
        matrix: &[f64],
        count: usize,
        slopes: &[f64],
        terms: &Terms,
        places: &[Option<usize>],
    ) -> Result<(), (usize, usize)> {
        let (n, k) = (terms.n, self.own.len());
        sized(&mut self.row, n);
        sized(&mut self.along, k);
        sized(&mut self.pushed, k);
        sized(&mut self.block, k * k);
        sized(&mut self.scaled, k * k);
        self.order.resize(k, 0);
        let length = |x: &[f64]| -> f64 {
            let squares = x.iter().enumerate().map(|(i, x)| (x, terms.mass(i)));
            let squares = squares.filter(|s| s.1 > 0.0).map(|(x, mass)| x * x / mass);
            let length = squares.sum::<f64>().sqrt();
            if length > 0.0 { length } else { 1.0 }
        };
        for (a, &c) in self.own.iter().enumerate() {
            self.row.fill(0.0);
            let entries = places[c].into_iter().flat_map(|row| terms.jacobian_row(row));
            entries.for_each(|(i, x)| self.row[i] = x);
            self.along[a] = length(&self.row);
            let column = &slopes[c * n..(c + 1) * n];
            self.row.iter_mut().zip(column).for_each(|(x, d)| *x += d);
            self.pushed[a] = length(&self.row);
        }
        for (a, &i) in self.own.iter().enumerate() {
            for (b, &j) in self.own.iter().enumerate() {
                let entry = matrix[i * count + j];
                self.block[a * k + b] = entry;
                self.scaled[a * k + b] = entry * self.along[a] / self.pushed[b];
            }
        }
        self.svd.decompose(&self.scaled, k, k);
        let top = self.svd.sigma.first().copied().unwrap_or(0.0);
        let rank = self.svd.sigma.iter().take_while(|&&s| s > DIRECTED * top.max(1.0)).count();
        if rank < k {
            return Err((rank, k));
        }
        let least = self.svd.sigma.last().copied().unwrap_or(1.0);
        self.condition = self.condition.max(top / least);
        let is_regular = lu::factor(&mut self.block, k, &mut self.order);
        self.determinant =
            if is_regular { signed_product(&self.block, &self.order, k) } else { 0.0 };
        Ok(())
    }
}

/// A determinant from factors with their order of rows.
pub(crate) fn signed_product(factors: &[f64], order: &[usize], count: usize) -> f64 {
    let inversions = (0..count)
        .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
        .filter(|&(i, j)| order[i] > order[j])
        .count();
    let product: f64 = (0..count).map(|i| factors[i * count + i]).product();
    if inversions % 2 == 0 { product } else { -product }
}
