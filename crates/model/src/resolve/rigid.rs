//! Poses of rigid frames: where the origin is, how fast it moves, how the frame is turned.
//!
//! In space velocities go down a tree by (R u)' = ω × R u + R u', with the angular velocities that
//! rotation matrices carry along; the derivative of the product of all matrices above a body is
//! the same and much longer. In the plane angles add up, and the derivative is short.

use super::value::Value;
use super::*;
use crate::tensor::{Axis, Spin, Tensor};
use dalembert_expr::{Function, Number};

/// How something is turned: by an angle in the plane, by a rotation matrix in space.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    Plane(ExprId),
    Space(Value),
}

/// A frame in motion.
#[derive(Clone, Debug)]
pub(super) struct Pose {
    pub origin: Vec<ExprId>,
    pub velocity: Vec<ExprId>,
    pub turn: Turn,
}

impl Turn {
    /// No turn, in two or three dimensions.
    pub fn none(dimension: usize) -> Turn {
        if dimension == 2 {
            return Turn::Plane(ExprId::ZERO);
        }
        let data: Vec<ExprId> =
            (0..9).map(|at| if at % 4 == 0 { ExprId::ONE } else { ExprId::ZERO }).collect();
        let still = [ExprId::ZERO; 3];
        let spin = Some(Arc::new(Spin { inertial: still, body: still }));
        Turn::Space(Value::Matrix { columns: 3, data: data.into(), spin })
    }

    /// R by rows.
    pub fn matrix(&self, exprs: &Exprs) -> Value {
        match self {
            Turn::Space(rotation) => rotation.clone(),
            Turn::Plane(angle) => {
                let turn = Tensor::rotation(exprs, Axis::Z, *angle, None);
                let r = turn.components();
                Value::matrix(2, vec![r[0], r[1], r[3], r[4]])
            }
        }
    }

    /// R v.
    pub fn turned(&self, exprs: &Exprs, v: &[ExprId]) -> Vec<ExprId> {
        if v.iter().all(|&e| e == ExprId::ZERO) {
            return v.to_vec();
        }
        let n = v.len();
        let matrix = self.matrix(exprs);
        matrix.components().chunks(n).map(|row| Tensor::dot(exprs, row, v)).collect()
    }

    /// Rᵀ v.
    pub fn turned_back(&self, exprs: &Exprs, v: &[ExprId]) -> Vec<ExprId> {
        self.inverse(exprs).turned(exprs, v)
    }

    /// The inverse turn.
    pub fn inverse(&self, exprs: &Exprs) -> Turn {
        match self {
            Turn::Plane(angle) => Turn::Plane((-exprs.at(*angle)).id),
            Turn::Space(rotation) => match rotation.transpose(exprs) {
                Some(turned) => Turn::Space(turned),
                None => Turn::none(3),
            },
        }
    }

    /// This turn, and another one seen from there.
    pub fn then(&self, exprs: &Exprs, next: &Turn) -> Turn {
        match (self, next) {
            (Turn::Plane(a), Turn::Plane(b)) => Turn::Plane((exprs.at(*a) + exprs.at(*b)).id),
            (Turn::Space(a), Turn::Space(b)) => match a.matmul(exprs, b) {
                Some(product) => Turn::Space(product),
                None => Turn::none(3),
            },
            // Shapes were looked at where the turns were read.
            _ => self.clone(),
        }
    }

    /// The angular velocity in inertial axes; in the plane one number.
    pub fn omega(&self, exprs: &Exprs) -> Vec<ExprId> {
        match self {
            Turn::Plane(angle) => vec![exprs.time_derivative(*angle)],
            Turn::Space(rotation) => angular_velocity(exprs, rotation).0.to_vec(),
        }
    }

    /// ω × v.
    pub fn swept(&self, exprs: &Exprs, v: &[ExprId]) -> Vec<ExprId> {
        let omega = self.omega(exprs);
        match v {
            [x, y] => {
                let omega = exprs.at(omega[0]);
                vec![(-omega * exprs.at(*y)).id, (omega * exprs.at(*x)).id]
            }
            _ => Tensor::cross(exprs, &omega, v).to_vec(),
        }
    }
}

impl Pose {
    /// The inertial frame.
    pub fn ground(dimension: usize) -> Pose {
        let zero = vec![ExprId::ZERO; dimension];
        Pose { origin: zero.clone(), velocity: zero, turn: Turn::none(dimension) }
    }

    /// The frame at u, turned by a further turn, both in the axes of this one.
    pub fn attach(&self, exprs: &Exprs, u: &[ExprId], turn: &Turn) -> Pose {
        let arm = self.turn.turned(exprs, u);
        let origin = add(exprs, &[&self.origin, &arm]);
        let velocity = if u.len() == 2 {
            rates(exprs, &origin)
        } else {
            let carried = self.turn.swept(exprs, &arm);
            let own = self.turn.turned(exprs, &rates(exprs, u));
            add(exprs, &[&self.velocity, &carried, &own])
        };
        Pose { origin, velocity, turn: self.turn.then(exprs, turn) }
    }

