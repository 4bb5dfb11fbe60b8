//! `queue` statements that `condor_submit` rejects, or that make other jobs than they seem to.
//!
//! In: the arguments of the statement. Out: the fault and its help.

use super::submit_odd::NUMBERS;
use crate::submit::queue::{ItemKind, ItemList, PathKind, QueueStatement, Slice, number};

/// The name of a file with the number of the job.
pub(super) fn numbered(file: &str) -> String {
    match file.rsplit_once('.').filter(|(front, end)| !front.is_empty() && !end.contains('/')) {
        Some((front, end)) => format!("{front}.$(Process).{end}"),
        None => format!("{file}.$(Process)"),
    }
}

/// Tests whether the only item is the name of a file that probably holds items.
pub(super) fn is_list_file(item: &str) -> bool {
    const ENDS: [&str; 8] = [".txt", ".list", ".lst", ".csv", ".tsv", ".items", ".dat", ".lis"];
    let lower = item.trim().to_ascii_lowercase();
    !lower.contains([' ', ',', '\t', '$']) && ENDS.iter().any(|end| lower.len() > end.len() && lower.ends_with(end))
}

/// Tests whether the only item is a pattern of the names of files: `*.fits`, `data/run?.root`.
fn is_file_pattern(item: &str) -> bool {
    let item = item.trim();
    let has_ending = item.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=6).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'*')
    });
    !item.contains([' ', ',', '\t', '$', '"', '\'']) && item.contains(['*', '?']) && (has_ending || item.contains('/'))
}

/// Tests whether the only item is a range of numbers: `1-10`.
fn is_span(item: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    item.trim()
        .split_once('-')
        .is_some_and(|(first, last)| number(first).zip(number(last)).is_some_and(|(first, last)| first < last))
}

/// The items that are used, if they are on the line of the statement; 1 for others.
pub(super) fn items(queue: &QueueStatement<'_>) -> usize {
    if queue.slice.is_some() { 1 } else { listed_items(queue).unwrap_or(1).max(1) }
}

/// The number of items on the line of a statement, before a slice is taken.
fn listed_items(queue: &QueueStatement<'_>) -> Option<usize> {
    let ItemList::Here(text) = &queue.list else { return None };
    let is_plain = queue.kind == ItemKind::Words && !text.contains('$');
    is_plain.then(|| text.split([',', ' ', '\t']).filter(|item| !item.is_empty()).count())
}

/// Tests if the slice of a statement leaves no item.
pub(super) fn has_empty_slice(queue: &QueueStatement<'_>) -> bool {
    let is_beyond =
        |slice: Slice| listed_items(queue).is_some_and(|count| count > 0 && !(0..count).any(|at| slice.has(at, count)));
    queue.slice.is_some_and(|slice| slice.is_empty() || is_beyond(slice))
}

/// A range of numbers, as other languages write it: `1..10`, `{1..10}`, `range(10)`, and the command `seq 1 10`.
pub(super) fn is_range(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let dots = inner.split_once("..").is_some_and(|(first, last)| is_number(first) && is_number(last));
    let is_command = text.starts_with("seq ") && !text.ends_with('|');
    dots || text.starts_with("range(") || is_command
}

/// The message and the help about a range in place of items.
pub(super) fn of_range(item: &str) -> Option<(String, String)> {
    let message = format!("`{item}` is one item: there are no ranges");
    Some((message, "write `queue N` with `$(Process)`, or the items one by one".to_owned()))
}

