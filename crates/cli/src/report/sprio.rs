//! Listings of priorities as `sprio` prints them.
//!
//! In: jobs with their weighted factors, and a format. Out: lines, column for column. Formula source:
//! `docs/reference/slurm-multifactor.md` 7.1.

use std::cmp::Ordering;

use crate::report::table::Table;
use classmate_config::internal::config::slurm::{Release, TresWeights, Weights};
use classmate_pool::internal::priority::slurm::Factors;

/// The widest column.
const MAX_WIDTH: usize = 4096;

/// A job in a partition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriorityLine {
    /// The number of the job, as shown.
    pub id: String,
    /// The partition.
    pub partition: String,
    /// The user.
    pub user: String,
    /// The account.
    pub account: String,
    /// The quality of service.
    pub qos: String,
    /// The cluster.
    pub cluster: String,
    /// The weighted factors.
    pub weighted: Factors,
    /// Their sum, with site and without nice.
    pub sum: f64,
    /// Added to the sum.
    pub site: i64,
    /// Taken from the sum.
    pub nice: i64,
    /// True if its priority was set by hand, so that it has no factors.
    pub direct: bool,
    /// The weighted factor of its partition, however its priority was set.
    pub partition_weighted: f64,
    /// The release whose listing it is.
    pub release: Release,
    /// The weights of the factors.
    pub weights: Weights,
    /// The weights of resources.
    pub tres_weights: TresWeights,
}

impl PriorityLine {
    /// The sum of its terms, added as `sprio` adds them: resources one by one at the end.
    pub fn total(&self) -> f64 {
        let Factors { age, association, fair_share, job_size, partition, qos, tres } = &self.weighted;
        let plain = age + association + fair_share + job_size + partition + qos + self.site as f64 - self.nice as f64;
        tres.iter().fold(plain, |sum, (_, value)| sum + value)
    }
}

