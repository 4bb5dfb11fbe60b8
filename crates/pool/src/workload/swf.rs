//! The Standard Workload Format of the Parallel Workloads Archive: a job a line, eighteen numbers.
//!
//! Used are the number, submission, run time, processors, requested time and memory, status, user and group; -1 is "not
//! known".

use std::io::{self, BufRead, Read};

use super::{Arrival, MAX_NUMBER, Workload, whole};
use crate::queue::job::JobId;

/// Numbers of a line.
const FIELDS: usize = 18;

/// Maximum length of a line of a trace, bytes.
const MAX_LINE: u64 = 1 << 16;

/// `Status` of a job that was cancelled.
const CANCELLED: i64 = 5;

/// Names of the fields, for messages.
const FIELD_NAMES: [&str; FIELDS] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// Reads a trace.
///
/// A line that is not a job is reported with its number in [`Workload::faults`], and counted; jobs cancelled before
/// they ran and lines about parts of jobs are counted. Users are submitters: `user7@trace`, in group 3
/// `group3.user7@trace`.
///
/// # Errors
/// The source cannot be read.
///
/// ```
/// use classmate_pool::internal::workload::swf;
/// let trace = b"; UnixStartTime: 1000\n1 5 -1 60 2 -1 -1 4 90 -1 1 7 3 -1 1 -1 -1 -1\n";
/// let workload = swf::read(&mut &trace[..])?;
/// let job = &workload.arrivals[0];
/// assert_eq!((job.submit, job.run_time, job.cores), (1005, 60, 4));
/// assert_eq!(workload.submitters[job.submitter].name, b"group3.user7@trace");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read(source: &mut impl BufRead) -> io::Result<Workload> {
    let mut workload = Workload::default();
    let mut line = Vec::new();
    let mut number = 0;
    let (mut ended, mut cut) = (true, false);
    while !cut {
        line.clear();
        let read = source.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        // A compressed file that was cut off holds what came before.
        cut = matches!(&read, Err(error) if error.kind() == io::ErrorKind::UnexpectedEof);
        if !cut {
            read?;
        }
        if line.is_empty() {
            break;
        }
        number += 1;
        ended = line.last() == Some(&b'\n');
        if !ended && line.len() as u64 == MAX_LINE {
            workload.counts.records += 1;
            workload.fault(number, format!("a line of more than {MAX_LINE} bytes: expected {FIELDS} numbers"));
            skip_line(source)?;
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if let Some(remark) = text.strip_prefix(';') {
            if let Err(message) = workload.header.read(remark) {
                workload.remark(number, message);
            }
        } else if !text.is_empty() {
            workload.counts.records += 1;
            if let Err(message) = record(&mut workload, number, text) {
                workload.fault(number, message);
            }
        }
    }
    if cut {
        workload.remark(number.max(1), "the compressed file is truncated here: the jobs before it are used");
    }
    workload.header.complete();
    let found = workload.counts.records;
    if let Some(records) = workload.header.records.filter(|records| *records > found) {
        let cut = if ended { "" } else { ", and the last line is incomplete" };
        workload.remark(number, format!("the trace ends after {found} jobs, but its header announces {records}{cut}"));
    }
    let start = workload.header.start.unwrap_or(0).min(MAX_NUMBER);
    workload.arrivals.iter_mut().for_each(|job| job.submit += start);
    workload.sort();
    Ok(workload)
}

/// Drops the rest of a line.
fn skip_line(source: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (used, over) = memchr::memchr(b'\n', bytes).map_or((bytes.len(), false), |at| (at + 1, true));
        source.consume(used);
        if over {
            return Ok(());
        }
    }
}

/// Reads a line.
fn record(workload: &mut Workload, place: u64, text: &str) -> Result<(), String> {
    let mut fields = [-1_i64; FIELDS];
    let mut words = [""; FIELDS];
    let mut found = 0;
    for word in text.split_ascii_whitespace() {
        if found < FIELDS {
            fields[found] = field(found, word)?;
            words[found] = word;
        }
        found += 1;
    }
    if found != FIELDS {
        return Err(format!("{found} numbers: expected {FIELDS}"));
    }
    let [id, submit, _, run_time, allocated, _, _, requested, asked_time, memory, status, user, group, ..] = fields;
    if (2..=4).contains(&status) {
        workload.counts.partial += 1;
        return Ok(());
    }
    if status == CANCELLED && run_time <= 0 {
        workload.counts.cancelled += 1;
        return Ok(());
    }
    if id < 0 {
        return Err(format!("the job number is {id}: expected 0 or more"));
    }
    if submit < 0 {
        return Err(format!("the submit time of job {id} is {}: expected 0 or more seconds", words[1]));
    }
    if run_time < 0 {
        return Err(format!("the run time of job {id} is {}: expected 0 or more seconds", words[3]));
    }
    let cores = if requested > 0 { requested } else { allocated };
    if cores <= 0 {
        return Err(format!("job {id} requests {requested} and has {allocated} processors: expected 1 or more"));
    }
    // Nothing has more: the job is too large, not its line wrong.
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    let user = if user >= 0 { format!("user{user}") } else { "unknown".to_owned() };
    let group = if group >= 0 { format!("group{group}") } else { String::new() };
    let dot = if group.is_empty() { "" } else { "." };
    let name = format!("{group}{dot}{user}@trace");
    let submitter = workload.submitter(name.as_bytes(), group.as_bytes());
    workload.arrivals.push(Arrival {
        id: JobId { cluster: id, process: 0 },
        place,
        submit,
        run_time,
        cores,
        submitter,
        memory: megabytes(memory, cores),
        asked_time: (asked_time > 0).then_some(asked_time),
        ad: None,
    });
    Ok(())
}

