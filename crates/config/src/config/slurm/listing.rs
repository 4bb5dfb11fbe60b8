//! Listings with `|` between the columns, as `sshare -a -m -P` and `sacctmgr -P show qos` print them, and the records of
//! `scontrol show assoc_mgr`.

use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, Diagnostic, Location};

/// The usage of an association.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The account, lower case.
    pub account: String,
    /// The user; none for an account.
    pub user: Option<String>,
    /// The partition, if the association is for one.
    pub partition: Option<String>,
    /// Decayed billing × seconds, not negative.
    pub usage: f64,
    /// The value of its last digit: 1 for a whole number, 0.01 with two decimals; 0 if nothing was cut off.
    #[serde(default)]
    pub digit: f64,
    /// `GrpTRESRaw`, as listed.
    pub by_resource: Option<String>,
    /// `TRESRunMins` as `sshare` prints it, where records have it.
    #[serde(default)]
    pub run_minutes: Option<String>,
    /// Its place among all associations (`Lft`), where records have it.
    #[serde(default)]
    pub place: Option<u64>,
    /// The line, from 1; 0 if it comes from no file.
    #[serde(default)]
    pub line: u32,
}

/// A quality of service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Qos {
    /// Its name, lower case.
    pub name: String,
    /// Its priority.
    pub priority: u32,
    /// The factor by which usage under it is multiplied.
    pub usage_factor: f64,
}

/// A listing, column by column.
struct Listing {
    header: Vec<String>,
    rows: Vec<(u32, Vec<String>)>,
    file: String,
}

impl Listing {
    fn read(file: &str, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let header = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
        Self { header, rows: lines.map(|(number, line)| (number, cells(line))).collect(), file: file.to_owned() }
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|header| header.eq_ignore_ascii_case(name))
    }

    fn needed(&self, name: &str, command: &str) -> Result<usize, ConfigError> {
        self.column(name).ok_or_else(|| {
            let is_empty = self.header.is_empty();
            let message = if is_empty { "the file is empty".to_owned() } else { format!("column `{name}` is missing") };
            self.error(1, message).help(format!("expected the output of `{command}`"))
        })
    }

    fn number<T: std::str::FromStr>(&self, line: u32, name: &str, text: &str) -> Result<T, ConfigError> {
        text.parse().map_err(|_| self.error(line, format!("`{name}` is `{text}`, expected a number")))
    }

    fn error(&self, line: u32, message: String) -> ConfigError {
        Diagnostic::error_at(message, Some(Location { file: self.file.as_str().into(), line, column: 1 }))
    }
}

fn cell(row: &[String], column: Option<usize>) -> &str {
    column.and_then(|column| row.get(column)).map_or("", String::as_str)
}

/// Reads usage from the output of `sshare -a -m -P`: the columns `Account`, `User`, `RawUsage`, and `Partition` and
/// `GrpTRESRaw` if there are any; or from the records of `scontrol show assoc_mgr flags=assoc`, whose usage is not cut to a
/// whole number.
///
/// # Errors
/// A column is missing, or a number is none.
///
/// ```
/// use classmate_config::internal::config::slurm::read_usage;
/// let rows = read_usage("usage", b"Account|User|RawUsage\nroot||7700\n chem|news|2500\n").unwrap();
/// assert_eq!((rows[1].account.as_str(), rows[1].user.as_deref(), rows[1].usage), ("chem", Some("news"), 2500.0));
/// ```
pub fn read_usage(file: &str, text: &[u8]) -> Result<Vec<UsageRow>, ConfigError> {
    const COMMAND: &str = "scontrol -o show assoc_mgr flags=assoc` or `sshare -a -m -P";
    if memchr::memmem::find(text, USAGE).is_some() {
        return read_records(file, text);
    }
    let listing = Listing::read(file, text);
    let (account, user) = (listing.needed("Account", COMMAND)?, listing.needed("User", COMMAND)?);
    let usage_at = listing.needed("RawUsage", COMMAND)?;
    let (partition, resources) = (listing.column("Partition"), listing.column("GrpTRESRaw"));
    let named = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let rows = listing.rows.iter().map(|(line, row)| {
        let usage: f64 = listing.number(*line, "RawUsage", cell(row, Some(usage_at)))?;
        if !usage.is_finite() || usage < 0.0 {
            return Err(listing.error(*line, format!("`RawUsage` is `{usage}`, expected 0 or more")));
        }
        Ok(UsageRow {
            account: cell(row, Some(account)).to_lowercase(),
            user: named(&cell(row, Some(user)).to_lowercase()),
            partition: named(cell(row, partition)),
            usage,
            digit: last_digit(cell(row, Some(usage_at))),
            by_resource: named(cell(row, resources)),
            run_minutes: None,
            place: None,
            line: *line,
        })
    });
    rows.collect()
}

/// The value of the last digit of a number.
fn last_digit(number: &str) -> f64 {
    number.split_once('.').map_or(1.0, |(_, decimals)| 0.1f64.powi(decimals.len() as i32))
}

/// The usage in a record of `scontrol show assoc_mgr`.
const USAGE: &[u8] = b"UsageRaw/Norm/Efctv=";