/// A factor of a job: its letter, its header, its value and its weight.
struct Factor(char, &'static str, fn(&Factors) -> f64, fn(&Weights) -> u32);

const FACTORS: [Factor; 6] = [
    Factor('A', "AGE", |factors| factors.age, |weights| weights.age),
    Factor('B', "ASSOC", |factors| factors.association, |weights| weights.association),
    Factor('F', "FAIRSHARE", |factors| factors.fair_share, |weights| weights.fair_share),
    Factor('J', "JOBSIZE", |factors| factors.job_size, |weights| weights.job_size),
    Factor('P', "PARTITION", |factors| factors.partition, |weights| weights.partition),
    Factor('Q', "QOS", |factors| factors.qos, |weights| weights.qos),
];

/// A field other than a factor: its letter, its header, its value and its order.
struct Plain(char, &'static str, fn(&PriorityLine) -> String, fn(&PriorityLine, &PriorityLine) -> Ordering);

const PLAIN: [Plain; 13] = [
    Plain('i', "JOBID", |line| line.id.clone(), |one, other| numbers(&one.id).cmp(&numbers(&other.id))),
    Plain('r', "PARTITION", |line| line.partition.clone(), |one, other| one.partition.cmp(&other.partition)),
    Plain('u', "USER", |line| line.user.clone(), |one, other| one.user.cmp(&other.user)),
    Plain('o', "ACCOUNT", |line| line.account.clone(), |one, other| one.account.cmp(&other.account)),
    Plain('n', "QOSNAME", |line| line.qos.clone(), |one, other| one.qos.cmp(&other.qos)),
    Plain('c', "CLUSTER", |line| line.cluster.clone(), |one, other| one.cluster.cmp(&other.cluster)),
    Plain('s', "SLUID", |_| String::new(), |_, _| Ordering::Equal),
    Plain('Y', "PRIORITY", |line| format!("{}", line.sum.max(1.0).trunc()), by_priority),
    Plain('y', "PRIORITY", normal_priority, by_priority),
    Plain('S', "SITE", |line| line.site.to_string(), |one, other| one.site.cmp(&other.site)),
    Plain('N', "NICE", |line| line.nice.to_string(), |one, other| one.nice.cmp(&other.nice)),
    Plain('T', "TRES", |line| tres(line, |_, value| format!("{value:.0}")), by_tres),
    Plain('t', "TRES", |line| tres(line, |name, value| format!("{:.2}", value / line.tres_weights.of(name))), by_tres),
];

/// The content of a column: a plain field, a weighted factor (capital letter) or a factor, each by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PriorityField {
    Plain(usize),
    Weighted(usize),
    Normal(usize),
}

impl PriorityField {
    /// The field of a letter.
    fn of_letter(letter: char) -> Option<Self> {
        let plain = PLAIN.iter().position(|plain| plain.0 == letter).map(Self::Plain);
        plain.or_else(|| {
            let factor = FACTORS.iter().position(|factor| factor.0.eq_ignore_ascii_case(&letter))?;
            Some(if letter.is_ascii_uppercase() { Self::Weighted(factor) } else { Self::Normal(factor) })
        })
    }

    fn header(self) -> &'static str {
        match self {
            Self::Plain(plain) => PLAIN[plain].1,
            Self::Weighted(factor) | Self::Normal(factor) => FACTORS[factor].1,
        }
    }

    fn value(self, line: &PriorityLine) -> String {
        match self {
            Self::Plain(plain) => PLAIN[plain].2(line),
            Self::Weighted(factor) => format!("{:.0}", FACTORS[factor].2(&line.weighted)),
            Self::Normal(_) if line.direct && line.release.prints_zeros() => "0".to_owned(),
            Self::Normal(factor) => format!("{:.7}", normal(factor, line)),
        }
    }

    /// Content of the line of weights.
    fn weight(self, weights: Weights, tres: &str) -> String {
        match self {
            Self::Weighted(factor) | Self::Normal(factor) => FACTORS[factor].3(&weights).to_string(),
            Self::Plain(plain) => match PLAIN[plain].0 {
                'i' => "Weights",
                'S' => "1",
                'T' | 't' => tres,
                _ => "",
            }
            .to_owned(),
        }
    }

    fn compare(self, one: &PriorityLine, other: &PriorityLine) -> Ordering {
        match self {
            Self::Plain(plain) => PLAIN[plain].3(one, other),
            // Factors are sorted by what they weigh.
            Self::Weighted(factor) | Self::Normal(factor) => {
                compare(FACTORS[factor].2(&one.weighted), FACTORS[factor].2(&other.weighted))
            }
        }
    }
}

fn by_priority(one: &PriorityLine, other: &PriorityLine) -> Ordering {
    compare(one.sum.max(1.0), other.sum.max(1.0))
}

fn by_tres(one: &PriorityLine, other: &PriorityLine) -> Ordering {
    let sum = |line: &PriorityLine| line.weighted.tres.iter().map(|(_, value)| value).sum::<f64>();
    compare(sum(one), sum(other))
}

/// The priority as a fraction of the highest; what was set by hand is not divided.
fn normal_priority(line: &PriorityLine) -> String {
    format!("{:16.14}", if line.direct { line.sum } else { line.sum.max(1.0) / f64::from(u32::MAX) })
}

/// Compares two numbers as `sprio` does, to which a difference below 0.00001 is none.
fn compare(one: f64, other: f64) -> Ordering {
    if (one - other).abs() < 0.000_01 { Ordering::Equal } else { one.total_cmp(&other) }
}

/// The numbers in the text of a job's number.
fn numbers(id: &str) -> Vec<u64> {
    let digits = id.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
}

fn normal(factor: usize, line: &PriorityLine) -> f64 {
    match FACTORS[factor].3(&line.weights) {
        0 => 0.0,
        weight => FACTORS[factor].2(&line.weighted) / f64::from(weight),
    }
}

