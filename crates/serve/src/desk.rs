//! What the worker and the answers share: the last good page, what is going on, what is asked for.

use axum::body::Bytes;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// A page that was made.
#[derive(Clone, Default)]
pub(crate) struct Sheet {
    pub html: Bytes,
    pub data: Bytes,
    /// The values that may be asked for.
    pub names: Vec<String>,
}

/// What is said to every page that listens.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct State {
    /// How many pages were made.
    pub version: u64,
    pub running: bool,
    /// Diagnostics, as text; empty if there are none.
    pub trouble: String,
    /// Whether the page is an older one, since there is none of what is asked for.
    pub stale: bool,
}

impl State {
    pub fn to_json(&self) -> String {
        let State { version, running, trouble, stale } = self;
        json!({ "version": version, "running": running, "trouble": trouble, "stale": stale })
            .to_string()
    }
}

/// Values by name that take the place of the model's.
pub(crate) type Values = BTreeMap<String, f64>;

#[derive(Default)]
struct Orders {
    /// Counts what was asked for.
    number: u64,
    values: Values,
    is_over: bool,
}

pub(crate) struct Desk {
    sheet: Mutex<Sheet>,
    state: watch::Sender<State>,
    orders: Mutex<Orders>,
    bell: Condvar,
}

impl Default for Desk {
    fn default() -> Desk {
        Desk {
            sheet: Mutex::default(),
            state: watch::Sender::new(State { running: true, ..State::default() }),
            orders: Mutex::default(),
            bell: Condvar::new(),
        }
    }
}

impl Desk {
    pub fn sheet(&self) -> Sheet {
        lock(&self.sheet).clone()
    }

    pub fn listen(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub fn say_running(&self) {
        self.state.send_modify(|state| state.running = true);
    }

    /// A page is there; what was wrong is over, but for what is told beside it.
    pub fn publish(&self, sheet: Sheet, trouble: String) {
        *lock(&self.sheet) = sheet;
        self.state.send_modify(|state| {
            *state = State { version: state.version + 1, running: false, trouble, stale: false };
        });
    }

    /// No page; the last one stays.
    pub fn complain(&self, trouble: String) {
        self.state.send_modify(|state| {
            state.running = false;
            state.trouble = trouble;
            state.stale = true;
        });
    }

    /// Asks for values beside those asked for before; none at all asks for the model's own.
    pub fn ask(&self, values: Values) {
        let mut orders = lock(&self.orders);
        orders.number += 1;
        if values.is_empty() {
            orders.values.clear();
        }
        orders.values.extend(values);
        self.bell.notify_all();
    }

    /// What the source says now goes before what was asked for.
    pub fn forget(&self) {
        lock(&self.orders).values.clear();
    }

    pub fn end(&self) {
        lock(&self.orders).is_over = true;
        self.bell.notify_all();
    }

    pub fn is_over(&self) -> bool {
        lock(&self.orders).is_over
    }

    /// What is asked for last, and its number.
    pub fn order(&self) -> (u64, Values) {
        let orders = lock(&self.orders);
        (orders.number, orders.values.clone())
    }

    /// Whether something else is asked for since.
    pub fn is_outdated(&self, number: u64) -> bool {
        let orders = lock(&self.orders);
        orders.is_over || orders.number != number
    }

    /// Waits until something else is asked for, but not for long.
    pub fn wait(&self, number: u64, pause: Duration) {
        let orders = lock(&self.orders);
        let idle = |orders: &mut Orders| !orders.is_over && orders.number == number;
        let _ = self.bell.wait_timeout_while(orders, pause, idle);
    }
}

/// What is behind a lock is whole at any time, so a thread that panicked does no harm to it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
