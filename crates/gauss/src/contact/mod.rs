//! Who opens, slips and sticks: contacts and dry friction at one state, decided all together.
//!
//! Beside the rows A v̇ = b there are touching contacts, each with a gap g whose normal row gives
//! g'' = G v̇ − γ, and slip velocities s with s' = W v̇ − ω. With loads N on the gaps and T on the
//! slips,
//!
//! ```text
//! Γ v̇ = F + C + Aᵀλ + GᵀN + WᵀT ,   A v̇ = b ,
//! 0 ≤ N ⊥ g'' ≥ 0 ,
//! |T| ≤ μN where s' = 0 ,   T = −μN d where the contact slips along d
//! ```
//!
//! (Signorini's and Coulomb's laws at acceleration level; Moreau 1988, Glocker 2001). The direction
//! d is that of s where s ≠ 0, and that of s' where s = 0: breakaway. A friction without a contact
//! has a bound F in place of μN. Impacts are the same problem with velocities in place of
//! accelerations ([`impact`]).
//!
//! What is solved is brought into the space of the contacts first ([`Space`]): with the rows A
//! eliminated the accelerations there are a = c + Y u, u = Yᵀ(N, T), so that D = Y Yᵀ. There every
//! mode of every contact is a statement "some nonnegative combination", and whether a choice of
//! modes has a solution is one nonnegative least-squares problem ([`nonneg`]), decided to
//! rounding, dependent rows included. Choices are enumerated where they are few, which also
//! tells whether the motion is the only one; where they are many, Lemke's method finds one
//! ([`lemke`]) and others are looked for beside it.
//!
//! Slips of several components are brought to slips of one by a search for their directions ([`cone`]),
//! from loads that are near where that does not end, and the motion is the only one where that can be
//! proved ([`rub`]).
//!
//! Loads may be many where the motion is one: that is told ([`Decision::loads_are_unique`]) and is no
//! fault. Several motions, or none, are possible where friction turns a normal load into its own
//! opposite (Painlevé 1895).

pub mod cone;
pub mod decide;
pub mod impact;
pub mod lemke;
pub mod nonneg;
pub mod rub;
pub mod space;

pub use decide::{Decision, Found, Verdict, decide};
pub use impact::{Impact, ImpactError, Struck, strike_in_turn, strike_together};
pub use space::{Space, SpaceError, Touches};

/// What a contact or friction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// No load.
    Open,
    /// Closed, and slipping forwards (along its first slip) if it has friction.
    Forwards,
    /// Slipping backwards.
    Backwards,
    /// Closed without slip. A contact without friction is never this.
    Stick,
}

/// How much friction there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// |T| ≤ μN; 0 for none.
    Coefficient(f64),
    /// |T| ≤ F.
    Bound(f64),
}

/// Whether it slips already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// s = 0: it may stick or break away.
    None,
    /// s > 0.
    Forwards,
    /// s < 0.
    Backwards,
}

/// One contact or friction in the space of the contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The row of its gap; none for a friction without a contact.
    pub normal: Option<usize>,
    /// The row of its slip, if it has any friction.
    pub slip: Option<usize>,
    /// How much friction there is.
    pub law: Law,
    /// Whether it slips already.
    pub moves: Slip,
    /// Friction that is known to slip must not be found to stick: it has just broken away from a
    /// larger bound.
    pub must_slip: bool,
    /// Rows that do not slip at all while it is closed, from one to before another, whatever it takes:
    /// slips of several components that are tried to stick, see [`cone`].
    pub held: Option<(usize, usize)>,
}

impl Touch {
    /// μ, 0 where there is no friction or no contact.
    pub fn coefficient(&self) -> f64 {
        match (self.law, self.slip) {
            (Law::Coefficient(mu), Some(_)) => mu,
            _ => 0.0,
        }
    }

    /// F of a friction without a contact.
    pub fn bound(&self) -> f64 {
        match self.law {
            Law::Bound(bound) => bound,
            Law::Coefficient(_) => 0.0,
        }
    }

    /// The modes it may have.
    pub fn modes(&self) -> Vec<Mode> {
        use Mode::{Backwards, Forwards, Open, Stick};
        let mut modes = Vec::with_capacity(4);
        if self.normal.is_some() {
            modes.push(Open);
        }
        let has_friction = self.slip.is_some() && (self.coefficient() > 0.0 || self.bound() > 0.0);
        match (self.moves, has_friction) {
            // What is held is neither: closed.
            (_, false) | (Slip::Forwards, true) => modes.push(Forwards),
            (Slip::Backwards, true) => modes.push(Backwards),
            (Slip::None, true) => {
                if !self.must_slip {
                    modes.insert(0, Stick);
                }
                modes.extend([Forwards, Backwards]);
            }
        }
        modes
    }
}