fn tres(line: &PriorityLine, shown: impl Fn(&str, f64) -> String) -> String {
    let counted = line.weighted.tres.iter().filter(|(_, value)| *value != 0.0);
    let items: Vec<String> = counted.map(|(name, value)| format!("{name}={}", shown(name, *value))).collect();
    items.join(",")
}

/// Columns and their widths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Text before the first column.
    before: String,
    columns: Vec<FormatColumn>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FormatColumn {
    field: PriorityField,
    /// 0: as wide as the value.
    width: usize,
    right: bool,
    /// Text after it.
    after: String,
}

/// The default columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DefaultColumns {
    /// `-l`: all of them.
    pub long: bool,
    /// `-n`: factors, not what they weigh.
    pub normal: bool,
    /// True if the user is shown.
    pub user: bool,
    /// The release whose columns are shown.
    pub release: Release,
}

impl Format {
    /// The columns that are shown by default: those of factors that weigh something.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::Weights;
    /// use classmate_cli::report::sprio::{Format, DefaultColumns};
    /// let weights = Weights { age: 5, ..Weights::default() };
    /// let format = Format::default_of(DefaultColumns::default(), weights, false);
    /// assert_eq!(format, Format::parse("%.15i %9r %.10Y %.10S %.10A").unwrap());
    /// ```
    pub fn default_of(shown: DefaultColumns, weights: Weights, tres: bool) -> Self {
        let DefaultColumns { long, normal, user, release } = shown;
        let accounts = long && release.names_accounts();
        let either = |factor: &str, weighted: &str| if normal { factor.to_owned() } else { weighted.to_owned() };
        let column = |letter: char| either(&format!("%10{letter}"), &format!("%.10{}", letter.to_ascii_uppercase()));
        let mut fields: Vec<String> = vec!["%.15i".to_owned(), "%9r".to_owned()];
        let mut add = |when: bool, field: String| fields.extend(when.then_some(field));
        add(long || user, "%.8u".to_owned());
        add(accounts, "%.8o".to_owned());
        add(true, column('y'));
        add(!normal, "%.10S".to_owned());
        add(long || weights.age > 0, column('a'));
        add(long || weights.association > 0, column('b'));
        add(long || weights.fair_share > 0, column('f'));
        add(long || weights.job_size > 0, column('j'));
        add(long || weights.partition > 0, column('p'));
        add(accounts, either("%10n", "%.10n"));
        add(long || weights.qos > 0, column('q'));
        add(long && !normal, "%.11N".to_owned());
        add(long || tres, either("%20t", "%.20T"));
        Self::parse(&fields.join(" ")).unwrap_or(Self { before: String::new(), columns: Vec::new() })
    }

