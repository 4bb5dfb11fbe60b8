//! The slots that a submitter uses: `-getreslist`.

use std::io::{self, Write};

use super::draw::date;
use classmate::Zone;
use classmate_pool::internal::accountant::AccountantLog;

/// Writes the slots recorded for a submitter, and for how long it has had them at `now` (epoch seconds).
///
/// # Errors
/// Those of the output.
///
/// ```
/// use classmate_pool::internal::accountant::AccountantLog;
/// use classmate_cli::report::userprio::write_resources;
/// use classmate::Zone;
/// let log = AccountantLog::read(b"101 Resource.slot1@m@<a> * *\n103 Resource.slot1@m@<a> RemoteUser \"alice@x\"\n\
///                       103 Resource.slot1@m@<a> StartTime 0\n").unwrap();
/// let mut out = Vec::new();
/// write_resources(&mut out, &log, b"alice@x", 90061, &Zone::utc())?;
/// let text = String::from_utf8(out).unwrap();
/// assert_eq!(text.lines().nth(2), Some("slot1@m                          1/1  00:00   1+01:01:01"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_resources(
    out: &mut impl Write,
    log: &AccountantLog,
    submitter: &[u8],
    now: i64,
    zone: &Zone,
) -> io::Result<()> {
    let mut line = |name: &[u8], start: &str, elapsed: &str| {
        out.write_all(name)?;
        writeln!(out, "{:pad$} {start:>12} {elapsed:>12}", "", pad = 30_usize.saturating_sub(name.len()))
    };
    line(b"Resource Name", " Start Time", " Match Time")?;
    line(b"-------------", " ----------", " ----------")?;
    let mut count = 0;
    for (key, record) in log.table("Resource") {
        let Some(start) = record.integer("StartTime") else { continue };
        if record.string("RemoteUser").as_deref() != Some(submitter) {
            continue;
        }
        // The address of the machine follows the last `@`.
        let name = memchr::memrchr(b'@', key).map_or(key, |at| &key[..at]);
        let elapsed = now.saturating_sub(start).max(0);
        let (days, hours, minutes) = (elapsed / 86_400, elapsed / 3600 % 24, elapsed / 60 % 60);
        line(name, &date(start, zone), &format!("{days:3}+{hours:02}:{minutes:02}:{:02}", elapsed % 60))?;
        count += 1;
    }
    line(b"-------------", " ------------", " ------------")?;
    writeln!(out, "Number of Resources Used: {count}")
}