/// The message and the help about items that are probably others than was meant.
pub(super) fn odd_items(queue: &QueueStatement<'_>) -> Option<(String, String)> {
    let count = number(queue.count);
    if let Some(count) = count.filter(|count| *count == 0.0 || count.fract() != 0.0) {
        let message = format!(
            "`queue {}` queues {} job{}",
            queue.count,
            count.trunc().max(1.0),
            if count < 2.0 { "" } else { "s" }
        );
        return Some((message, "write the number of jobs".to_owned()));
    }
    if let Some(found) = odd_text(queue).or_else(|| number_of_job(queue)) {
        return Some(found);
    }
    match &queue.list {
        ItemList::Here(items) if items.trim().is_empty() && queue.kind == ItemKind::Words => {
            Some(("the list has no items".to_owned(), "write the items after `in`, as in `in (a, b)`".to_owned()))
        }
        ItemList::Here(item) if item.starts_with('[') && item.ends_with(']') && queue.kind == ItemKind::Words => {
            let message = format!("`{item}` is one item, as no list follows the slice");
            Some((message, "write the items after it, as in `in [1:5] (a, b)`".to_owned()))
        }
        ItemList::Here(item) if queue.kind == ItemKind::Words && item.trim().starts_with('{') => {
            let inner = item.trim().trim_matches(['{', '}']);
            let message = format!("the braces are a part of the items in `{}`", item.trim());
            (!is_range(item)).then(|| (message, format!("write `in ({inner})`"))).or_else(|| of_range(item))
        }
        ItemList::Here(item) if queue.kind == ItemKind::Words && (is_range(item) || is_span(item)) => of_range(item),
        ItemList::File(file) if is_range(file) => {
            let message = format!("`from` takes the name of a file, here `{file}`");
            Some((message, format!("write `from {file} |` for the output of a command")))
        }
        ItemList::File(file) if file.ends_with([',', ';']) => {
            let plain = file.trim_end_matches([',', ';', ' ']);
            let message = format!("`from` takes the name of a file, here `{file}`");
            (!plain.is_empty()).then(|| (message, format!("write `from {plain}`")))
        }
        ItemList::Here(items) if queue.kind == ItemKind::Words && is_closed_only(items) => {
            let message = format!("the `)` is a part of the last item in `{}`", items.trim());
            Some((message, format!("write `in ({}`", items.trim())))
        }
        ItemList::File(file) if file.ends_with('/') => {
            let message = format!("`from` takes a file with one item on each line, and `{file}` is a folder");
            Some((message, format!("write `matching files {file}*` for the files in it")))
        }
        ItemList::File(file) if file.rsplit_once(' ').is_some_and(|(_, last)| number(last).is_some()) => {
            let (name, count) = file.rsplit_once(' ').unwrap_or((file, ""));
            let message = format!("`from` takes the name of a file, here `{file}`");
            Some((message, format!("write `queue {count} {} from {name}`", queue.names.join(","))))
        }
        ItemList::File(file) if command_of(file).is_some() && !file.ends_with('|') => {
            let message = format!("`from` takes the name of a file, here `{file}`: no command is run");
            Some((message, format!("write `from {file} |` for the output of a command")))
        }
        ItemList::File(file) if file.ends_with(']') && file.contains(" [") => {
            let (name, slice) = file.split_once(" [").unwrap_or((file, ""));
            let message = format!("`from` takes the name of a file, here `{file}`");
            Some((message, format!("write `queue {} from [{slice} {name}`", queue.names.join(","))))
        }
        ItemList::File(file) if names_after_file(file).is_some() => {
            let (name, names) = names_after_file(file)?;
            let message = format!("`from` takes the name of a file, here `{file}`");
            Some((message, format!("write `queue {names} from {name}`")))
        }
        ItemList::File(file) if file.contains(", ") => {
            Some((format!("`from` takes the name of a file, here `{file}`"), format!("write `in ({file})` for items")))
        }
        ItemList::Here(item) if !matches!(queue.kind, ItemKind::Paths(_)) && is_file_pattern(item) => {
            let word = if queue.kind == ItemKind::Words { "in" } else { "from" };
            let help = format!("write `queue {} matching files {item}` for the names of files", queue.names.join(","));
            Some((format!("`{word}` takes items, here the one item `{item}`"), help))
        }
        ItemList::Here(item) if queue.kind == ItemKind::Words && is_list_file(item) => Some((
            format!("`in` takes items, here the one item `{item}`"),
            format!("write `from {item}` for the lines of a file"),
        )),
        ItemList::Here(_) | ItemList::Lines(_) if queue.kind == ItemKind::Words && queue.names.len() > 1 => {
            let (first, second) = (queue.names[0], queue.names[1]);
            let message = format!("an item of `in` is the value of `{first}` alone: `{second}` is empty");
            let names = queue.names.join(",");
            Some((message, format!("write `queue {names} from (`, each row of items on its own line, and `)`")))
        }
        _ => None,
    }
}

/// Items that a `)` ends which no `(` begins.
fn is_closed_only(items: &str) -> bool {
    items.trim_end().ends_with(')') && !items.contains('(')
}

