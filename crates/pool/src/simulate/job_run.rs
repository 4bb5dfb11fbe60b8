//! The times of each job of a simulation, as CSV and in the Standard Workload Format.

use std::io::{self, Write};

use crate::workload::{Arrival, Workload};

/// State of a job at the end of a simulation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobEnd {
    /// It had not been submitted.
    #[default]
    NotSubmitted,
    /// It requests more cores than there are.
    TooLarge,
    /// It waits.
    Waiting,
    /// It runs.
    Running,
    /// It ran to its end.
    Completed,
}

impl JobEnd {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            JobEnd::NotSubmitted => "not_submitted",
            JobEnd::TooLarge => "too_large",
            JobEnd::Waiting => "waiting",
            JobEnd::Running => "running",
            JobEnd::Completed => "completed",
        }
    }
}

/// The times of a job, by its place in [`Workload::arrivals`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobRun {
    /// Time of its first start, epoch seconds.
    pub start: Option<i64>,
    /// Time of its end, epoch seconds.
    pub end: Option<i64>,
    /// Runs that were cut short.
    pub preemptions: u32,
    /// State at the end of the simulation.
    pub state: JobEnd,
}

impl JobRun {
    /// True for a job that came and never started.
    pub fn never_started(&self) -> bool {
        self.state == JobEnd::Waiting && self.start.is_none()
    }

    /// Seconds from submission to the first start.
    pub fn wait(&self, job: &Arrival) -> Option<i64> {
        self.start.map(|start| start - job.submit)
    }

    /// Bounded slowdown of a job that ended: the time from submission to end by the run time, that taken as 10 s at least; 1
    /// or more.
    pub fn slowdown(&self, job: &Arrival) -> Option<f64> {
        let stay = (self.end? - job.submit) as f64;
        Some((stay / (job.run_time as f64).max(MIN_RUN_TIME)).max(1.0))
    }
}

/// Jobs shorter than this count as so long in a slowdown, seconds.
const MIN_RUN_TIME: f64 = 10.0;

/// Writes a heading and a line for each job, in the order of submission. Times are epoch seconds; unknown ones are empty.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, workload: &Workload, runs: &[JobRun]) -> io::Result<()> {
    writeln!(out, "job,place,submitter,group,cores,submit,start,end,run_time,wait,slowdown,preemptions,state")?;
    let quoted = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        if name.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
    };
    let names: Vec<(String, String)> =
        workload.submitters.iter().map(|one| (quoted(&one.name), quoted(&one.group))).collect();
    let text = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    for (job, run) in workload.arrivals.iter().zip(runs) {
        let (submitter, group) = &names[job.submitter];
        let slowdown = run.slowdown(job).map(|slowdown| slowdown.to_string()).unwrap_or_default();
        writeln!(
            out,
            "{},{},{submitter},{group},{},{},{},{},{},{},{slowdown},{},{}",
            job.id,
            job.place,
            job.cores,
            job.submit,
            text(run.start),
            text(run.end),
            job.run_time,
            text(run.wait(job)),
            run.preemptions,
            run.state.as_str()
        )?;
    }
    Ok(())
}