/// Reads usage from the records of `scontrol show assoc_mgr`, each on a line of its own (`-o`) or on several.
fn read_records(file: &str, text: &[u8]) -> Result<Vec<UsageRow>, ConfigError> {
    let text = String::from_utf8_lossy(text);
    let mut rows: Vec<UsageRow> = Vec::new();
    let words = (1..).zip(text.lines()).flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)));
    for (line, word) in words {
        let Some((key, value)) = word.split_once('=') else { continue };
        let named = || Some(value.to_owned()).filter(|text| !text.is_empty());
        let Some(row) = rows.last_mut().filter(|_| key != "ClusterName") else {
            if key == "ClusterName" {
                rows.push(UsageRow { line, ..UsageRow::default() });
            }
            continue;
        };
        match key {
            "Account" => row.account = value.to_lowercase(),
            // The number of the user follows its name.
            "UserName" => row.user = named().map(|name| name.split('(').next().unwrap_or_default().to_lowercase()),
            "Partition" => row.partition = named(),
            "UsageRaw/Norm/Efctv" => {
                let written = value.split('/').next().unwrap_or_default();
                row.digit = last_digit(written);
                let usage = written.parse().ok();
                row.usage = usage.filter(|usage: &f64| usage.is_finite() && *usage >= 0.0).ok_or_else(|| {
                    let place = Location { file: file.into(), line, column: 1 };
                    Diagnostic::error_at(format!("`UsageRaw` is `{value}`, expected 0 or more"), Some(place))
                })?;
            }
            "GrpTRESRunMins" => row.run_minutes = used(value),
            "Lft" => row.place = value.parse().ok(),
            _ => {}
        }
    }
    Ok(rows)
}

/// The used parts of limits, of `cpu=100(7),mem=N(0)` the text `cpu=7,mem=0`; none if they are not written so.
fn used(limits: &str) -> Option<String> {
    let used = |item: &str| {
        let (name, value) = item.split_once('=')?;
        let used = value.split_once('(')?.1.strip_suffix(')')?;
        used.parse::<u64>().ok().map(|used| format!("{name}={used}"))
    };
    limits.split(',').map(used).collect::<Option<Vec<_>>>().map(|items| items.join(","))
}

/// Reads qualities of service from the output of `sacctmgr -P show qos`: the columns `Name`, `Priority`, and
/// `UsageFactor` if there is one.
///
/// # Errors
/// A column is missing, or a number is none.
///
/// ```
/// use classmate_config::internal::config::slurm::read_qos;
/// let all = read_qos("qos", b"Name|Priority|UsageFactor\nhigh|80|2.000000\n").unwrap();
/// assert_eq!((all[0].priority, all[0].usage_factor), (80, 2.0));
/// ```
pub fn read_qos(file: &str, text: &[u8]) -> Result<Vec<Qos>, ConfigError> {
    const COMMAND: &str = "sacctmgr -P show qos";
    let listing = Listing::read(file, text);
    let (name, priority) = (listing.needed("Name", COMMAND)?, listing.needed("Priority", COMMAND)?);
    let factor = listing.column("UsageFactor");
    let rows = listing.rows.iter().map(|(line, row)| {
        let usage_factor = match cell(row, factor) {
            "" => 1.0,
            text => listing.number(*line, "UsageFactor", text)?,
        };
        if !(usage_factor >= 0.0 && f64::is_finite(usage_factor)) {
            return Err(listing.error(*line, format!("`UsageFactor` is `{usage_factor}`, expected 0 or more")));
        }
        Ok(Qos {
            name: cell(row, Some(name)).to_lowercase(),
            priority: listing.number(*line, "Priority", cell(row, Some(priority)))?,
            usage_factor,
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_associations_have_decimals_and_places() {
        let text = "Current Association Manager state\n\nAssociation Records\n\n\
            ClusterName=c Account=phys UserName= Partition= Priority=0 ID=3\n    UsageRaw/Norm/Efctv=12.75/1.00/1.00\n\
            ClusterName=c Account=phys UserName=Ann(3001) Partition=gpu UsageRaw/Norm/Efctv=2.50/0.20/0.20 Lft=7 DefAssoc=No \
            GrpTRESRunMins=cpu=100(7),gres/gpu:a100=N(0)\n";
        let rows = read_usage("u", text.as_bytes()).unwrap();
        let row = |user: Option<&str>, partition: Option<&str>, usage, place: Option<u64>, line| UsageRow {
            account: "phys".to_owned(),
            user: user.map(str::to_owned),
            partition: partition.map(str::to_owned),
            usage,
            digit: 0.1 * 0.1,
            by_resource: None,
            run_minutes: place.map(|_| "cpu=7,gres/gpu:a100=0".to_owned()),
            place,
            line,
        };
        assert_eq!(rows, [row(None, None, 12.75, None, 5), row(Some("ann"), Some("gpu"), 2.5, Some(7), 7)]);
        assert_eq!(read_usage("u", b"ClusterName=c UsageRaw/Norm/Efctv=x/1/1\n").unwrap_err().line(), 1);
    }

    #[test]
    fn a_missing_column_tells_what_was_expected() {
        let error = read_usage("u", b"Account  User  RawUsage\n").unwrap_err();
        assert_eq!(error.message, "column `Account` is missing");
        let help = "expected the output of `scontrol -o show assoc_mgr flags=assoc` or `sshare -a -m -P`";
        assert_eq!(error.help.as_deref(), Some(help));
        let empty = [read_usage("u", b"\n").unwrap_err(), read_qos("q", b"").unwrap_err()];
        assert_eq!(empty.map(|error| error.message), ["the file is empty"; 2]);
    }

    #[test]
    fn what_is_no_number_is_told_with_its_line() {
        let error = read_usage("u", b"Account|User|RawUsage\nroot||1\na|b|x\n").unwrap_err();
        assert_eq!((error.message.as_str(), error.place.unwrap().line), ("`RawUsage` is `x`, expected a number", 3));
        assert!(read_usage("u", b"Account|User|RawUsage\na|b|-1\n").is_err());
        assert!(read_qos("q", b"Name|Priority\na|-1\n").is_err());
    }
}