/// The name of a file with items, and the names of variables after it: `cities.txt city, country`.
fn names_after_file(file: &str) -> Option<(&str, &str)> {
    let (name, names) = file.split_once(char::is_whitespace).filter(|(name, _)| is_list_file(name))?;
    let is_name = |word: &str| {
        let begins = word.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
        begins && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let names = names.trim();
    let mut words = names.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    (!names.is_empty() && words.all(is_name)).then_some((name, names))
}

/// A pattern of the names of plain files: `*.txt`, `data/*.fasta`. Folders are rarely called so.
fn is_of_plain_files(pattern: &str) -> bool {
    const ENDS: [&str; 20] = [
        "bam", "cfg", "dat", "fasta", "fastq", "fits", "gz", "inp", "jpg", "json", "log", "pdf", "png", "py", "root",
        "sh", "tgz", "txt", "xml", "yaml",
    ];
    let end = pattern.rsplit_once('.').map_or("", |(_, end)| end);
    pattern.contains(['*', '?']) && ENDS.iter().any(|known| known.eq_ignore_ascii_case(end))
}

/// `queue $(Process)`: the numbers of jobs are known when they are queued.
fn number_of_job(queue: &QueueStatement<'_>) -> Option<(String, String)> {
    let number = NUMBERS.iter().find(|number| queue.count.eq_ignore_ascii_case(number))?;
    let message = format!("`{number}` has no value here, so one job is queued for each item");
    Some((message, "write the number of jobs".to_owned()))
}

/// The kind of paths that another word means.
pub(super) fn of_paths(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "dir" | "directories" | "directory" | "folders" => Some("dirs"),
        "all" => Some("any"),
        _ => None,
    }
}

/// Items in quotes, which are a part of them, and patterns of another kind.
pub(super) fn odd_text(queue: &QueueStatement<'_>) -> Option<(String, String)> {
    let (ItemList::Here(text) | ItemList::File(text)) = &queue.list else { return None };
    let text = text.trim();
    let is_in = |word: &str, sign: char| word.len() > 2 && word.starts_with(sign) && word.ends_with(sign);
    let is_quoted = |word: &str| is_in(word, '"') || is_in(word, '\'');
    let mut words = text.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    if let (ItemList::File(file), true) = (&queue.list, text.contains('*') && !text.ends_with('|')) {
        let message = format!("`from` takes the name of a file, here `{file}`");
        let names = queue.names.join(",");
        let pattern = file.rsplit(' ').next().unwrap_or(file);
        return Some((message, format!("write `queue {names} matching files {pattern}`")));
    }
    if let (ItemList::Here(_), ItemKind::Paths(PathKind::Unstated), Some(first)) =
        (&queue.list, queue.kind, words.clone().next())
        && let Some(meant) = of_paths(first)
    {
        let message = format!("`{first}` is a pattern here, and not the kind of paths");
        return Some((message, format!("write `matching {meant}`")));
    }
    match (&queue.list, queue.kind) {
        (ItemList::Here(_), ItemKind::Words) if words.clone().all(is_quoted) && !text.is_empty() => {
            let message = format!("the quotes are a part of the items in `{text}`");
            Some((message, format!("write `in ({})`", text.replace(['"', '\''], ""))))
        }
        (ItemList::Here(_), ItemKind::Words) if are_ended_by_semicolons(text) => {
            let message = format!("the `;` is a part of the items in `{text}`: blanks and `,` separate");
            Some((message, format!("write `in ({})`", text.split(';').map(str::trim).collect::<Vec<_>>().join(", "))))
        }
        (_, ItemKind::Paths(_) | ItemKind::Rows) if is_quoted(text) => {
            let message = format!("the quotes are a part of the name `{text}`");
            Some((message, format!("write `{}`", text.trim_matches(['"', '\'']))))
        }
        (ItemList::Here(_), ItemKind::Paths(_)) if joining_word(text).is_some() => {
            let word = joining_word(text)?;
            let message = format!("`{word}` is a pattern here, which no file has for a name");
            Some((message, "write the patterns alone, separated by blanks".to_owned()))
        }
        (ItemList::Here(_), ItemKind::Paths(PathKind::Unstated)) if kind_at_end(text).is_some() => {
            let (patterns, kind) = kind_at_end(text)?;
            let message = format!("`{kind}` is a pattern here: the kind of paths comes before the patterns");
            Some((message, format!("write `matching {kind} {patterns}`")))
        }
        (ItemList::Here(_), ItemKind::Paths(PathKind::Directories))
            if !text.is_empty() && words.clone().all(is_of_plain_files) =>
        {
            let message = format!("`{text}` matches files, and `dirs` takes folders alone");
            Some((message, format!("write `matching files {text}`")))
        }
        (ItemList::Here(_), ItemKind::Paths(PathKind::Files))
            if words.clone().any(|word| word.ends_with('/')) && words.clone().any(|word| word.contains('*')) =>
        {
            let folder = words.clone().find(|word| word.ends_with('/'))?;
            let message = format!("`{folder}` is a folder, and `files` takes no folders");
            let pattern = words.find(|word| word.contains('*'))?;
            Some((message, format!("write `{folder}{pattern}` for the files in it")))
        }
        (_, ItemKind::Paths(_)) => {
            let pattern = words.find(|word| word.contains("\\.") || word.contains(".*\\") || word.starts_with('^'))?;
            let message = format!("`{pattern}` is not a regular expression here, but a pattern of names");
            Some((message, "write `*` for any letters, as in `*.csv`".to_owned()))
        }
        (ItemList::Here(_), ItemKind::Rows) if queue.names.len() == 1 && text.contains(',') => {
            let message =
                format!("`from` takes a row on each line, so this is one job, with `{}` = `{text}`", queue.names[0]);
            Some((message, format!("write `queue {} in ({text})`", queue.names[0])))
        }
        (ItemList::Here(_), ItemKind::Rows) if is_list_file(text) => {
            let message = format!("`{text}` in parentheses is one item");
            Some((message, format!("write `from {text}` for the lines of the file")))
        }
        _ => None,
    }
}

