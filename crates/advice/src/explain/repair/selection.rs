//! The few suggestions that are shown without details.

use crate::explain::repair::suggestion::{Change, Changed, Suggestion};

/// Maximum number of suggestions without details.
pub const MAX_SHOWN: usize = 3;

/// Marks the suggestions to show: of those that help the first, without those that change more and bring little.
pub(in crate::explain) fn mark(all: &mut [Suggestion]) {
    let helpful: Vec<usize> = (0..all.len()).filter(|at| all[*at].helps).collect();
    let mut shown: Vec<usize> = Vec::new();
    for at in with_widest_steps(helpful, all) {
        let is_little = shown.iter().any(|known| adds_little(&all[at], &all[*known]));
        if shown.len() < MAX_SHOWN && !is_little {
            shown.push(at);
        }
    }
    for (at, one) in all.iter_mut().enumerate() {
        one.is_shown = shown.contains(&at);
    }
}

/// Tests if a suggestion brings little beside one that is shown. More changes are only worth showing if they bring much more; of a
/// policy, that is slots, unclaimed or not.
fn adds_little(one: &Suggestion, known: &Suggestion) -> bool {
    let is_of_slots = one.changes.iter().any(|change| change.of == Changed::Slot);
    let places = places(one);
    let is_longer = places.len() > known.changes.len();
    // Dynamic slots in use are gone when they are free.
    let [slots, known_slots] = [one, known].map(|some| some.slots - some.transient);
    let is_more = is_longer && self::places(known).iter().all(|place| places.contains(place));
    is_more
        && slots < known_slots + known_slots.div_ceil(4)
        && (known.unclaimed > 0 || one.unclaimed == 0 || is_of_slots)
        || !is_of_slots && is_longer && slots <= known_slots && one.unclaimed <= known.unclaimed
}

/// The attributes and conditions that a suggestion changes, without the new values.
fn places(one: &Suggestion) -> Vec<(Changed, &str, &str)> {
    fn place(change: &Change) -> (Changed, &str, &str) {
        let before = if change.of == Changed::Job { "" } else { change.before.as_str() };
        (change.of, change.attribute.as_str(), before)
    }
    one.changes.iter().map(place).collect()
}

/// Some suggestions in their order; where the first ones are more steps of one change than are shown, the first, one in the middle and
/// the last of these come first.
fn with_widest_steps(some: Vec<usize>, all: &[Suggestion]) -> Vec<usize> {
    let is_step = |pair: &[usize]| {
        let [one, next] = [&all[pair[0]], &all[pair[1]]];
        places(one) == places(next) && one.slots < next.slots
    };
    let steps = some.windows(2).take_while(|pair| is_step(pair)).count() + 1;
    if steps <= MAX_SHOWN {
        return some;
    }
    let picked = [0, steps / 2, steps - 1];
    let others = (0..some.len()).filter(|at| !picked.contains(at));
    picked.into_iter().chain(others).map(|at| some[at]).collect()
}
