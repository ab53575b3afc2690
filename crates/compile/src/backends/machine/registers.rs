//! Which value is in which register of the processor, and which in memory.
//!
//! Code without jumps is known to its end, so the best choice can be made: when a register is
//! wanted and none is free, the value whose next read is farthest away gives up its own (Belady,
//! A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5, 1966).
//! It is stored if no copy of it is in memory yet; each value is written once, so a copy stays
//! good. Places of the frame are given back after the last read.

use super::encoder::Vector;
use crate::tape::Register;

/// The end of the tape: what is read next there is not read at all.
pub(super) const NEVER: u32 = u32::MAX;

/// How many registers there are.
const COUNT: usize = 16;

/// The list that a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The function's own.
    Frame,
    /// The variables.
    X,
    /// The outputs.
    Y,
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

impl Place {
    /// No place.
    pub(super) const NONE: Place = Place(u32::MAX);
    /// The largest number of places in a list. It leaves room in 32 bits for the list's own
    /// number, and in the displacement of an instruction for 64 bytes a place.
    pub(super) const LIMIT: usize = 1 << 24;

    /// The place of a number in a list.
    pub(super) fn new(base: Base, index: usize) -> Place {
        debug_assert!(index < Place::LIMIT);
        Place((base as u32) << 30 | index as u32)
    }

    /// The list.
    pub(super) fn base(self) -> Base {
        match self.0 >> 30 {
            0 => Base::Frame,
            1 => Base::X,
            _ => Base::Y,
        }
    }

    /// As a number, for lists of registers that become lists of places.
    pub(super) fn to_register(self) -> Register {
        self.0
    }

    /// Back from a number.
    pub(super) fn of_register(number: Register) -> Place {
        Place(number)
    }

    /// The number in the list.
    pub(super) fn index(self) -> usize {
        (self.0 & ((1 << 30) - 1)) as usize
    }
}

/// A value that has to be stored before its register holds another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spill {
    pub(super) from: Vector,
    pub(super) to: Place,
}

/// No register.
const NOWHERE: u8 = u8::MAX;

/// Where the values of a tape are, as the code goes on.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    /// Of each value its register, its copy in memory and where it is read next.
    at: Vec<u8>,
    home: Vec<Place>,
    next: Vec<u32>,
    /// Of each register its value and where that is read next.
    holds: [Register; COUNT],
    until: [u32; COUNT],
    free: u16,
    /// Registers that the instruction at hand reads or writes.
    pinned: u16,
    /// Places of the frame up to here are not given back.
    fixed: usize,
    count: usize,
    spare: Vec<u32>,
}

impl Registers {
    /// Values in their places, none in a register. `fixed` places of the frame are in use.
    pub(super) fn new(home: Vec<Place>, next: Vec<u32>, fixed: usize) -> Registers {
        Registers {
            at: vec![NOWHERE; home.len()],
            home,
            next,
            holds: [0; COUNT],
            until: [0; COUNT],
            free: u16::MAX,
            pinned: 0,
            fixed,
            count: fixed,
            spare: Vec::new(),
        }
    }

    /// The register of a value.
    #[inline]
    pub(super) fn register(&self, value: Register) -> Option<Vector> {
        let at = self.at[value as usize];
        (at != NOWHERE).then_some(at)
    }

    /// The copy of a value in memory.
    pub(super) fn home(&self, value: Register) -> Option<Place> {
        let home = self.home[value as usize];
        (home != Place::NONE).then_some(home)
    }

    /// Whether nothing reads a value from here on.
    #[inline]
    pub(super) fn is_dead(&self, value: Register) -> bool {
        self.next[value as usize] == NEVER
    }

    /// Notes that the instruction at hand reads a value, and where the next one does. False if
    /// the value is nowhere.
    #[inline]
    pub(super) fn read(&mut self, value: Register, next: u32) -> bool {
        self.next[value as usize] = next;
        match self.at[value as usize] {
            NOWHERE => self.home[value as usize] != Place::NONE,
            at => {
                self.until[at as usize] = next;
                self.pinned |= 1 << at;
                true
            }
        }
    }

    /// Lets registers of the instruction at hand be taken.
    pub(super) fn unpin(&mut self) {
        self.pinned = 0;
    }

    /// The register to give up: with the farthest next read of those that are not pinned.
    fn farthest(&self) -> usize {
        let mut best = (0, 0);
        for (register, &until) in self.until.iter().enumerate() {
            let open = u32::from(self.pinned >> register & 1 == 0);
            best = best.max((until * open, register));
        }
        best.1
    }

