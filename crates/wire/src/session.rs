//! Sessions: keys that were agreed with a daemon, and the commands for which it takes them again (`docs/reference/wire-cedar.md` 8).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::key::Key;

/// Daemons whose sessions are kept; with more, all are forgotten.
const MAX_PEERS: usize = 2000;

/// Sessions with a daemon that are kept.
const MAX_SESSIONS: usize = 4;

/// A session with a daemon.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) key: Key,
    /// The identity that the daemon gives the client.
    pub(crate) user: String,
    /// The commands of the client for which it can be resumed.
    pub(crate) commands: Vec<i64>,
    pub(crate) expires: Instant,
    /// It also ends when it is not used for this time.
    pub(crate) lease: Duration,
    /// The version of the daemon.
    pub(crate) version: String,
}

impl Session {
    /// True if the daemon still knows the session, which was used last at a time.
    fn is_valid(&self, used: Instant, now: Instant) -> bool {
        now < self.expires && now.duration_since(used) < self.lease
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The ID of an imported session is part of a claim.
        f.debug_struct("Session").field("user", &self.user).field("commands", &self.commands).finish_non_exhaustive()
    }
}

/// The sessions of a client, by the address of the daemon.
#[derive(Debug, Default)]
pub(crate) struct SessionCache(Mutex<HashMap<String, Sessions>>);

/// The sessions with a daemon, and when each was used.
type Sessions = Vec<(Arc<Session>, Instant)>;

impl SessionCache {
    /// A session for a command.
    pub(crate) fn find(&self, peer: &str, command: i64) -> Option<Arc<Session>> {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sessions = peers.get_mut(peer)?;
        let now = Instant::now();
        sessions.retain(|(session, used)| session.is_valid(*used, now));
        let (session, used) = sessions.iter_mut().find(|(session, _)| session.commands.contains(&command))?;
        *used = now;
        Some(Arc::clone(session))
    }

    /// Keeps a session, if it can be resumed.
    pub(crate) fn keep(&self, peer: &str, session: &Arc<Session>) {
        if session.commands.is_empty() {
            return;
        }
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A daemon that is restarted has another address, and is not asked at the old one again.
        if peers.len().is_power_of_two() && !peers.contains_key(peer) {
            let now = Instant::now();
            peers.retain(|_, sessions| sessions.iter().any(|(session, used)| session.is_valid(*used, now)));
        }
        if peers.len() >= MAX_PEERS {
            peers.clear();
        }
        let sessions = peers.entry(peer.to_owned()).or_default();
        sessions.truncate(MAX_SESSIONS - 1);
        sessions.insert(0, (Arc::clone(session), Instant::now()));
    }

    /// Forgets a session that the daemon does not know.
    pub(crate) fn forget(&self, peer: &str, id: &str) {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sessions) = peers.get_mut(peer) {
            sessions.retain(|(session, _)| session.id != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, seconds: u64) -> Arc<Session> {
        Arc::new(Session {
            id: id.to_owned(),
            key: Key::of_session(b"very secret"),
            user: "alice@pool.test".to_owned(),
            commands: vec![5, 6],
            expires: Instant::now() + Duration::from_secs(seconds),
            lease: Duration::from_hours(1),
            version: String::new(),
        })
    }

    #[test]
    fn sessions_are_found_by_peer_and_command_until_they_end() {
        let cache = SessionCache::default();
        cache.keep("a", &session("1", 60));
        cache.keep("b", &session("2", 0));
        assert_eq!(cache.find("a", 6).map(|session| session.id.clone()).as_deref(), Some("1"));
        assert!(cache.find("a", 7).is_none() && cache.find("b", 5).is_none() && cache.find("c", 5).is_none());
        cache.forget("a", "1");
        assert!(cache.find("a", 5).is_none());
    }

    #[test]
    fn daemons_that_were_restarted_are_forgotten() {
        let cache = SessionCache::default();
        cache.keep("collector", &session("1", 60));
        for number in 0..1000 {
            cache.keep(&format!("schedd_{number}"), &session("2", 0));
        }
        assert!(cache.0.lock().unwrap().len() <= 4);
        assert!(cache.find("collector", 5).is_some());
    }

    #[test]
    fn debug_output_has_no_key_and_no_id() {
        let cache = SessionCache::default();
        cache.keep("a", &session("<1.2.3.4:5>#77#88", 60));
        let shown = format!("{cache:?}");
        assert!(shown.contains("alice") && !shown.contains("#77") && !shown.contains("secret"), "{shown}");
    }
}