/// Tests whether items are written `a; b; c`: with a `;` after each but the last.
fn are_ended_by_semicolons(text: &str) -> bool {
    let words: Vec<&str> = text.split([',', ' ', '\t']).filter(|word| !word.is_empty()).collect();
    let Some((_, front)) = words.split_last() else { return false };
    !front.is_empty() && front.iter().all(|word| word.len() > 1 && word.ends_with(';'))
}

/// The patterns, and the kind of paths after them: `*.dat files`.
fn kind_at_end(text: &str) -> Option<(&str, &str)> {
    let (patterns, kind) = text.rsplit_once([' ', '\t'])?;
    let is_kind = ["files", "dirs", "any"].contains(&kind);
    (is_kind && patterns.contains(['*', '?'])).then(|| (patterns.trim_end(), kind))
}

/// A word of a sentence among patterns: `*.txt and *.csv`, `files in *.dat`.
fn joining_word(text: &str) -> Option<&str> {
    const WORDS: [&str; 5] = ["and", "or", "in", "from", "matching"];
    let mut words = text.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let word = words.clone().find(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))?;
    // A folder may be called `in`, but is not the first of several.
    let is_name = word == "in" && !text.starts_with("in ");
    words.any(|word| word.contains(['*', '?'])).then_some(word).filter(|_| !is_name)
}

/// The first word of a command line in the place of a file: `cat list.txt`, `./items.sh 3`.
fn command_of(file: &str) -> Option<&str> {
    const COMMANDS: [&str; 16] = [
        "awk", "bash", "cat", "echo", "find", "grep", "head", "ls", "perl", "printf", "python", "python3", "sed", "sh",
        "sort", "tail",
    ];
    let (first, _) = file.split_once(' ')?;
    (COMMANDS.contains(&first) || first.starts_with("./")).then_some(first)
}

/// The fault of the arguments of `queue`.
pub(super) fn queue_fault(arguments: &str) -> Option<(String, &'static str)> {
    let help = "write `queue N`, `queue N name in (items)`, `queue name from file` or `queue name matching pattern`";
    if arguments.starts_with('=') {
        return Some(("`queue` is a command, not a macro".into(), help));
    }
    let queue = match QueueStatement::parse(arguments) {
        Ok(queue) => queue,
        Err(fault) => return Some((fault.message(), help)),
    };
    if matches!(queue.list, ItemList::File("")) {
        return Some(("`queue … from` has no items".into(), help));
    }
    if let ItemList::File(file) = queue.list
        && file.starts_with('|')
    {
        let message = format!("`{file}` is not a command: the `|` is at its end");
        return Some((message, "write `queue name from command |`"));
    }
    let is_open = queue.count.contains('$') || queue.list == ItemList::None && arguments.contains('$');
    (!is_open && queue.jobs().is_none()).then(|| (format!("`{}` is not a number of jobs", queue.count), help))
}
