//! Commands of a submit file that have no effect, or another one, without a command that belongs to them.
//!
//! In: the values of a file. Out: warnings of the rule `odd-command`. One file of more than 600 lines: a short check for each pair of
//! commands, which are asked in turn.

use super::attributes::only_in;
use super::refusals::{Reading, error, refers_to, warning};
use super::submit_files::remaps as all_remaps;
use super::submit_macros::BUILT_IN;
use super::submit_names::OTHERS_COUNT;
use super::submit_programs::base;
use crate::submit::bytes;
use crate::submit::other_names;
use classmate::ParseOptions;
use classmate::internal::diagnostic::Severity;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;

/// A statement, a message and a help.
type Companion = Option<(usize, String, String)>;

/// An integer, or a product of integers.
fn integer_product(tree: &Tree, id: NodeId) -> Option<i64> {
    match *tree.node(tree.bare(id)) {
        Node::Literal(Literal::Int(number)) => Some(number),
        Node::Binary(BinaryOp::Multiply, left, right) => match *tree.node(tree.bare(right)) {
            Node::Literal(Literal::Int(number)) => integer_product(tree, left)?.checked_mul(number),
            _ => None,
        },
        _ => None,
    }
}

impl Reading {
    /// Reports commands without what belongs to them.
    pub(super) fn companions(&mut self, universe: &str, statements: &[String]) {
        let found = [
            self.gpus(),
            self.two_gpu_conditions(),
            self.renamed(),
            self.retries(),
            self.one_time(),
            self.permissions(),
            self.checkpoints(),
            self.on_access_point(universe),
            self.released(),
            self.released_of_nothing(),
            self.larger(),
            self.of_java(universe),
            self.on_no_slot(universe),
            self.of_group(),
            self.checkpoint_of_nothing(),
            self.two_times(),
            self.limits(),
            self.user_of_group(),
            self.variables(),
            self.batch_system(),
            self.of_itself(),
            self.other_list(),
            self.no_such_day(),
            self.nested_folder(),
            self.node_of_one(universe),
            self.refused_proxy(),
            self.short_history(),
            self.resource_of_job(),
            self.both_ways(),
            self.two_programs(),
        ];
        let related = self.doubled().into_iter().chain(self.related(universe));
        for (at, message, help) in found.into_iter().flatten().chain(related) {
            // What another rule says of the statement is enough.
            if !self.found.iter().any(|(of, _)| *of == at) {
                self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
            }
        }
        if let Some((at, message, help)) = self.services().filter(|(at, ..)| !self.found.iter().any(|(of, _)| of == at))
        {
            self.found.push((at, error(message, &statements[at], help)));
        }
        let of_history = self.no_history().filter(|(at, ..)| !self.found.iter().any(|(of, _)| of == at));
        if let Some((at, severity, message, help)) = of_history {
            let mut found = warning(message, &statements[at], help).code("odd-command");
            found.severity = severity;
            self.found.push((at, found));
        }
    }

    /// A command for the shell beside a program, which does not run then (`SetExecutable` in HTCondor's `submit_utils.cpp`).
    fn two_programs(&self) -> Companion {
        self.value(&["shell"])?;
        let (_, at) = self.value(&["executable"])?;
        let message = "`executable` has no effect beside `shell`, which is the command that runs".to_owned();
        Some((*at, message, "remove one of them".to_owned()))
    }

    /// A file that is to be encrypted, and is not.
    fn both_ways(&self) -> Companion {
        for kind in ["input", "output"] {
            let Some((yes, _)) = self.value(&[&format!("encrypt_{kind}_files")]) else { continue };
            let Some((no, at)) = self.value(&[&format!("dont_encrypt_{kind}_files")]) else { continue };
            let items = |list: &str| -> Vec<String> { list.split(',').map(|item| item.trim().to_owned()).collect() };
            let (encrypted, plain) = (items(yes), items(no));
            let Some(both) = plain.iter().find(|item| !item.is_empty() && encrypted.contains(item)) else { continue };
            let message = format!("`{both}` is in `encrypt_{kind}_files` and in `dont_encrypt_{kind}_files`");
            return Some((*at, message, "remove it from one of them".to_owned()));
        }
        None
    }