/// Memory of a job, MB; the trace counts KB a processor.
fn megabytes(memory: i64, cores: u32) -> u32 {
    let all = u64::try_from(memory).unwrap_or(0).saturating_mul(u64::from(cores));
    u32::try_from(all.div_ceil(1024)).unwrap_or(u32::MAX)
}

/// Reads a number; a fraction counts as one more, away from 0.
fn field(at: usize, word: &str) -> Result<i64, String> {
    let name = FIELD_NAMES[at];
    let number = word.parse::<i64>().ok().or_else(|| {
        let real = word.parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(whole(real))
    });
    let number = number.ok_or_else(|| format!("the {name} is `{word}`: expected a number"))?;
    if (-MAX_NUMBER..=MAX_NUMBER).contains(&number) {
        Ok(number)
    } else {
        Err(format!("the {name} is `{word}`: expected a number from -{MAX_NUMBER} to {MAX_NUMBER}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Workload {
        read(&mut text.as_bytes()).unwrap()
    }

    fn faults(text: &str) -> Vec<(u64, String)> {
        trace(text).faults.into_iter().map(|fault| (fault.place, fault.message)).collect()
    }

    /// A line with these: number, submission, run time, allocated, requested, status.
    fn line(id: i64, submit: i64, run: i64, allocated: i64, requested: i64, status: i64) -> String {
        format!("{id} {submit} -1 {run} {allocated} -1 -1 {requested} -1 -1 {status} 1 -1 -1 -1 -1 -1 -1\n")
    }

    #[test]
    fn requested_processors_stand_before_allocated_ones() {
        let found = trace(&(line(1, 0, 5, 2, 4, 1) + &line(2, 0, 5, 2, -1, 1)));
        assert_eq!(found.arrivals.iter().map(|job| job.cores).collect::<Vec<_>>(), [4, 2]);
        assert_eq!(found.faults, []);
    }

    #[test]
    fn more_processors_than_can_be_counted_are_too_many_and_no_fault() {
        let found = trace(&(line(1, 0, 5, 9, 99_999_999_999, 1) + &line(2, 0, 5, 9, 4_294_967_294, 1)));
        assert_eq!(found.arrivals.iter().map(|job| job.cores).collect::<Vec<_>>(), [u32::MAX, u32::MAX - 1]);
        assert_eq!((found.faults.len(), found.counts.bad), (0, 0));
    }

    #[test]
    fn requested_memory_is_that_of_all_processors_in_megabytes() {
        let found = trace("1 0 -1 5 -1 -1 -1 4 90 1500 1 1 -1 -1 -1 -1 -1 -1\n");
        // 4 · 1500 KB are 5.86 MB.
        assert_eq!((found.arrivals[0].memory, found.arrivals[0].asked_time), (6, Some(90)));
        let ad = found.job_ad(0);
        assert_eq!(ad.constant("RequestMemory").and_then(|memory| memory.as_number()), Some(6.0));
    }

    #[test]
    fn the_time_that_is_asked_for_is_what_a_job_is_allowed() {
        let found =
            trace("1 0 -1 5 -1 -1 -1 1 90 -1 1 1 -1 -1 -1 -1 -1 -1\n2 0 -1 5 -1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n");
        for name in ["AllowedJobDuration", "CPUTime"] {
            let said = |job| found.job_ad(job).constant(name).and_then(|time| time.as_number());
            assert_eq!((said(0), said(1)), (Some(90.0), None));
        }
    }

    #[test]
    fn faults_beyond_the_first_thousand_are_counted_and_their_places_kept() {
        // Lines 1 to 1500 are bad but for 1100, which is a job.
        let text: String =
            (1..=1500).map(|id| if id == 1100 { line(id, 0, 5, 1, 1, 1) } else { "x\n".to_owned() }).collect();
        let found = trace(&text);
        assert_eq!(
            (found.counts.records, found.counts.bad, found.faults.len(), found.arrivals.len()),
            (1500, 1499, 1000, 1)
        );
        assert_eq!(found.further, [(1001, 1099), (1101, 1500)]);
    }

    #[test]
    fn jobs_come_in_the_order_of_their_times_then_numbers() {
        let found = trace(&(line(3, 9, 1, 1, 1, 1) + &line(2, 4, 1, 1, 1, 1) + &line(1, 9, 1, 1, 1, 1)));
        assert_eq!(found.arrivals.iter().map(|job| job.id.cluster).collect::<Vec<_>>(), [2, 1, 3]);
    }

    #[test]
    fn bad_lines_are_reported_with_their_numbers_and_the_others_are_read() {
        let text = format!(
            "; Computer: c\n{}1 2 3\n{}{}\n{}x{}",
            line(1, 0, -7, 1, 1, 1),
            line(2, 0, 5, -1, -1, 1),
            line(3, -4, 5, 1, 1, 1),
            line(4, 0, 5, 1, 1, 1),
            line(5, 0, 5, 1, 1, 1),
        );
        let found = [
            (2, "the run time of job 1 is -7: expected 0 or more seconds"),
            (3, "3 numbers: expected 18"),
            (4, "job 2 requests -1 and has -1 processors: expected 1 or more"),
            (5, "the submit time of job 3 is -4: expected 0 or more seconds"),
            (8, "the job number is `x5`: expected a number"),
        ];
        assert_eq!(faults(&text), found.map(|(place, message)| (place, message.to_owned())));
        let workload = trace(&text);
        assert_eq!(workload.arrivals.len(), 1);
        assert_eq!((workload.counts.records, workload.counts.bad), (6, 5));
    }

    #[test]
    fn a_trace_that_is_cut_off_is_reported() {
        let whole = format!("; MaxRecords: 2\n{}{}", line(1, 0, 5, 1, 1, 1), line(2, 0, 5, 1, 1, 1));
        assert_eq!(faults(&whole), []);
        // The last line loses its end, and with it ten numbers.
        let cut = faults(&whole[..whole.len() - 30]);
        assert_eq!(cut.len(), 1);
        assert_eq!((cut[0].0, cut[0].1.ends_with("numbers: expected 18")), (3, true));
        let short = faults("; MaxJobs: 3\n");
        assert_eq!(short, [(1, "the trace ends after 0 jobs, but its header announces 3".to_owned())]);
        assert_eq!(trace("; MaxJobs: 3\n; UnixStartTime: soon\n").counts.bad, 0, "neither stands for a job");
    }

    #[test]
    fn jobs_cancelled_before_they_ran_and_parts_of_jobs_are_counted() {
        let found = trace(&(line(1, 0, -1, 1, 1, 5) + &line(2, 0, 9, 1, 1, 5) + &line(3, 0, 4, 1, 1, 2)));
        assert_eq!((found.counts.cancelled, found.counts.partial, found.arrivals.len()), (1, 1, 1));
        assert_eq!(found.faults, []);
    }

    #[test]
    fn a_line_without_end_is_one_fault() {
        let text = format!("{}\n{}", "1 ".repeat(1 << 17), line(1, 0, 5, 1, 1, 1));
        let found = trace(&text);
        assert_eq!((found.faults.len(), found.faults[0].place, found.arrivals.len()), (1, 1, 1));
    }

    #[test]
    fn numbers_beyond_belief_are_reported() {
        let text = line(1, i64::MAX, 5, 1, 1, 1);
        let bounds = "expected a number from -4503599627370496 to 4503599627370496";
        assert_eq!(faults(&text), [(1, format!("the submit time is `{}`: {bounds}", i64::MAX))]);
    }

    #[test]
    fn fractions_of_a_second_count_as_one_and_those_below_zero_are_none() {
        let with = |submit: &str, run: &str| format!("1 {submit} -1 {run} 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n");
        let found = trace(&(with("0.2", "10.7") + &with("3", "0.4") + &with("3", "0")));
        assert_eq!(
            found.arrivals.iter().map(|job| (job.submit, job.run_time)).collect::<Vec<_>>(),
            [(1, 11), (3, 1), (3, 0)]
        );
        assert_eq!(
            faults(&with("0", "-0.5")),
            [(1, "the run time of job 1 is -0.5: expected 0 or more seconds".to_owned())]
        );
        assert_eq!(
            faults(&with("-.2", "5")),
            [(1, "the submit time of job 1 is -.2: expected 0 or more seconds".to_owned())]
        );
    }

    #[test]
    fn a_machine_without_processors_is_reported() {
        let found = trace("; MaxProcs: 0\n");
        assert_eq!(faults("; MaxProcs: 0\n"), [(1, "`MaxProcs` is `0`: expected 1 or more".to_owned())]);
        assert_eq!((found.header.processors, found.counts.bad), (None, 0));
    }
}
