//! [`Seating`]: who sits where: which connection a session uses.
//!
//! A user has one seat for as long as he stays. A session that arrives, and a user who turns to a further target, get
//! seats when they first need them and give them back when they go.

use wavetank_driver::Driver;
use wavetank_plan::{ConnectionUse, Key, Nanos};

use super::Worker;
use crate::offered::{Offered, Owner};
use crate::sessions::{Ended, Whose};
use crate::slab::Id;

/// Seats that were given out, by whose they are.
#[derive(Default)]
pub(crate) struct Seating {
    /// Those of sessions that arrived, by their places.
    arrivals: Vec<Given>,
    /// Those of users beside their first one; empty where nobody has any.
    users: Vec<Given>,
}

/// Seats of one session or user, each with the target that it leads to.
#[derive(Default)]
enum Given {
    #[default]
    None,
    One(u16, u32),
    More(Vec<(u16, u32)>),
}

impl Given {
    fn to(&self, target: u16) -> Option<u32> {
        match self {
            Self::None => None,
            Self::One(to, seat) => (*to == target).then_some(*seat),
            Self::More(all) => all.iter().find(|(to, _)| *to == target).map(|(_, seat)| *seat),
        }
    }

    fn add(&mut self, target: u16, seat: u32) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(target, seat),
            Self::One(to, first) => Self::More(vec![(to, first), (target, seat)]),
            Self::More(mut all) => {
                all.push((target, seat));
                Self::More(all)
            }
        };
    }

    /// All of them, each with none left behind.
    fn pop(&mut self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::One(_, seat) => {
                let seat = *seat;
                *self = Self::None;
                Some(seat)
            }
            Self::More(all) => {
                let last = all.pop().map(|(_, seat)| seat);
                if all.is_empty() {
                    *self = Self::None;
                }
                last
            }
        }
    }
}

impl<D: Driver> Worker<D> {
    /// A session that is one request and nothing else, with a connection of its own, is taken up.
    #[cold]
    pub(super) fn begin_of_guest(&mut self, offered: Offered, now: Nanos) {
        let seat = self.exchanges.connections.welcome();
        let offered = Offered { owner: Owner::Guest(seat), ..offered };
        if let Some(resolved) = self.exchanges.begin(offered, Some(seat), now, &mut self.rec) {
            self.see_off(seat, resolved.at);
        }
    }

    /// Whoever had this seat has gone.
    #[cold]
    pub(super) fn see_off(&mut self, seat: u32, at: Nanos) {
        self.exchanges.connections.see_off(seat, self.plan.http.close, at, &mut self.rec);
    }

    /// A connection ahead of its phase: on this seat of a user, or a shared one.
    pub(super) fn open_this_ahead(&mut self, seat: Option<u32>, phase: u16) {
        let user = seat.and_then(|seat| self.users.on_seat(seat));
        let target = match user {
            Some(user) => self.home_of_user(user),
            None => self.sessions.first_home(self.plan.phases[usize::from(phase)].mix.at(0)),
        };
        let connections = &mut self.exchanges.connections;
        match seat {
            Some(seat) => connections.open_ahead(seat, target, phase, &mut self.rec),
            None => connections.open_shared_ahead(target, phase, &mut self.rec),
        }
    }

    /// Where the first request of `user` goes, and with it the seat that he has from the beginning.
    pub(super) fn home_of_user(&self, user: u32) -> u16 {
        self.sessions.home_of_user(self.users.scenario_of(user), self.users.number(user))
    }

    /// The seat on which session `id` sends the request of this key, `None`: any that is shared; and where that goes.
    pub(super) fn seat_for(&mut self, id: Id, key: Key) -> (Option<u32>, u16) {
        let target = self.sessions.target(id, key.step);
        (self.seat_to(id, key.scenario, target), target)
    }

    /// The seat on which session `id` reaches `target`; `None`: any that is shared.
    pub(super) fn seat_to(&mut self, id: Id, scenario: u16, target: u16) -> Option<u32> {
        if self.plan.scenarios[usize::from(scenario)].connection == ConnectionUse::Shared {
            return None;
        }
        let (list, place) = match self.sessions.user(id) {
            Some(user) if target == self.sessions.home(id) => {
                let seat = self.users.seat(user);
                self.exchanges.connections.turn_to(seat, target, &mut self.rec);
                return Some(seat);
            }
            Some(user) => (&mut self.seating.users, user as usize),
            None => (&mut self.seating.arrivals, id.place()),
        };
        if list.len() <= place {
            list.resize_with(place + 1, Given::default);
        }
        let given = &mut list[place];
        let known = given.to(target);
        known.or_else(|| {
            let seat = self.exchanges.connections.welcome();
            given.add(target, seat);
            Some(seat)
        })
    }

    /// A session has ended: what it had for itself is closed.
    pub(super) fn leave_seats(&mut self, ended: &Ended, at: Nanos) {
        match ended.whose {
            Whose::Arrival => {
                while let Some(seat) =
                    self.seating.arrivals.get_mut(ended.place as usize).and_then(Given::pop)
                {
                    self.see_off(seat, at);
                }
            }
            Whose::User(user) => {
                let connection = self.plan.scenarios[usize::from(ended.key.scenario)].connection;
                if connection == ConnectionUse::Session {
                    self.leave_further_seats(user, at);
                    let seat = self.users.seat(user);
                    self.exchanges.connections.let_go(seat, self.plan.http.close, at, &mut self.rec);
                }
            }
        }
    }

    /// A user gives back what he has beside his first seat.
    pub(super) fn leave_further_seats(&mut self, user: u32, at: Nanos) {
        while let Some(seat) = self.seating.users.get_mut(user as usize).and_then(Given::pop) {
            self.see_off(seat, at);
        }
    }
}