    /// Requirements on GPUs in a job that asks for none: it gets none.
    fn gpus(&self) -> Companion {
        const NAMES: [&str; 4] = ["gpus", "totalgpus", "cudacapability", "gpus_capability"];
        let (value, at) = self.value(&["requirements"])?;
        let lower = value.to_ascii_lowercase();
        let mut words = lower.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
        let name = words.find(|word| NAMES.contains(word))?;
        let asks = ["request_gpus", "requestgpus", "my.requestgpus", "require_gpus"];
        // A job that avoids GPUs needs none.
        let wants = [">", "is true", "=?= true"].iter().any(|sign| lower.contains(sign));
        if self.includes || asks.iter().any(|name| self.may_have(name)) || !wants {
            return None;
        }
        let message = format!("`requirements` ask for `{name}`, and the job gets no GPU without `request_gpus`");
        Some((*at, message, "add `request_gpus = 1`".to_owned()))
    }

    /// A limit of a property of GPUs beside `require_gpus` with the same property: `condor_submit` adds no clause for it then
    /// (`SetResourceRequirements` in HTCondor's `submit_utils.cpp`).
    fn two_gpu_conditions(&self) -> Companion {
        const LIMITS: [(&str, &str, &str); 4] = [
            ("gpus_minimum_memory", "GlobalMemoryMb", ">="),
            ("gpus_minimum_capability", "Capability", ">="),
            ("gpus_maximum_capability", "Capability", "<="),
            ("gpus_minimum_runtime", "MaxSupportedVersion", ">="),
        ];
        let (condition, _) = self.value(&["require_gpus"])?;
        let (lower, is_open) = (condition.to_ascii_lowercase(), self.includes || condition.contains('$'));
        let is_in = |property: &str| {
            let mut words = lower.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
            words.any(|word| word.eq_ignore_ascii_case(property))
        };
        // A condition that has a bound of its own on that side may need no other.
        let plain = lower.split_whitespace().collect::<String>();
        let is_bounded = |property: &str, sign: &str| {
            let property = property.to_ascii_lowercase();
            let (own, other) = if sign == ">=" { ('>', '<') } else { ('<', '>') };
            let after = [format!("{property}{own}"), format!("{property}=")];
            let before = [format!("{other}{property}"), format!("={property}")];
            after.iter().chain(&before).any(|part| plain.contains(part.as_str()))
        };
        let is_lost = |(name, property, sign): &&(&str, &str, &str)| {
            self.has(&[name]) && is_in(property) && !is_bounded(property, sign)
        };
        let (name, property, sign) = LIMITS.iter().find(is_lost)?;
        let (_, at) = self.value(&[name]).filter(|_| !is_open)?;
        let message = format!("`{name}` has no effect: `require_gpus` refers to `{property}` itself");
        Some((
            *at,
            message,
            format!("write `{property} {sign} …` into `require_gpus`, or leave `{property}` to `{name}`"),
        ))
    }

    /// A new name for a file that is not among those that are transferred.
    fn renamed(&self) -> Companion {
        let (files, _) = self.value(&["transfer_output_files"])?;
        let (remaps, at) = self.value(&["transfer_output_remaps"])?;
        if files.contains(['$', '*', '"']) || remaps.contains('$') && !remaps.contains('=') {
            return None;
        }
        let files: Vec<&str> = files.split(',').map(str::trim).collect();
        let is_listed = |name: &str| files.iter().any(|file| base(file) == base(name) || file.ends_with('/'));
        let names = all_remaps(remaps.trim_matches('"')).filter_map(|item| Some(item.split_once('=')?.0.trim()));
        // The streams of the job are transferred without being listed.
        let streams: Vec<&str> =
            ["output", "error"].iter().filter_map(|name| Some(self.value(&[name])?.0.as_str())).collect();
        let is_lost =
            |name: &&str| !name.is_empty() && !name.contains(['$', '/']) && !is_listed(name) && !streams.contains(name);
        let name = names.into_iter().find(is_lost)?;
        let message = format!("`{name}` is not in `transfer_output_files`, so it is not renamed");
        Some((*at, message, format!("add `{name}` to `transfer_output_files`")))
    }

    /// A job that leaves the queue after its first run, and has a number of retries (`SetJobRetries` in HTCondor's
    /// `submit_utils.cpp`).
    fn retries(&self) -> Companion {
        self.value(&["max_retries"])?;
        let (value, at) = self.value(&["on_exit_remove", "onexitremove"])?;
        let message = "`on_exit_remove` is true, so there are no retries".to_owned();
        let help = "remove it, or write the condition for success".to_owned();
        value.trim().eq_ignore_ascii_case("true").then_some((*at, message, help))
    }