    /// Reads `%[.][width]letter` with any text between; the dot justifies to the right.
    ///
    /// # Errors
    /// An invalid column, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split('%');
        let before = parts.next().unwrap_or_default().to_owned();
        let column = |part: &str| {
            let wrong = || format!("`%{part}` is not a column");
            let (right, rest) = match part.strip_prefix('.') {
                Some(rest) => (true, rest),
                None => (false, part),
            };
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (width, rest) = rest.split_at(digits);
            let letter = rest.chars().next().ok_or_else(wrong)?;
            let field = PriorityField::of_letter(letter).ok_or_else(wrong)?;
            let width = if width.is_empty() { 0 } else { width.parse().unwrap_or(usize::MAX) };
            if width > MAX_WIDTH {
                return Err(format!("a column is at most {MAX_WIDTH} wide, found `%{part}`"));
            }
            Ok(FormatColumn { field, width, right, after: rest[letter.len_utf8()..].to_owned() })
        };
        Ok(Self { before, columns: parts.map(column).collect::<Result<_, String>>()? })
    }

    /// The columns of a listing, by its headers and its first line; `None` if one is not known. A header is the same for
    /// a factor and for its weighted value: factors have decimals.
    ///
    /// ```
    /// use classmate_cli::report::sprio::Format;
    /// let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    /// let format = Format::of_listing(&words("JOBID PARTITION PRIORITY PARTITION"), &words("7 batch 12 0.5000000"));
    /// assert_eq!(format, Format::parse("%i|%r|%Y|%p").ok());
    /// ```
    pub fn of_listing(headers: &[String], first: &[String]) -> Option<Self> {
        let mut fields = Vec::new();
        for (at, header) in headers.iter().enumerate() {
            let decimals = first.get(at).is_some_and(|cell| cell.contains('.'));
            let factor = FACTORS.iter().find(|factor| factor.1 == header);
            let letter = match (header.as_str(), factor) {
                ("PARTITION", _) if !fields.contains(&"%r".to_owned()) => 'r',
                ("PRIORITY", _) => {
                    if decimals {
                        'y'
                    } else {
                        'Y'
                    }
                }
                ("TRES", _) => {
                    if decimals {
                        't'
                    } else {
                        'T'
                    }
                }
                (_, Some(factor)) => {
                    if decimals {
                        factor.0.to_ascii_lowercase()
                    } else {
                        factor.0
                    }
                }
                (_, None) => PLAIN.iter().find(|plain| plain.1 == header)?.0,
            };
            fields.push(format!("%{letter}"));
        }
        Self::parse(&fields.join("|")).ok()
    }

    /// Returns true if it shows the job and the partition, which name a line.
    pub fn names_lines(&self) -> bool {
        let shows = |letter| self.columns.iter().any(|column| PriorityField::of_letter(letter) == Some(column.field));
        shows('i') && shows('r')
    }

    /// The line of a job.
    pub fn row(&self, line: &PriorityLine) -> String {
        self.cells(|field| field.value(line))
    }

    /// Lines as a table that fits a terminal: without padding, and without columns that do not fit, those first that are 0 in
    /// all lines.
    pub fn table(&self, lines: &[PriorityLine]) -> Table {
        let mut table = Table::default();
        for FormatColumn { field, right, .. } in &self.columns {
            let is_always_shown = matches!(field, PriorityField::Plain(plain) if "iryY".contains(PLAIN[*plain].0));
            let is_empty = |line| matches!(field.value(line).as_str(), "" | "0");
            let spare = if is_always_shown { 0 } else { 1 + u8::from(lines.iter().all(is_empty)) };
            table.column(field.header(), *right, spare);
        }
        for line in lines {
            table.row(self.columns.iter().map(|column| column.field.value(line).trim().to_owned()));
        }
        table
    }

    /// The headers.
    pub fn header(&self) -> String {
        self.cells(|field| field.header().to_owned())
    }

    /// The line of the weights; those of resources as configured.
    pub fn weights(&self, weights: Weights, tres: &str) -> String {
        self.cells(|field| field.weight(weights, tres))
    }

    fn cells(&self, value: impl Fn(PriorityField) -> String) -> String {
        let mut line = self.before.clone();
        for FormatColumn { field, width, right, after } in &self.columns {
            let value = value(*field);
            match (*width, *right) {
                (0, _) => line.push_str(&value),
                (width, true) => line.extend(format!("{value:>width$}").chars().take(width)),
                (width, false) => line.extend(format!("{value:<width$}").chars().take(width)),
            }
            line.push_str(after);
        }
        line
    }
}

/// An order of jobs: columns, each rising or falling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort(Vec<(PriorityField, bool)>);

