//! Whether the constraints at velocity level can be integrated: all of them
//! together, how many combinations, each row.

use crate::left_out::{LeftOut, is_large};
use crate::pfaff::{Flag, FlagError, Pfaffian};
use crate::places::{Places, Point};
use crate::rows::{Forms, Integrable};
use crate::shown::Shown;
use dalembert_expr::{Exprs, Jacobian};
use dalembert_model::system::{Level, System};

/// Up to this many coordinates a chart is made of holonomic rows.
const WRITTEN: usize = 25;

/// What is true of the rows at position and velocity level as a set.
#[derive(Clone, Debug)]
pub struct Integrability {
    /// Whether all of them together are holonomic; `None` where it was not found out.
    pub holonomic: Option<bool>,
    /// How many independent combinations are integrable, holonomic rows included.
    pub integrable: Option<usize>,
    /// The growth vector in (q, t).
    pub growth: Option<Vec<usize>>,
    /// The growth vector at the start, where it is another one.
    pub growth_at_start: Option<Vec<usize>>,
    /// By constraint: whether the row can be integrated.
    pub rows: Vec<Option<Integrable>>,
    /// How it was established.
    pub shown: Shown,
    /// What keeps the answer from being complete.
    pub note: Option<String>,
    /// Set where it was not looked at.
    pub left_out: Option<LeftOut>,
    /// The flag behind it, where there is one.
    pub flag: Option<Flag>,
}

/// The forms some of which are picked.
fn part(forms: &Jacobian, rows: &[usize]) -> Jacobian {
    Jacobian { rows: rows.iter().map(|&r| forms.rows[r].clone()).collect(), columns: forms.columns }
}

/// Frobenius and the derived flag for the rows of a system.
pub fn integrability(
    exprs: &Exprs,
    system: &System,
    forms: &Forms,
    places: &Places,
    start: &Point,
) -> Integrability {
    let mut rows = vec![None; system.constraints.len()];
    for &row in &forms.nonlinear {
        rows[row] = Some(Integrable::Not);
    }
    let is_velocity = |row: usize| system.constraints[row].level == Level::Velocity;
    let mut found = Integrability {
        holonomic: None,
        integrable: None,
        growth: None,
        growth_at_start: None,
        rows,
        shown: Shown::Symbolic,
        note: None,
        left_out: None,
        flag: None,
    };
    let open: Vec<String> =
        forms.open.iter().map(|&r| format!("`{}`", system.constraints[r].name)).collect();
    if !open.is_empty() {
        found.note = Some(format!("the affine form of {} was not found", open.join(", ")));
    }
    let pfaffian = Pfaffian { exprs, x: forms.x.clone(), forms: forms.forms.clone() };
    // Forms dφ are exact, and so is what they span: nothing to be shown.
    if !forms.rows.iter().any(|&r| is_velocity(r)) {
        let Some(ranked) = pfaffian.rank(places) else {
            found.note = Some("the constraints have no values near the start".to_owned());
            return found;
        };
        found.integrable = Some(ranked.rank());
        found.growth = Some(vec![forms.x.len() - ranked.rank()]);
        found.shown = ranked.shown;
        found.holonomic =
            if !forms.nonlinear.is_empty() { Some(false) } else { open.is_empty().then_some(true) };
        if !forms.nonlinear.is_empty() || !open.is_empty() {
            found.growth = None;
        } else if forms.x.len() <= WRITTEN {
            found.flag = pfaffian.flag_of_exact(places).ok();
        }
        for &row in &forms.rows {
            found.rows[row] = Some(Integrable::Alone);
        }
        return found;
    }
    if is_large(forms.x.len(), forms.rows.len()) {
        found.note = Some(LeftOut::Integrability.to_string());
        found.left_out = Some(LeftOut::Integrability);
        return found;
    }
    let flag = match pfaffian.flag(places) {
        Ok(flag) => flag,
        Err(error) => {
            found.note = Some(match error {
                FlagError::Undefined => {
                    "the constraints have no values, or no regular chart, near the start"
                }
                FlagError::NoTime => {
                    "the constraints together leave time no way to pass: they imply a relation among positions that is not written"
                }
            }
            .to_owned());
            return found;
        }
    };
    found.integrable = flag.integrable();
    found.shown = flag.shown.clone();
    if !flag.ended {
        found.note = Some("brackets beyond those given were too large to be made".to_owned());
    }
    // Each row alone, then as one of the integrable combinations.
    for (at, &row) in forms.rows.iter().enumerate() {
        if !is_velocity(row) {
            found.rows[row] = Some(Integrable::Alone);
            continue;
        }
        let alone = Pfaffian { exprs, x: forms.x.clone(), forms: part(&forms.forms, &[at]) };
        let form = &forms.forms.rows[at];
        found.rows[row] = match alone.is_involutive(places) {
            Ok(true) => Some(Integrable::Alone),
            _ if flag.ended && pfaffian.vanishes_on(form, &flag.fields, places) => {
                Some(Integrable::Together)
            }
            Ok(false) if flag.ended => Some(Integrable::Not),
            _ => None,
        };
    }
    if forms.nonlinear.is_empty() && open.is_empty() {
        found.growth = Some(flag.growth.clone());
        found.growth_at_start =
            pfaffian.growth_at(&flag, start).filter(|growth| *growth != flag.growth);
    }
    found.holonomic = if !forms.nonlinear.is_empty() || flag.growth.len() > 1 {
        Some(false)
    } else {
        (open.is_empty() && flag.ended).then_some(true)
    };
    found.flag = Some(flag);
    found
}