    /// Times at which the job is to run again and again, although it leaves the queue after its first run.
    fn one_time(&self) -> Companion {
        const TIMES: [&str; 5] = ["cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week"];
        const STAYS: [&str; 3] = ["on_exit_remove", "onexitremove", "my.onexitremove"];
        let (_, at) = TIMES.iter().filter_map(|name| self.value(&[name])).min_by_key(|(_, at)| *at)?;
        let message = "the job runs once, and then leaves the queue".to_owned();
        let help = "write `on_exit_remove = false` to run it again and again".to_owned();
        let leaves = |name: &str| self.value(&[name]).is_some_and(|(value, _)| value.eq_ignore_ascii_case("true"));
        let stays = STAYS.iter().any(|name| self.may_have(name) && !leaves(name));
        let stays = stays || self.includes || self.may_have("max_retries");
        let written = STAYS.iter().find_map(|name| self.value(&[name]));
        (!stays).then(|| (written.map_or(*at, |(_, at)| *at), message, help))
    }

    /// Permissions for tokens that the job does not ask for.
    fn permissions(&self) -> Companion {
        /// Services of other providers. A site may ask for its own tokens in every job (`NeedsOAuthServices` in HTCondor's
        /// `submit_utils.cpp`), with the permissions that have no name of their own.
        const OF_OTHERS: [&str; 3] = ["box", "gdrive", "onedrive"];
        const ENDS: [&str; 3] = ["_oauth_options", "_oauth_permissions", "_oauth_resource"];
        let is_of_token = |name: &str| ENDS.iter().any(|end| name.contains(end));
        let has_own_name = |name: &str| !ENDS.iter().any(|end| name.ends_with(end));
        let service = |name: &str| name.split("_oauth_").next().unwrap_or_default().to_owned();
        let is_asked_for = |name: &str| has_own_name(name) || OF_OTHERS.contains(&service(name).as_str());
        let mut tokens = self.values.iter().filter(|(name, _)| is_of_token(name));
        if self.includes {
            return None;
        }
        if self.may_have("use_oauth_services") || self.may_have("useoauthservices") {
            let (list, at) = self.value(&["use_oauth_services"]).filter(|(list, _)| !list.contains(['$', '*']))?;
            let is_once = self.values.get("use_oauth_services").is_some_and(|all| all.len() == 1);
            let is_listed =
                |name: &str| list.split([',', ' ', '\t']).any(|one| one.eq_ignore_ascii_case(&service(name)));
            let (name, all) = tokens.find(|(name, _)| is_asked_for(name) && !is_listed(name)).filter(|_| is_once)?;
            let message = format!("`{name}` is not read: `use_oauth_services` does not list `{}`", service(name));
            // Files of the service are transferred, so the list lacks it.
            let address = format!("{}://", service(name));
            let is_used = self.values.values().flatten().any(|(text, _)| text.contains(&address));
            let place = if is_used { *at } else { all.last()?.1 };
            return Some((place, message, format!("write `use_oauth_services = {list}, {}`", service(name))));
        }
        let (name, all) = tokens.find(|(name, _)| is_asked_for(name))?;
        let service = service(name);
        let message = format!("`{name}` is not read without `use_oauth_services`");
        Some((all.last()?.1, message, format!("add `use_oauth_services = {service}`")))
    }

    /// A place for checkpoints of a job that makes none.
    fn checkpoints(&self) -> Companion {
        const CODES: [&str; 4] = [
            "checkpoint_exit_code",
            "checkpoint_exit_signal",
            "my.successcheckpointexitcode",
            "successcheckpointexitcode",
        ];
        let (_, at) = self.value(&["checkpoint_destination"])?;
        let message = "`checkpoint_destination` has no effect without `checkpoint_exit_code`".to_owned();
        let help = "set `checkpoint_exit_code`, the code of the program after a checkpoint".to_owned();
        (!self.includes && !CODES.iter().any(|name| self.may_have(name))).then_some((*at, message, help))
    }

