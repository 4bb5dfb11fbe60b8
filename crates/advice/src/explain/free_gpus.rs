//! The cause of a condition that counts the free GPUs of a slot, such as the one that `require_gpus` makes.
//!
//! In: the condition, and the slots for which it is not true. Out: the property of GPUs that is required, with its values.

use crate::explain::job_view::JobView;
use crate::explain::repair::count::CountedAds;
use crate::explain::values::{beside, summary, verb};
use classmate::internal::plural::counted;
use classmate::internal::program::Side;
use classmate::internal::program::view::RowValues;
use classmate::internal::syntax::view::Reference;
use classmate::{Expr, Value};

/// The free GPUs that a job requires, and that some slots do not have.
pub(super) struct FreeGpus {
    /// In words that are the same for all jobs with this cause.
    pub(super) label: String,
    /// In a sentence.
    pub(super) text: String,
}

impl FreeGpus {
    /// The cause of a condition of the job that is not true for some slots; none if it does not count GPUs, or no slot has any.
    pub(super) fn of(view: &JobView<'_>, condition: &Expr, slots: &[u32]) -> Option<Self> {
        let required = CountedAds::of(condition, view.job, &view.pool.settings)?;
        let list = required.list.tree();
        list.reference(list.bare(required.list.root())).filter(|found| found.name.folded() == b"availablegpus")?;
        let lists = |expr: &Expr| -> Option<RowValues> {
            Some(view.table.values(view.job, Side::Other, &required.in_each(expr)?, slots))
        };
        let of_gpus = |expr: &Expr| -> Option<Vec<Vec<Value>>> {
            let found = lists(expr)?;
            Some(found.of.iter().map(|at| elements(found.values.get(*at as usize))).collect())
        };
        let without = of_gpus(&required.counted)?.iter().filter(|gpus| gpus.is_empty()).count();
        if without == slots.len() {
            return None;
        }
        // The parts that alone keep the GPUs of all these slots away, or all parts.
        let is_true = |value: &&Value| matches!(value, Value::Bool(true));
        let keeps_away = |part: &Expr| {
            let found = of_gpus(part).unwrap_or_default();
            !found.is_empty() && found.iter().all(|gpus| gpus.iter().filter(is_true).count() < required.wanted)
        };
        let part = required.parts().into_iter().chain([required.counted.clone()]).find(keeps_away)?;
        let values = beside(&part, |Reference { name, .. }| {
            if let Some(own) = view.job.get(name) {
                return format!("{name} of the job is {own:#}");
            }
            let values = name.to_string().parse().ok().and_then(|property| of_gpus(&property)).unwrap_or_default();
            let values: Vec<Value> = values.into_iter().flatten().collect();
            format!("{name} of GPUs is {}", summary(&RowValues { of: (0..values.len() as u32).collect(), values }))
        });
        let all = counted(view.pool.slots.len(), "slot");
        let is_every = slots.len() == view.pool.slots.len();
        let what = match required.wanted {
            1 => format!("a free GPU that satisfies `{part:#}`"),
            wanted => format!("{wanted} free GPUs that satisfy `{part:#}`"),
        };
        let (label, subject) = match (is_every, required.wanted) {
            (true, 1) => {
                let text = format!("no free GPU satisfies `{part:#}`");
                (text.clone(), text)
            }
            (true, _) => (format!("no slot has {what}"), format!("no slot has {what}")),
            (false, _) => {
                let lack = verb(slots.len(), "does", "do");
                (format!("slots do not have {what}"), format!("{} of {all} {lack} not have {what}", slots.len()))
            }
        };
        let none = match without {
            0 => String::new(),
            _ if is_every => format!("; {without} of {all} {} not have a free GPU", verb(without, "does", "do")),
            _ => format!("; {without} of them {} not have any", verb(without, "does", "do")),
        };
        Some(FreeGpus { label, text: format!("{subject}{values}{none}") })
    }
}

/// The elements of a list; none of another value.
fn elements(value: Option<&Value>) -> Vec<Value> {
    let list = if let Some(Value::List(list)) = value { list.values() } else { None };
    list.map(<[Value]>::to_vec).unwrap_or_default()
}