    /// Whether a value that is in memory and read again should get a register: there is a free
    /// one, or one that is given up at no cost for something read later.
    pub(super) fn is_worth(&self, value: Register) -> bool {
        if self.free != 0 {
            return true;
        }
        let register = self.farthest();
        let other = self.holds[register];
        self.until[register] > self.next[value as usize] && self.home[other as usize] != Place::NONE
    }

    /// A register, pinned, that holds nothing; what was in it may have to be stored.
    pub(super) fn take(&mut self) -> (Vector, Option<Spill>) {
        let (register, spill) = if self.free != 0 {
            (self.free.trailing_zeros() as usize, None)
        } else {
            let register = self.farthest();
            let value = self.holds[register];
            self.at[value as usize] = NOWHERE;
            (register, self.settle(value, register as Vector))
        };
        self.free &= !(1 << register);
        self.pinned |= 1 << register;
        (register as Vector, spill)
    }

    /// A copy in memory for a value in a register, if there is none.
    fn settle(&mut self, value: Register, from: Vector) -> Option<Spill> {
        if self.home[value as usize] != Place::NONE {
            return None;
        }
        let to = self.place();
        self.home[value as usize] = to;
        Some(Spill { from, to })
    }

    /// A place of the frame.
    fn place(&mut self) -> Place {
        let index = self.spare.pop().map_or_else(
            || {
                self.count += 1;
                self.count - 1
            },
            |index| index as usize,
        );
        Place::new(Base::Frame, index)
    }

    /// Puts a value into a register that was taken or is its own.
    #[inline]
    pub(super) fn bind(&mut self, value: Register, register: Vector) {
        let place = register as usize;
        self.at[value as usize] = register;
        self.holds[place] = value;
        self.until[place] = self.next[value as usize];
        self.free &= !(1 << register);
    }

    /// Notes where a value that is written is read first.
    #[inline]
    pub(super) fn write(&mut self, value: Register, next: u32) {
        self.next[value as usize] = next;
    }

    /// Notes the copy of a value in memory.
    pub(super) fn set_home(&mut self, value: Register, home: Place) {
        self.home[value as usize] = home;
    }

    /// A copy in memory for a value that is written there.
    pub(super) fn new_home(&mut self, value: Register) -> Place {
        let place = self.place();
        self.home[value as usize] = place;
        place
    }

    /// Gives a register back that holds no value.
    pub(super) fn give_back(&mut self, register: Vector) {
        self.free |= 1 << register;
        self.until[register as usize] = 0;
    }

    /// Gives the register of a value back if nothing reads it any more. Its place stays, for the
    /// instruction at hand may still read that.
    #[inline]
    pub(super) fn release(&mut self, value: Register) {
        let at = self.at[value as usize];
        if at != NOWHERE && self.is_dead(value) {
            self.at[value as usize] = NOWHERE;
            self.give_back(at);
        }
    }

    /// Gives the place of a value back if nothing reads it any more.
    #[inline]
    pub(super) fn vacate(&mut self, value: Register) {
        let home = self.home[value as usize];
        if home.0 < 1 << 30 && home.index() >= self.fixed && self.is_dead(value) {
            self.home[value as usize] = Place::NONE;
            self.spare.push(home.0);
        }
    }

    /// Takes a register over from a value that nothing reads any more.
    pub(super) fn inherit(&mut self, value: Register) {
        self.at[value as usize] = NOWHERE;
    }

    /// Ahead of a call, which may change every register: the next store that is due, of values
    /// that are read later and of those in `also`.
    pub(super) fn save(&mut self, also: &[Register]) -> Option<Spill> {
        let mut used = !self.free;
        while used != 0 {
            let register = used.trailing_zeros() as Vector;
            used &= used - 1;
            let value = self.holds[register as usize];
            if !self.is_dead(value) || also.contains(&value) {
                let spill = self.settle(value, register);
                if spill.is_some() {
                    return spill;
                }
            }
        }
        None
    }

    /// After a call: no register holds anything.
    pub(super) fn clear(&mut self) {
        for register in 0..COUNT {
            if self.free >> register & 1 == 0 {
                self.at[self.holds[register] as usize] = NOWHERE;
            }
        }
        (self.free, self.pinned, self.until) = (u16::MAX, 0, [0; COUNT]);
    }
}