    /// Files to transfer of a job that runs on the access point, where it was submitted.
    fn on_access_point(&self, universe: &str) -> Companion {
        const FILES: [&str; 3] = ["transfer_input_files", "transfer_output_files", "transfer_output_remaps"];
        if !matches!(universe, "local" | "scheduler" | "7" | "12") {
            return None;
        }
        let (name, at) = FILES.iter().find_map(|name| Some((name, self.value(&[name])?.1)))?;
        let message = format!("`{name}` has no effect in the {universe} universe: the job runs where its files are");
        Some((at, message, format!("remove `{name}`, and name the files in the program by their paths")))
    }

    /// A command about slots, in a job that runs on the access point.
    fn on_no_slot(&self, universe: &str) -> Companion {
        const OF_SLOTS: [&str; 4] = ["rank", "request_gpus", "require_gpus", "preferences"];
        if !matches!(universe, "local" | "scheduler" | "7" | "12") {
            return None;
        }
        let (name, at) = OF_SLOTS.iter().find_map(|name| Some((name, self.value(&[name])?.1)))?;
        let message = format!("`{name}` has no effect in the {universe} universe: the job runs on the access point");
        Some((at, message, format!("remove `{name}`, or write `universe = vanilla`")))
    }

    /// The attribute of a group alone, which the negotiator does not read.
    fn of_group(&self) -> Companion {
        let (_, at) = self.value(&["my.acctgroup"])?;
        let others = ["accounting_group", "my.accountinggroup", "accountinggroup", "acctgroup"];
        let message = "`AcctGroup` alone has no effect: the negotiator reads `AccountingGroup`".to_owned();
        let help = "write `accounting_group = …`, which sets both".to_owned();
        (!self.includes && !others.iter().any(|name| self.may_have(name))).then_some((*at, message, help))
    }

    /// Files of checkpoints in a job whose files are not transferred.
    fn checkpoint_of_nothing(&self) -> Companion {
        let (transfers, _) = self.value(&["should_transfer_files"])?;
        let (_, at) = self.value(&["transfer_checkpoint_files"])?;
        let is_no = ["no", "false", "never"].iter().any(|word| transfers.eq_ignore_ascii_case(word));
        let message = "`transfer_checkpoint_files` has no effect: `should_transfer_files` is off".to_owned();
        is_no.then(|| (*at, message, "write `should_transfer_files = YES`".to_owned()))
    }

    /// Services of a container, each of which needs the number of a port.
    fn services(&self) -> Companion {
        let (names, at) = self.value(&["container_service_names"]).filter(|(names, _)| !names.contains('$'))?;
        let is_port = |name: &&str| {
            let port = format!("{}_container_port", name.to_ascii_lowercase());
            let is_number = |(text, _): &(String, usize)| text.contains('$') || text.parse::<u16>().is_ok();
            self.value(&[port.as_str()]).is_some_and(is_number)
        };
        let mut all = names.split([',', ' ']).filter(|name| !name.is_empty());
        let name = all.find(|name| !is_port(name))?;
        let message = format!("the service `{name}` has no port");
        (!self.includes).then(|| (*at, message, format!("add `{name}_container_port = 8080`")))
    }

    /// The group again in the name of its user. A user may have the name of a plain group, followed by a dot.
    fn user_of_group(&self) -> Companion {
        let is_of_group = |group: &str| group.starts_with("group_") || group.contains('.');
        let (group, _) =
            self.value(&["accounting_group"]).filter(|(group, _)| !group.contains('$') && is_of_group(group))?;
        let (user, at) = self.value(&["accounting_group_user"])?;
        let rest = user.strip_prefix(group.as_str())?.strip_prefix('.')?;
        let message = format!("`{user}` repeats the group: the submitter is `{group}.{user}`");
        Some((*at, message, format!("write `accounting_group_user = {rest}`")))
    }