/// Writes the workload as a trace in the Standard Workload Format, with the waiting times of a simulation. Jobs are numbered in
/// the order of submission, users and groups as in the trace that was read, otherwise in the order of first sight, and named
/// in the header; each of the `notes` is a line of it.
///
/// # Errors
/// The output cannot be written.
pub fn write_swf(
    out: &mut impl Write,
    workload: &Workload,
    runs: &[JobRun],
    cores: f64,
    notes: &[String],
) -> io::Result<()> {
    let start = workload.arrivals.first().map_or(0, |job| job.submit);
    let start = workload.header.start.unwrap_or(if workload.of_ads() { start } else { 0 });
    writeln!(out, "; Version: 2.2\n; UnixStartTime: {start}\n; MaxProcs: {cores:.0}\n; MaxJobs: {}", runs.len())?;
    for note in notes {
        writeln!(out, "; Note: {}", note.replace(|c: char| c.is_control(), " "))?;
    }
    let number = |name: &[u8], prefix: &str| {
        let digits = std::str::from_utf8(name).ok()?.strip_prefix(prefix)?;
        digits.parse::<i64>().ok()
    };
    let mut groups: Vec<&[u8]> = Vec::new();
    let mut ids = Vec::with_capacity(workload.submitters.len());
    for (at, submitter) in workload.submitters.iter().enumerate() {
        let (name, group) = (&submitter.name[..], &submitter.group[..]);
        if !workload.of_ads() {
            let own = name.strip_suffix(b"@trace").unwrap_or(name);
            let user = if group.is_empty() { own } else { &own[group.len() + 1..] };
            ids.push((number(user, "user").unwrap_or(-1), number(group, "group").unwrap_or(-1)));
            continue;
        }
        let known = groups.iter().position(|known| *known == group);
        let group = known.unwrap_or_else(|| {
            groups.push(group);
            groups.len() - 1
        });
        let shown = String::from_utf8_lossy(name).replace(|c: char| c.is_control(), " ");
        writeln!(out, "; Note: user {} is {shown}", at + 1)?;
        ids.push((at as i64 + 1, group as i64 + 1));
    }
    for (at, (job, run)) in workload.arrivals.iter().zip(runs).enumerate() {
        let (user, group) = ids[job.submitter];
        let kilobytes = match job.memory {
            0 => -1,
            memory => i64::from(memory) * 1024 / i64::from(job.cores.max(1)),
        };
        writeln!(
            out,
            "{} {} {} {} {} -1 -1 {} {} {kilobytes} {} {user} {group} -1 -1 -1 -1 -1",
            at + 1,
            job.submit - start,
            run.wait(job).unwrap_or(-1),
            job.run_time,
            run.start.map_or(-1, |_| i64::from(job.cores)),
            job.cores,
            job.asked_time.unwrap_or(-1),
            if run.state == JobEnd::Completed { 1 } else { -1 }
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::swf;

    const TRACE: &str = "; UnixStartTime: 1000\n3 5 -1 60 2 -1 -1 4 90 2048 1 7 3 -1 1 -1 -1 -1\n\
                         4 9 -1 5 1 -1 -1 1 -1 -1 1 8 -1 -1 1 -1 -1 -1\n";

    fn runs() -> [JobRun; 2] {
        let done = JobRun { start: Some(1010), end: Some(1070), preemptions: 0, state: JobEnd::Completed };
        [done, JobRun { state: JobEnd::Waiting, ..JobRun::default() }]
    }

    #[test]
    fn a_written_trace_is_read_as_the_same_jobs_with_their_waits() {
        let workload = swf::read(&mut TRACE.as_bytes()).unwrap();
        let mut text = Vec::new();
        write_swf(&mut text, &workload, &runs(), 8.0, &["a\nb".to_owned()]).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(';')).collect();
        assert_eq!(lines[0], "1 5 5 60 4 -1 -1 4 90 2048 1 7 3 -1 -1 -1 -1 -1");
        assert_eq!(lines[1], "2 9 -1 5 -1 -1 -1 1 -1 -1 -1 8 -1 -1 -1 -1 -1 -1");
        assert!(text.contains("; Note: a b\n"));
        let again = swf::read(&mut text.as_bytes()).unwrap();
        let facts = |job: &Arrival| (job.submit, job.run_time, job.cores, job.memory, job.asked_time, job.submitter);
        assert_eq!(
            again.arrivals.iter().map(facts).collect::<Vec<_>>(),
            workload.arrivals.iter().map(facts).collect::<Vec<_>>()
        );
        assert_eq!((again.faults, again.submitters), (vec![], workload.submitters));
    }

    #[test]
    fn unknown_times_are_empty_in_csv() {
        let workload = swf::read(&mut TRACE.as_bytes()).unwrap();
        let mut text = Vec::new();
        write_csv(&mut text, &workload, &runs()).unwrap();
        // From 1005 to 1070 for 60 s of work.
        let slowdown = 65.0 / 60.0;
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines[0], format!("3.0,2,group3.user7@trace,group3,4,1005,1010,1070,60,5,{slowdown},0,completed"));
        assert_eq!(lines[1], "4.0,3,user8@trace,,1,1009,,,5,,,0,waiting");
    }
}
