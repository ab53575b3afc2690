//! Impacts that pile up: infinitely many in a finite time.
//!
//! A ball that keeps the part e of its speed bounces after intervals d, d e, d e², …, which add up. If
//! the last intervals of a contact all shrink, the rest of their sum is extrapolated from the last
//! two; when it is a small part of the time that they have been shrinking for, the contact comes to
//! rest.

/// So many intervals must shrink.
const SHRINKING: usize = 5;
/// What is left is this part of what has passed,
const LEFT: f64 = 1e-10;
/// or so many ε of the time.
const INSTANT: f64 = 2048.0 * f64::EPSILON;

/// The times of impacts, by contact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piles {
    contacts: Vec<Pile>,
}

#[derive(Clone, Debug, Default)]
struct Pile {
    /// The last times.
    times: Vec<f64>,
    /// When intervals began to shrink.
    since: f64,
}

impl Piles {
    /// Adds an impact of a contact; true if its impacts pile up here.
    pub fn add(&mut self, contact: usize, t: f64) -> bool {
        if self.contacts.len() <= contact {
            self.contacts.resize(contact + 1, Pile::default());
        }
        let pile = &mut self.contacts[contact];
        if pile.times.is_empty() {
            pile.since = t;
        }
        pile.times.push(t);
        if pile.times.len() > SHRINKING + 1 {
            pile.times.remove(0);
        }
        let last: Vec<f64> = pile.times.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        if let [.., before, now] = last[..]
            && !(now < before)
        {
            pile.since = t;
            pile.times.clear();
            pile.times.push(t);
            return false;
        }
        if last.len() < SHRINKING {
            return false;
        }
        let (before, now) = (last[SHRINKING - 2], last[SHRINKING - 1]);
        let rest = now * now / (before - now);
        rest <= (LEFT * (t - pile.since).abs()).max(INSTANT * t.abs())
    }

    /// Contacts whose impacts pile up at this time, beside one that does.
    pub fn beside(&self, contact: usize, t: f64) -> Vec<usize> {
        let Some([.., before, _]) = self.contacts.get(contact).map(|p| &p.times[..]) else {
            return vec![contact];
        };
        let reach = 4.0 * (t - before).abs();
        let is_near = |pile: &Pile| {
            pile.times.len() > SHRINKING
                && pile.times.last().is_some_and(|l| (t - l).abs() <= reach)
        };
        (0..self.contacts.len()).filter(|&c| c == contact || is_near(&self.contacts[c])).collect()
    }

    /// A contact that has come to rest begins anew.
    pub fn forget(&mut self, contact: usize) {
        if let Some(pile) = self.contacts.get_mut(contact) {
            pile.times.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_intervals_end() {
        let mut piles = Piles::default();
        let (mut t, mut d) = (0.0, 1.0);
        let count = (0..400).find(|_| {
            t += d;
            d *= 0.7;
            piles.add(0, t)
        });
        assert!(count.is_some_and(|c| (50..80).contains(&c)), "{count:?}");
        assert!((t - 1.0 / 0.3).abs() < 1e-8);
    }

    #[test]
    fn other_intervals_do_not() {
        let mut piles = Piles::default();
        assert!((0..2000).all(|k| !piles.add(0, 1e-4 * f64::from(k))));
        let mut t = 0.0;
        assert!((1..2000).all(|k| {
            t += 1.0 / f64::from(k);
            !piles.add(1, t)
        }));
    }
}
