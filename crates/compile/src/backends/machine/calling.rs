//! Calls from the code: of functions on numbers, and out of it.
//!
//! A call may change every vector register. What is read later is stored before it; one number
//! goes in and out by register, several by their places in memory.

use super::emit::Emitter;
use super::encoder::{Address, Operand};
use super::outs;
use super::registers::Place;
use crate::tape::Register;

impl Emitter<'_> {
    /// Stores what is read later, and all of `also`.
    fn save(&mut self, also: &[Register]) {
        while let Some(spill) = self.registers.save(also) {
            self.code.store(self.memory(spill.to), spill.from);
        }
    }

    /// Calls a function of one or two numbers, with one or two results.
    pub(super) fn call(&mut self, address: usize, reads: &[Register], results: &[Register]) {
        if self.is_wide() {
            let (from, to) = self.around(reads, results);
            let arguments = [Address::Rdi, Address::Rsi, Address::Rdx];
            for (&place, register) in from.iter().chain(&to).zip(arguments) {
                self.code.address_of(register, self.memory(place));
            }
            self.code.clear_upper();
            self.code.call(address);
            return self.arrive(reads, results, &to);
        }
        reads.iter().for_each(|&value| self.read(value));
        self.save(&[]);
        match *reads {
            [a] => self.pass(0, self.as_is(a)),
            [a, b] => {
                let (a, b) = (self.as_is(a), self.as_is(b));
                // The first argument's register may hold the second argument.
                if b == Operand::Register(0) && a == Operand::Register(1) {
                    self.code.load(2, b);
                    self.pass(0, a);
                    self.pass(1, Operand::Register(2));
                } else if b == Operand::Register(0) {
                    self.pass(1, b);
                    self.pass(0, a);
                } else {
                    self.pass(0, a);
                    self.pass(1, b);
                }
            }
            _ => self.is_sound = false,
        }
        self.registers.clear();
        reads.iter().for_each(|&value| self.registers.vacate(value));
        self.code.call(address);
        // All of them are there at once, before the first is looked at.
        for (register, &value) in results.iter().enumerate() {
            self.registers.bind(value, register as u8);
        }
        for (register, &value) in results.iter().enumerate() {
            self.define(&[], value, register as u8);
        }
    }

    /// Calls a function of one number that writes two results to where it is told.
    pub(super) fn call_into(&mut self, address: usize, read: Register, results: &[Register; 2]) {
        self.read(read);
        self.save(&[]);
        self.pass(0, self.as_is(read));
        self.registers.clear();
        let to = self.places_for(results);
        for (&place, register) in to.iter().zip([Address::Rdi, Address::Rsi]) {
            self.code.address_of(register, self.memory(place));
        }
        self.code.call(address);
        self.arrive(&[read], results, &to);
    }

    fn pass(&mut self, register: u8, from: Operand) {
        if from != Operand::Register(register) {
            self.code.load(register, from);
        }
    }

    /// Calls out of the code, with the number of the next call in its list. The places of what
    /// is read and of the results.
    pub(super) fn call_out(
        &mut self,
        reads: &[Register],
        results: &[Register],
    ) -> (Vec<Place>, Vec<Place>) {
        let (from, to) = self.around(reads, results);
        from.iter().chain(&to).for_each(|&place| {
            self.memory(place);
        });
        self.code.copy_address(Address::Rdi, Address::R15);
        self.code.number(Address::Rsi, self.outs.len() as u32);
        if self.is_wide() {
            self.code.clear_upper();
        }
        self.code.call(outs::address(self.code.width));
        self.arrive(reads, results, &to);
        (from, to)
    }

    /// Ahead of a call through memory: places of what it reads and of its results.
    fn around(&mut self, reads: &[Register], results: &[Register]) -> (Vec<Place>, Vec<Place>) {
        reads.iter().for_each(|&value| self.read(value));
        self.save(reads);
        self.registers.clear();
        let from = reads.iter().map(|&value| self.place_of(value)).collect();
        (from, self.places_for(results))
    }

    /// The places that results are written to.
    fn places_for(&mut self, results: &[Register]) -> Vec<Place> {
        let place_for = |&value: &Register| {
            let next = self.next_use();
            self.registers.write(value, next);
            match self.layout.sink(self.part, value) {
                Some(place) => {
                    self.registers.set_home(value, place);
                    place
                }
                None => self.registers.new_home(value),
            }
        };
        results.iter().map(place_for).collect()
    }

    /// After it: results go to further outputs, and places are given back.
    fn arrive(&mut self, reads: &[Register], results: &[Register], to: &[Place]) {
        for &place in to {
            let mut sink = self.layout.next_sink(place);
            if sink.is_some() {
                self.code.load(0, Operand::Memory(self.memory(place)));
            }
            while let Some(other) = sink {
                self.code.store(self.memory(other), 0);
                sink = self.layout.next_sink(other);
            }
        }
        reads.iter().chain(results).for_each(|&value| self.registers.vacate(value));
    }
}