    /// The same frame, displaced in inertial axes.
    pub fn displaced(&self, exprs: &Exprs, by: &[ExprId]) -> Pose {
        Pose {
            origin: add(exprs, &[&self.origin, by]),
            velocity: add(exprs, &[&self.velocity, &rates(exprs, by)]),
            turn: self.turn.clone(),
        }
    }
}

/// The sum of vectors.
pub(super) fn add(exprs: &Exprs, terms: &[&[ExprId]]) -> Vec<ExprId> {
    (0..terms[0].len())
        .map(|at| {
            let parts: Vec<ExprId> = terms.iter().map(|term| term[at]).collect();
            exprs.sum(&parts)
        })
        .collect()
}

/// a − b.
pub(super) fn minus(exprs: &Exprs, a: &[ExprId], b: &[ExprId]) -> Vec<ExprId> {
    a.iter().zip(b).map(|(&x, &y)| (exprs.at(x) - exprs.at(y)).id).collect()
}

/// A vector times a scalar.
pub(super) fn times(exprs: &Exprs, v: &[ExprId], factor: ExprId) -> Vec<ExprId> {
    v.iter().map(|&x| (exprs.at(factor) * exprs.at(x)).id).collect()
}

/// The time derivatives of components.
pub(super) fn rates(exprs: &Exprs, v: &[ExprId]) -> Vec<ExprId> {
    v.iter().map(|&e| exprs.time_derivative(e)).collect()
}

/// In inertial and in body axes: from the rotation's own bookkeeping if it has one, else from R′.
pub(super) fn angular_velocity(exprs: &Exprs, rotation: &Value) -> ([ExprId; 3], [ExprId; 3]) {
    if let Value::Matrix { spin: Some(spin), .. } = rotation {
        return (spin.inertial, spin.body);
    }
    let rate = rotation.map(|e| exprs.time_derivative(e));
    let transposed = rotation.transpose(exprs);
    let product = |a: &Tensor, b: &Tensor| match a.matmul(exprs, b) {
        Some(matrix) => Tensor::axial(exprs, matrix.components()),
        None => [ExprId::ZERO; 3],
    };
    match transposed {
        Some(transposed) => (product(&rate, &transposed), product(&transposed, &rate)),
        None => ([ExprId::ZERO; 3], [ExprId::ZERO; 3]),
    }
}

/// A rotation that carries its angular velocity along.
pub(super) fn with_spin(exprs: &Exprs, rotation: Value) -> Value {
    let (inertial, body) = angular_velocity(exprs, &rotation);
    match rotation {
        Value::Matrix { columns, data, spin: None } => {
            Value::Matrix { columns, data, spin: Some(Arc::new(Spin { inertial, body })) }
        }
        other => other,
    }
}

/// The quaternion of a rotation matrix, scalar part first, by the largest of its components: for a
/// matrix of numbers, of which `if` looks at one branch.
pub(super) fn quaternion_of(exprs: &Exprs, rotation: &[ExprId]) -> [ExprId; 4] {
    let r = |i: usize, j: usize| exprs.at(rotation[3 * i + j]);
    let one = exprs.at(ExprId::ONE);
    // 4e_i² on the diagonal, 4 e_i e_j beside it.
    let squares = [
        one + r(0, 0) + r(1, 1) + r(2, 2),
        one + r(0, 0) - r(1, 1) - r(2, 2),
        one - r(0, 0) + r(1, 1) - r(2, 2),
        one - r(0, 0) - r(1, 1) + r(2, 2),
    ];
    let product = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        (0, 1) => r(2, 1) - r(1, 2),
        (0, 2) => r(0, 2) - r(2, 0),
        (0, 3) => r(1, 0) - r(0, 1),
        (1, 2) => r(0, 1) + r(1, 0),
        (1, 3) => r(0, 2) + r(2, 0),
        (2, 3) => r(1, 2) + r(2, 1),
        (i, _) => squares[i],
    };
    // Not built where it is known to be one of the others: it may divide by zero.
    let known = squares.map(|square| exprs.as_number(square.id).map(|n| n >= Number::from(1)));
    let by = |pivot: usize, i: usize| (product(pivot, i) / squares[pivot].sqrt() / 2).id;
    [0, 1, 2, 3].map(|i| {
        // The squares add up to 4, so that one of them is at least 1.
        let first = (0..4).find(|&pivot| known[pivot] == Some(true)).unwrap_or(3);
        let others = (0..first).rev().filter(|&pivot| known[pivot].is_none());
        others.fold(by(first, i), |rest, pivot| {
            let small = exprs.call(Function::Negative, &[(squares[pivot] - 1).id]);
            exprs.call(Function::If, &[small, rest, by(pivot, i)])
        })
    })
}
