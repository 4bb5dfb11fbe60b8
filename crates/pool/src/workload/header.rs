//! The header of a trace: comment lines `; Key: value`.

/// The fields of a header that are used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// `UnixStartTime`: the time all others count from, epoch seconds.
    pub start: Option<i64>,
    /// `MaxProcs`, else `MaxNodes`: processors of the machine.
    pub processors: Option<u64>,
    /// `MaxRecords`, else `MaxJobs`: lines there should be.
    pub records: Option<u64>,
    /// `Computer`: what machine it was.
    pub computer: Option<String>,
    nodes: Option<u64>,
    jobs: Option<u64>,
}

impl Header {
    /// Reads the text of a line after its `;`; an error for an invalid value of a known key.
    ///
    /// # Errors
    /// The expected and the found value, in words.
    pub(super) fn read(&mut self, line: &str) -> Result<(), String> {
        let Some((key, value)) = line.trim().split_once(':') else { return Ok(()) };
        let value = value.trim();
        let whole = || {
            // Numbers are followed by remarks in some traces.
            let word = value.split_whitespace().next().unwrap_or_default();
            word.parse::<i64>()
                .ok()
                .filter(|number| *number >= 0)
                .ok_or_else(|| format!("`{key}` is `{value}`: expected a whole number of 0 or more"))
        };
        let some = || match whole()? {
            0 => Err(format!("`{key}` is `{value}`: expected 1 or more")),
            number => Ok(number as u64),
        };
        match key {
            "UnixStartTime" => self.start = Some(whole()?),
            "MaxProcs" => self.processors = Some(some()?),
            "MaxNodes" => self.nodes = Some(some()?),
            "MaxRecords" => self.records = Some(whole()? as u64),
            "MaxJobs" => self.jobs = Some(whole()? as u64),
            "Computer" => self.computer = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }

    /// Default values of missing fields.
    pub(super) fn complete(&mut self) {
        self.processors = self.processors.or(self.nodes).filter(|processors| *processors > 0);
        self.records = self.records.or(self.jobs).filter(|records| *records > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_stand_before_nodes_and_unknown_keys_are_remarks() {
        let mut header = Header::default();
        for line in [" MaxNodes: 8", " MaxProcs: 32 (4 a node)", " Note: a: b", " no key", " MaxJobs: 7"] {
            header.read(line).unwrap();
        }
        header.complete();
        assert_eq!((header.processors, header.records, header.start), (Some(32), Some(7), None));
    }

    #[test]
    fn a_value_that_is_no_number_is_reported() {
        let error = Header::default().read(" UnixStartTime: soon").unwrap_err();
        assert_eq!(error, "`UnixStartTime` is `soon`: expected a whole number of 0 or more");
    }
}