    /// One limit twice, which counts twice.
    fn limits(&self) -> Companion {
        let (limits, at) = self.value(&["concurrency_limits"])?;
        let names =
            limits.split([',', ' ']).map(|item| item.split(':').next().unwrap_or_default().to_ascii_lowercase());
        let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        let name = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))?.1;
        let message = format!("the limit `{name}` is there twice, and counts twice");
        Some((*at, message, format!("write `{name}:2`, or remove one")))
    }

    /// A variable of the environment with two values.
    fn variables(&self) -> Companion {
        let (value, at) = self.value(&["environment"]).filter(|(value, _)| !value.contains(['\'', '$']))?;
        let settings: Vec<(&str, &str)> = match value.strip_prefix('"') {
            Some(inner) => {
                inner.trim_end_matches('"').split_whitespace().filter_map(|one| one.split_once('=')).collect()
            }
            None => value.split(';').filter_map(|one| one.trim().split_once('=')).collect(),
        };
        let is_twice = |(at, (name, text)): &(usize, &(&str, &str))| {
            settings[..*at].iter().any(|(other, value)| other == name && value != text)
        };
        let name = settings.iter().enumerate().find(is_twice)?.1.0;
        let message = format!("`{name}` has two values, and the last one counts");
        Some((*at, message, "remove one of them".to_owned()))
    }

    /// A batch system under a name that HTCondor does not have.
    fn batch_system(&self) -> Companion {
        const NAMES: [(&str, &str); 6] = [
            ("torque", "pbs"),
            ("pbspro", "pbs"),
            ("openpbs", "pbs"),
            ("uge", "sge"),
            ("gridengine", "sge"),
            ("htcondor", "condor"),
        ];
        let (resource, at) = self.value(&["grid_resource"])?;
        let mut words = resource.split_whitespace();
        let kind = words.next().filter(|word| word.eq_ignore_ascii_case("batch")).and_then(|_| words.next())?;
        let (_, meant) = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind))?;
        let message = format!("`{kind}` is not a batch system that HTCondor knows");
        Some((*at, message, format!("write `batch {meant}`")))
    }

    /// A macro that refers to itself, and has no earlier value.
    fn of_itself(&self) -> Companion {
        // `if defined name` says that something else may set it.
        let is_asked = |name: &str| {
            let words = self.expanded.iter().flat_map(|(text, _)| text.split_whitespace());
            words.into_iter().any(|word| word.trim_start_matches('!').eq_ignore_ascii_case(name))
        };
        let is_first = |(name, all): &(&String, &Vec<(String, usize)>)| {
            let reference = format!("$({name})");
            let is_own = all.first().is_some_and(|(text, _)| text.to_ascii_lowercase().contains(&reference));
            is_own
                && !super::commands::is_command(name)
                && !name.starts_with("my.")
                && !BUILT_IN.contains(&name.as_str())
                && !is_asked(name)
        };
        let (name, all) = self.values.iter().find(is_first).filter(|_| !self.includes)?;
        let message = format!("`$({name})` has no value here, unless something else has set it before");
        Some((all.first()?.1, message, "write another name, or the value itself".to_owned()))
    }

    /// A time of its own beside those of `cron_…`, which replace it.
    fn two_times(&self) -> Companion {
        const TIMES: [&str; 5] = ["cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week"];
        let (_, at) = self.value(&["deferral_time"])?;
        let name = TIMES.iter().find(|name| self.may_have(name))?;
        let message = format!("`deferral_time` is set beside `{name}`, which replaces it");
        Some((*at, message, "remove one of them".to_owned()))
    }

    /// Requirements that allow less of a resource than the job requests.
    fn larger(&self) -> Companion {
        /// Attributes of slots, the commands that request them, and the bytes of a number without a unit.
        const RESOURCES: [(&[u8], &str, u64); 4] = [
            (b"cpus", "request_cpus", 1),
            (b"memory", "request_memory", 1 << 20),
            (b"disk", "request_disk", 1 << 10),
            (b"gpus", "request_gpus", 1),
        ];
        let (value, at) = self.value(&["requirements"])?;
        let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
        let expr = parse_expr(value.as_bytes(), &options).ok()?;
        let tree = expr.tree();
        let mut open = vec![expr.root()];
        while let Some(id) = open.pop() {
            let Node::Binary(op, left, right) = *tree.node(tree.bare(id)) else { continue };
            if op == BinaryOp::And {
                open.extend([left, right]);
                continue;
            }
            let most = match (op, integer_product(tree, right)) {
                (BinaryOp::LessEqual | BinaryOp::Equal, Some(most)) => most,
                (BinaryOp::Less, Some(most)) => most.saturating_sub(1),
                _ => continue,
            };
            let Some(reference) = tree.reference(tree.bare(left)).filter(|one| one.scope != RefScope::My) else {
                continue;
            };
            let resource = RESOURCES.iter().find(|(name, _, _)| *name == reference.name.folded());
            let Some((_, command, unit)) = resource else { continue };
            let amount = self.value(&[command]).and_then(|(text, _)| bytes(text, *unit));
            if amount.is_some_and(|amount| amount > most as f64 * *unit as f64) {
                let shown = self.value(&[command]).map_or("", |(text, _)| text.as_str());
                let message = format!("`{command}` is `{shown}`, and `requirements` allow less: no slot matches");
                return Some((*at, message, format!("remove the condition on `{}`", reference.name)));
            }
        }
        None
    }

    /// The program of a job in Java: compiled, and not its source.
    fn of_java(&self, universe: &str) -> Companion {
        let (program, at) = self.value(&["executable"])?;
        let class = program.strip_suffix(".java").filter(|_| matches!(universe, "java" | "10"))?;
        let message = format!("`{program}` is a source: Java runs compiled classes");
        Some((*at, message, format!("write `executable = {class}.class`")))
    }

    /// A job that is released whenever it is held, for whatever reason.
    fn released(&self) -> Companion {
        let (value, at) = self.value(&["periodic_release", "periodicrelease"])?;
        let message = "`periodic_release` is true: whatever holds the job, it starts again and again".to_owned();
        let help = "write a condition, such as `NumJobStarts < 3 && time() - EnteredCurrentStatus > 600`".to_owned();
        // A job that is submitted on hold waits for it.
        let waits = self.may_have("hold") || self.includes;
        if value.trim().eq_ignore_ascii_case("true") {
            return (!waits).then_some((*at, message, help));
        }
        // It is evaluated for held jobs alone (`user_job_policy.cpp`).
        let plain = value.split_whitespace().collect::<String>().to_ascii_lowercase();
        let is_held = matches!(plain.trim_matches(['(', ')']), "jobstatus==5" | "jobstatus=?=5" | "my.jobstatus==5");
        let message = format!("`periodic_release` is `{value}`, which all held jobs are: each starts again and again");
        (is_held && !waits).then_some((*at, message, help))
    }

    /// Attributes of the job in a list of those of its slot, and the other way round.
    fn other_list(&self) -> Companion {
        const LISTS: [(&str, &str); 5] = [
            ("job_machine_attrs", "slot"),
            ("ulog_execute_attrs", "slot"),
            ("email_attributes", "job"),
            ("job_ad_information_attrs", "job"),
            ("submit_event_notes_attrs", "job"),
        ];
        LISTS.iter().find_map(|(command, owner)| {
            let (text, at) = self.value(&[command]).filter(|(text, _)| !text.contains('$'))?;
            let mut names = text.split([',', ' ', '\t']).filter(|name| !name.is_empty());
            let other = names.find(|name| {
                let lower = name.to_ascii_lowercase();
                only_in(lower.as_bytes()).is_some_and(|ad| ad != *owner)
                    || lower.starts_with("my.")
                    || lower.starts_with("target.")
            })?;
            let what = if *owner == "job" { "the job" } else { "the slot" };
            let message =
                format!("`{other}` is not the name of an attribute of {what}, of which `{command}` is a list");
            Some((*at, message, format!("write names of attributes of {what}, or remove it")))
        })
    }

    /// A day that no month of the file has: `31` in February.
    fn no_such_day(&self) -> Companion {
        let numbers = |name: &str| {
            let (text, at) = self.value(&[name])?;
            let all: Option<Vec<u32>> =
                text.trim_matches('"').split(',').map(|part| part.trim().parse().ok()).collect();
            Some((all?, *at))
        };
        let ((days, at), (months, _)) = (numbers("cron_day_of_month")?, numbers("cron_month")?);
        let length = |month: &u32| match month {
            2 => 29,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (first, most) = (days.iter().min()?, months.iter().map(length).max()?);
        let other = self.may_have("cron_day_of_week");
        let message = format!("no month of `cron_month` has a day {first}, so the job never starts");
        (*first > most && !other).then(|| (at, message, format!("write a day up to {most}")))
    }

    /// A file in the folder of the job, named with that folder once more.
    fn nested_folder(&self) -> Companion {
        const FILES: [&str; 5] = ["transfer_input_files", "input", "output", "error", "log"];
        let (folder, _) = self.value(&["initialdir"])?;
        let folder = folder.trim_start_matches("./").trim_end_matches('/');
        if folder.is_empty() || folder.starts_with(['/', '.', '"']) || self.includes {
            return None;
        }
        FILES.iter().find_map(|name| {
            let (text, at) = self.value(&[name])?;
            let mut items = text.split(',').map(str::trim);
            let is_within = |item: &&str| {
                item.trim_start_matches("./")
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
            };
            let item = items.find(is_within)?;
            let message = format!("`{item}` is in the folder `{folder}` of the job, so in `{folder}/{folder}`");
            let plain = item.trim_start_matches("./")[folder.len()..].trim_start_matches('/').to_owned();
            Some((*at, message, format!("write `{plain}`")))
        })
    }

    /// A command under two names: `condor_submit` reads the first.
    fn doubled(&self) -> Vec<(usize, String, String)> {
        let told = |(name, other, at)| {
            let message = format!("`{other}` has no effect: `{name}` is set, which is the same command");
            (at, message, format!("remove `{other}`, or `{name}`"))
        };
        self.two_names().into_iter().map(told).collect()
    }

    /// Commands under two names with two values: the name that `condor_submit` reads, the other, and its statement.
    pub(super) fn two_names(&self) -> Vec<(&'static str, &'static str, usize)> {
        if self.includes {
            return Vec::new();
        }
        let counts = other_names::rows().filter(|(name, _)| !OTHERS_COUNT.contains(name));
        let pairs = counts.flat_map(|(name, others)| others.iter().map(move |other| (name, *other)));
        let two = pairs.filter_map(|(name, other)| {
            let (text, _) = self.value(&[name])?;
            let (value, at) = self.value(&[other]).filter(|(value, _)| value != text)?;
            let is_used = self.values.values().flatten().any(|(text, _)| refers_to(text, other)) || value.is_empty();
            (!is_used).then_some((name, other, *at))
        });
        two.collect()
    }

    /// The number of a node in a job that has but one: it is nothing.
    fn node_of_one(&self, universe: &str) -> Companion {
        if universe.contains('$') || matches!(universe, "parallel" | "mpi" | "11" | "8") || self.includes {
            return None;
        }
        let is_node = |text: &str| refers_to(text, "node");
        // A DAG may define such a macro, for one job.
        let own = self.values.contains_key("node") || self.is_of_items("node") || self.jobs() < 2;
        let (_, all) = self.values.iter().find(|(_, all)| all.iter().any(|(text, _)| is_node(text)))?;
        let message = "`$(Node)` is the number of a machine of a parallel job, and is nothing here".to_owned();
        (!own).then(|| (all.last().map_or(0, |(_, at)| *at), message, "write `$(Process)`".to_owned()))
    }

    /// A proxy that the file names, and does not want: `condor_submit` takes it all the same.
    fn refused_proxy(&self) -> Companion {
        self.value(&["x509userproxy"])?;
        let (text, at) = self.value(&["use_x509userproxy"])?;
        let is_no = ["false", "no", "0"].iter().any(|word| text.eq_ignore_ascii_case(word));
        let message = "`use_x509userproxy` has no effect: `x509userproxy` is set".to_owned();
        is_no.then(|| (*at, message, "remove one of them".to_owned()))
    }

    /// An entry of a history of slots that is longer than the history: the first one has the number 0.
    fn short_history(&self) -> Companion {
        let length = |name: &str| self.value(&[name])?.0.trim().parse::<usize>().ok();
        let machines = || {
            let length = length("job_machine_attrs_history_length");
            length.or_else(|| (!self.may_have("job_machine_attrs_history_length")).then_some(1))
        };
        let is_list = self.value(&["job_machine_attrs"]).is_some();
        let (text, at) = self.value(&["requirements"]).filter(|_| !self.includes)?;
        let words = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
        words.into_iter().find_map(|word| {
            let lower = word.to_ascii_lowercase();
            let stem = lower.trim_end_matches(|sign: char| sign.is_ascii_digit());
            let number = lower[stem.len()..].parse::<usize>().ok()?;
            let (known, command) = if stem == "lastmatchname" {
                (length("match_list_length")?, "match_list_length")
            } else {
                let own = stem.strip_prefix("machineattr").filter(|_| is_list)?;
                let (list, _) = self.value(&["job_machine_attrs"])?;
                let mut names = list.split([',', ' ', '\t']);
                names.find(|name| name.eq_ignore_ascii_case(own))?;
                (machines()?, "job_machine_attrs_history_length")
            };
            let message =
                format!("`{word}` does not exist: `{command}` is {known}, and the first one has the number 0");
            (number >= known).then(|| (*at, message, format!("write `{command} = {}`", number.saturating_add(1))))
        })
    }

    /// An entry of a history of slots that the job does not have: the access point writes it only where a command asks for it.
    fn no_history(&self) -> Option<(usize, Severity, String, String)> {
        /// Attributes that all jobs have, by the default of `SYSTEM_JOB_MACHINE_ATTRS`.
        const OF_ALL: [&str; 2] = ["cpus", "slotweight"];
        const MATCHES: [&str; 3] = ["match_list_length", "last_match_list_length", "lastmatchlistlength"];
        const ATTRIBUTES: [&str; 1] = ["job_machine_attrs"];
        let (text, at) = self.value(&["requirements"]).filter(|_| !self.includes)?;
        let may_have = |names: &[&str]| {
            let plain = |name: &&str| self.may_have(&format!("my.{}", name.replace('_', "")));
            names.iter().any(|name| self.may_have(name) || plain(name))
        };
        let words = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
        words.into_iter().find_map(|word| {
            let lower = word.to_ascii_lowercase();
            let stem = lower.trim_end_matches(|sign: char| sign.is_ascii_digit());
            let number = lower[stem.len()..].parse::<usize>().ok()?;
            let message = |command: &str| format!("the job has no `{word}` without `{command}`");
            if stem == "lastmatchname" {
                let help = format!("add `match_list_length = {}`", number.saturating_add(1));
                return (!may_have(&MATCHES)).then(|| (*at, Severity::Warning, message(MATCHES[0]), help));
            }
            let own = stem.strip_prefix("machineattr").filter(|own| !own.is_empty() && !OF_ALL.contains(own))?;
            let shown = &word[stem.len() - own.len()..stem.len()];
            let length = format!(" and `job_machine_attrs_history_length = {}`", number.saturating_add(1));
            let more = if number > 0 { length.as_str() } else { "" };
            let help = format!(
                "add `job_machine_attrs = {shown}`{more}, unless `SYSTEM_JOB_MACHINE_ATTRS` of the access point has `{shown}`"
            );
            // The access point may add it for all jobs.
            let is_missing = !may_have(&ATTRIBUTES) && !may_have(&[&lower]);
            is_missing.then(|| (*at, Severity::Note, message(ATTRIBUTES[0]), help))
        })
    }

    /// An attribute of slots that the job has: it requests nothing.
    fn resource_of_job(&self) -> Companion {
        const RESOURCES: [(&str, &str); 4] = [
            ("Cpus", "request_cpus"),
            ("Disk", "request_disk"),
            ("GPUs", "request_gpus"),
            ("Memory", "request_memory"),
        ];
        let (attribute, command, at) = RESOURCES.iter().find_map(|(attribute, command)| {
            let key = format!("my.{}", attribute.to_ascii_lowercase());
            let (_, at) = self.value(&[&key]).filter(|_| !self.may_have(command))?;
            Some((format!("+{attribute}"), command, *at))
        })?;
        let message = format!("`{attribute}` is an attribute of slots: in a job it requests nothing");
        (!self.includes).then(|| (at, message, format!("write `{command} = …`")))
    }

    /// A release of jobs that a policy of their own put on hold, without such a policy (`condor_holdcodes.h`, code 3).
    fn released_of_nothing(&self) -> Companion {
        const POLICIES: [&str; 6] =
            ["periodic_hold", "on_exit_hold", "periodichold", "onexithold", "my.periodichold", "my.onexithold"];
        let (value, at) = self.value(&["periodic_release", "periodicrelease"])?;
        let plain = value.split_whitespace().collect::<String>().to_ascii_lowercase();
        let needs = plain.split("&&").any(|clause| {
            let clause = clause.trim_matches(['(', ')']);
            matches!(clause, "holdreasoncode==3" | "holdreasoncode=?=3" | "my.holdreasoncode==3")
        });
        let may_hold = self.includes || plain.contains("||") || POLICIES.iter().any(|name| self.may_have(name));
        let message =
            "`HoldReasonCode` is 3 for a job that its own policy holds, and there is no such policy".to_owned();
        let help = "write the code that is meant, or set `periodic_hold` too".to_owned();
        (needs && !may_hold).then_some((*at, message, help))
    }
}