impl Sort {
    /// Reads letters with `+` or `-` before them, with commas between or none.
    ///
    /// # Errors
    /// An invalid column, in words.
    ///
    /// ```
    /// use classmate_cli::report::sprio::Sort;
    /// assert!(Sort::parse("-Y,i").is_ok());
    /// assert_eq!(Sort::parse("x"), Err("`x` is not a column".to_owned()));
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut keys = Vec::new();
        let mut falling = false;
        for letter in text.chars() {
            match letter {
                '+' | '-' => falling = letter == '-',
                ',' | ' ' | '%' => {}
                letter => {
                    let field =
                        PriorityField::of_letter(letter).ok_or_else(|| format!("`{letter}` is not a column"))?;
                    keys.push((field, std::mem::take(&mut falling)));
                }
            }
        }
        Ok(Self(keys))
    }

    /// Sorts jobs; equal ones keep their order.
    pub fn sort(&self, lines: &mut [PriorityLine]) {
        let mut order: Vec<usize> = (0..lines.len()).collect();
        self.merge(&mut order, lines);
        let mut sorted: Vec<PriorityLine> = order.into_iter().map(|at| std::mem::take(&mut lines[at])).collect();
        lines.swap_with_slice(&mut sorted);
    }

    /// Sorts the numbers of lines by merging halves, as the C library does: of three numbers, the first can equal the second
    /// and that the third, and still be less than the third.
    fn merge(&self, order: &mut Vec<usize>, lines: &[PriorityLine]) {
        let size = order.len();
        if size < 2 {
            return;
        }
        let mut second = order.split_off(size / 2);
        self.merge(order, lines);
        self.merge(&mut second, lines);
        let mut first = std::mem::replace(order, Vec::with_capacity(size)).into_iter().peekable();
        let mut second = second.into_iter().peekable();
        while let (Some(&one), Some(&other)) = (first.peek(), second.peek()) {
            let next = if self.compare(&lines[one], &lines[other]).is_le() { first.next() } else { second.next() };
            order.extend(next);
        }
        order.extend(first.chain(second));
    }

    fn compare(&self, one: &PriorityLine, other: &PriorityLine) -> Ordering {
        let by = |&(field, falling): &(PriorityField, bool)| {
            let order = field.compare(one, other);
            if falling { order.reverse() } else { order }
        };
        self.0.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, sum: f64) -> PriorityLine {
        PriorityLine { id: id.to_owned(), sum, ..PriorityLine::default() }
    }

    #[test]
    fn columns_are_padded_and_cut_and_the_dot_is_to_the_right() {
        let job = PriorityLine { user: "longest".to_owned(), ..line("7", 12.9) };
        let row = |format: &str| Format::parse(format).unwrap().row(&job);
        assert_eq!(row("<%i|%4i|%.4i|%.4u|%4u>"), "<7|7   |   7|long|long>");
        assert_eq!(row("%Y %y"), "12 0.00000000300352");
    }

    #[test]
    fn amounts_are_rounded_half_to_even() {
        let values = [0.5, 1.5, 2.5, 62.5].map(|value| ("x".to_owned(), value)).to_vec();
        let job = PriorityLine { weighted: Factors { tres: values, ..Factors::default() }, ..line("1", 1.0) };
        assert_eq!(Format::parse("%T").unwrap().row(&job), "x=0,x=2,x=2,x=62");
    }

    #[test]
    fn invalid_columns_are_reported() {
        for text in ["%", "%5", "%.z", "%5000i"] {
            assert!(Format::parse(text).is_err(), "{text}");
        }
        assert_eq!(Format::parse("%.z"), Err("`%.z` is not a column".to_owned()));
    }

    #[test]
    fn jobs_are_sorted_by_number_not_by_text() {
        let mut lines = [line("10", 1.0), line("9", 1.0), line("2_10", 2.0), line("2_9", 2.0)];
        let ids = |lines: &[PriorityLine]| lines.iter().map(|line| line.id.clone()).collect::<Vec<_>>();
        Sort::parse("i").unwrap().sort(&mut lines);
        assert_eq!(ids(&lines), ["2_9", "2_10", "9", "10"]);
        Sort::parse("+Y,-i").unwrap().sort(&mut lines);
        assert_eq!(ids(&lines), ["10", "9", "2_10", "2_9"]);
    }
}
