//! Plots as inline SVG: lines and bars over axes with names and units, and a legend that wraps below.
//!
//! All is drawn in one size and scaled by the page; colours are the page's, so that they follow light and dark.

use std::fmt::Write;

use super::page::escaped;

/// Size of the drawing, and its margins: left, right, top, bottom.
const SIZE: (f64, f64) = (420.0, 260.0);
const MARGIN: (f64, f64, f64, f64) = (68.0, 12.0, 10.0, 44.0);

/// Colours there are; the last one is grey.
pub const COLORS: usize = 7;

/// An axis from 0: what it shows, in which unit, up to where, and where it is marked.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its quantity, and the unit.
    pub label: String,
    /// The highest value, above 0.
    pub max: f64,
    /// Marked values with their texts.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis from 0 to a round number not below `max`, marked at four to six round numbers.
    ///
    /// ```
    /// use classmate_cli::report::plot::Axis;
    /// let axis = Axis::up_to("jobs", 37.0);
    /// assert_eq!(axis.max, 40.0);
    /// assert_eq!(axis.ticks.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["0", "10", "20", "30", "40"]);
    /// ```
    pub fn up_to(label: impl Into<String>, max: f64) -> Self {
        let max = believed(max);
        let step = step(max);
        let count = (max / step - 1e-9).ceil().max(1.0);
        Self::marked(label, count * step, step)
    }

    /// An axis that ends with its last value, marked at round numbers.
    pub fn ending(label: impl Into<String>, max: f64) -> Self {
        let max = believed(max);
        Self::marked(label, max, step(max))
    }

    /// An axis in percent, of fractions 0 to 1.
    pub fn percent(label: impl Into<String>, max: f64) -> Self {
        let axis = Self::up_to(label, (max * 100.0).min(100.0));
        let ticks = axis.ticks.into_iter().map(|(at, text)| (at / 100.0, text)).collect();
        Self { max: axis.max / 100.0, ticks, ..axis }
    }

    fn marked(label: impl Into<String>, max: f64, step: f64) -> Self {
        let count = (max / step + 1e-9).floor() as usize;
        let last = count as f64 * step;
        let ticks = (0..=count).map(|at| at as f64 * step).map(|at| (at, short(at, last))).collect();
        Self { label: label.into(), max, ticks }
    }

    /// Position of a value, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value / self.max).clamp(0.0, 1.0)
    }
}

/// The end of an axis; 1 if it would have none.
fn believed(max: f64) -> f64 {
    if max > 0.0 && max.is_finite() { max } else { 1.0 }
}

/// A round number of which four to six fit.
fn step(max: f64) -> f64 {
    let power = 10_f64.powf((max / 5.0).log10().floor());
    let rounds = [1.0, 2.0, 2.5, 5.0, 10.0].map(|round| round * power);
    rounds.into_iter().find(|step| max / step <= 5.0 + 1e-9).unwrap_or(10.0 * power)
}

/// A number in few characters, `12.5k`, in the unit of the last one on its axis.
fn short(number: f64, last: f64) -> String {
    let (divisor, unit) = match last {
        n if n >= 1e9 => (1e9, "G"),
        n if n >= 1e6 => (1e6, "M"),
        n if n >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let text = format!("{:.4}", number / divisor);
    let unit = if number == 0.0 { "" } else { unit };
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Style of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// A measured value.
    Solid,
    /// A target value.
    Dashed,
}

/// A line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name in the legend, which has no line without one.
    pub name: String,
    /// Its colour, from 0.
    pub color: usize,
    /// Style of the line.
    pub stroke: Stroke,
    /// Its points from left to right; none: the line is broken there.
    pub points: Vec<Option<(f64, f64)>>,
    /// The values aimed at, at the same places; empty if there are none. They are a dashed line, and the band between the
    /// two lines is shaded.
    pub target: Vec<Option<(f64, f64)>>,
}

/// Bars of one kind: one in each place of the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Their name in the legend.
    pub name: String,
    /// Their colour, from 0.
    pub color: usize,
    /// Their heights.
    pub heights: Vec<f64>,
    /// Half the lengths of the error bars at their tops; none: no error bars.
    pub errors: Vec<f64>,
}

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub enum Marks {
    /// Lines over numbers.
    Lines(Axis, Vec<Line>),
    /// Bars over names: what the axis shows, and the names of its places.
    Bars(String, Vec<String>, Vec<Bars>),
}

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// A sentence about its message, or nothing.
    pub note: String,
    /// The upward axis.
    pub y: Axis,
    /// Its content.
    pub marks: Marks,
}

impl Plot {
    /// The plot as a figure.
    pub fn figure(&self) -> String {
        let mut text = String::new();
        let title = escaped(&self.title);
        let _ = writeln!(text, "<figure>\n<figcaption>{title}</figcaption>");
        if !self.note.is_empty() {
            let _ = writeln!(text, "<p>{}</p>", escaped(&self.note));
        }
        let (width, height) = SIZE;
        let _ = writeln!(text, "<svg viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>");
        self.upward(&mut text);
        let legend = match &self.marks {
            Marks::Lines(x, lines) => self.lines(&mut text, x, lines),
            Marks::Bars(label, names, bars) => self.bars(&mut text, label, names, bars),
        };
        text.push_str("</svg>\n");
        let named: Vec<_> = legend.into_iter().filter(|(name, _)| !name.is_empty()).collect();
        if named.is_empty() {
            text.push_str("</figure>\n");
            return text;
        }
        text.push_str("<ul class=\"legend\">\n");
        for (name, key) in named {
            let _ = writeln!(
                text,
                "<li><svg viewBox=\"0 0 32 16\" aria-hidden=\"true\">{key}</svg>{}</li>",
                escaped(&name)
            );
        }
        text.push_str("</ul>\n</figure>\n");
        text
    }

    /// The upward axis, with a grid.
    fn upward(&self, text: &mut String) {
        let (left, right) = (MARGIN.0, SIZE.0 - MARGIN.1);
        for (at, mark) in &self.y.ticks {
            let y = self.up(*at);
            let _ = writeln!(
                text,
                "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                escaped(mark)
            );
        }
        let middle = f64::midpoint(MARGIN.2, SIZE.1 - MARGIN.3);
        let _ = writeln!(
            text,
            "<text class=\"y\" transform=\"translate(12 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(&self.y.label)
        );
    }

    /// Position of a value on the upward axis.
    fn up(&self, value: f64) -> f64 {
        let (top, bottom) = (MARGIN.2, SIZE.1 - MARGIN.3);
        bottom - self.y.place(value) * (bottom - top)
    }

    /// The line below, and what the axis shows.
    fn below(text: &mut String, label: &str) {
        let (left, right, bottom) = (MARGIN.0, SIZE.0 - MARGIN.1, SIZE.1 - MARGIN.3);
        let _ = write!(
            text,
            "<path class=\"axis\" d=\"M{left} {bottom}H{right}\"/>\n<text class=\"x\" x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>\n",
            f64::midpoint(left, right),
            SIZE.1 - 6.0,
            escaped(label)
        );
    }

    fn lines(&self, text: &mut String, x: &Axis, lines: &[Line]) -> Vec<(String, String)> {
        let (left, right, bottom) = (MARGIN.0, SIZE.0 - MARGIN.1, SIZE.1 - MARGIN.3);
        let across = |value: f64| left + x.place(value) * (right - left);
        Self::below(text, &x.label);
        for (at, mark) in &x.ticks {
            let at = across(*at);
            let _ = writeln!(
                text,
                "<path class=\"axis\" d=\"M{at:.1} {bottom}v4\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{}</text>",
                bottom + 17.0,
                escaped(mark)
            );
        }
        let place = |(at, value): (f64, f64)| (across(at), self.up(value));
        for line in lines {
            let band = band(&line.points, &line.target, place);
            if !band.is_empty() {
                let color = line.color.min(COLORS - 1);
                let _ = writeln!(text, "<path class=\"band\" d=\"{band}\" style=\"fill: var(--c{color})\"/>");
            }
        }
        for line in lines {
            let drawn = [(&line.points, line.stroke), (&line.target, Stroke::Dashed)];
            for (points, stroke) in drawn.into_iter().filter(|(points, _)| !points.is_empty()) {
                let _ = writeln!(text, "<path d=\"{}\" {}/>", path(points, place), style(line.color, stroke));
            }
        }
        let key =
            |line: &Line| (line.name.clone(), format!("<path d=\"M0 10H32\" {}/>", style(line.color, line.stroke)));
        lines.iter().map(key).collect()
    }

    fn bars(&self, text: &mut String, label: &str, names: &[String], bars: &[Bars]) -> Vec<(String, String)> {
        let (left, right, bottom) = (MARGIN.0, SIZE.0 - MARGIN.1, SIZE.1 - MARGIN.3);
        let room = (right - left) / names.len().max(1) as f64;
        let width = room * 0.8 / bars.len().max(1) as f64;
        Self::below(text, label);
        for (place, name) in names.iter().enumerate() {
            let middle = left + (place as f64 + 0.5) * room;
            let _ = writeln!(
                text,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 17.0,
                escaped(name)
            );
            for (at, kind) in bars.iter().enumerate() {
                let height = kind.heights.get(place).copied().unwrap_or(0.0);
                let top = self.up(height);
                let _ = writeln!(
                    text,
                    "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
                     style=\"fill: var(--c{})\"/>",
                    middle - room * 0.4 + at as f64 * width,
                    bottom - top,
                    kind.color.min(COLORS - 1)
                );
                if let Some(error) = kind.errors.get(place).filter(|error| **error > 0.0) {
                    let _ = writeln!(
                        text,
                        "<path class=\"error\" d=\"M{:.1} {:.1}V{:.1}\"/>",
                        middle - room * 0.4 + (at as f64 + 0.5) * width,
                        self.up(height - error),
                        self.up(height + error)
                    );
                }
            }
        }
        let key = |bars: &Bars| {
            let color = bars.color.min(COLORS - 1);
            let swatch = format!("<rect x=\"8\" y=\"2\" width=\"16\" height=\"12\" style=\"fill: var(--c{color})\"/>");
            (bars.name.clone(), swatch)
        };
        bars.iter().map(key).collect()
    }
}

/// The path through the points.
fn path(points: &[Option<(f64, f64)>], place: impl Fn((f64, f64)) -> (f64, f64)) -> String {
    let mut path = String::new();
    let mut broken = true;
    for (at, point) in points.iter().enumerate() {
        if let Some((x, y)) = point.map(&place) {
            let letter = if broken { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{x:.1} {y:.1}");
            // A point by itself is a dot.
            if broken && points.get(at + 1).is_none_or(Option::is_none) {
                path.push_str("h0.1");
            }
        }
        broken = point.is_none();
    }
    path
}

/// The area between two lines, where both have points next to each other.
fn band(
    points: &[Option<(f64, f64)>],
    target: &[Option<(f64, f64)>],
    place: impl Fn((f64, f64)) -> (f64, f64),
) -> String {
    let pairs: Vec<_> = points.iter().zip(target).map(|(point, target)| Some(((*point)?, (*target)?))).collect();
    let mut area = String::new();
    for run in pairs.split(Option::is_none).filter(|run| run.len() > 1) {
        let there = run.iter().flatten().map(|(point, _)| *point);
        let back = run.iter().flatten().rev().map(|(_, target)| *target);
        for (at, (x, y)) in there.chain(back).map(&place).enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            let _ = write!(area, "{letter}{x:.1} {y:.1}");
        }
        area.push('Z');
    }
    area
}

fn style(color: usize, stroke: Stroke) -> String {
    let color = color.min(COLORS - 1);
    let dashes = if stroke == Stroke::Dashed { "; stroke-dasharray: 5 4; stroke-width: 1.3" } else { "" };
    format!("fill=\"none\" style=\"stroke: var(--c{color}); stroke-width: 1.8{dashes}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers_and_have_few_marks() {
        for max in [0.0, 0.003, 0.7, 1.0, 5.0, 9.99, 123.0, 4567.0, 2.5e7, f64::NAN, f64::INFINITY] {
            let axis = Axis::up_to("x", max);
            assert!((2..=7).contains(&axis.ticks.len()), "{max}: {:?}", axis.ticks);
            assert!(axis.max.is_finite() && (axis.max >= max || !max.is_finite()), "{max}");
        }
        assert_eq!(Axis::percent("x", 0.31).max, 0.4);
        assert_eq!(Axis::percent("x", 1.0).ticks.last(), Some(&(1.0, "100".to_owned())));
        assert_eq!(Axis::ending("x", 11.3).max, 11.3);
    }

    #[test]
    fn a_band_is_between_two_lines_where_both_are() {
        let points = |values: [Option<f64>; 6]| -> Vec<Option<(f64, f64)>> {
            values.into_iter().enumerate().map(|(at, value)| Some((at as f64, value?))).collect()
        };
        let line = points([Some(1.0), Some(2.0), Some(3.0), None, Some(4.0), Some(5.0)]);
        let target = points([None, Some(8.0), Some(9.0), Some(7.0), Some(6.0), None]);
        // Both have values at 1 and 2; at 4 there is no place beside it.
        let place = |(x, y)| (10.0 * x, y);
        assert_eq!(band(&line, &target, place), "M10.0 2.0L20.0 3.0L20.0 9.0L10.0 8.0Z");
        assert_eq!(band(&line, &[], place), "");
        assert_eq!(path(&target, place), "M10.0 8.0L20.0 9.0L30.0 7.0L40.0 6.0");
        let alone = points([Some(1.0), None, None, None, None, Some(2.0)]);
        assert_eq!(path(&alone, place), "M0.0 1.0h0.1M50.0 2.0h0.1");
    }

    #[test]
    fn numbers_are_short() {
        let found = [0.0, 0.25, 9500.0, 12_500.0, 3e6, 2e9].map(|number| short(number, number));
        assert_eq!(found, ["0", "0.25", "9500", "12.5k", "3M", "2G"]);
        // One unit on an axis, and room for every mark beside the axis's name, a character being at most 7.5 wide.
        let marks = |max: f64| Axis::up_to("x", max).ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(marks(13_000.0), ["0", "5k", "10k", "15k"]);
        assert_eq!(marks(9000.0), ["0", "2k", "4k", "6k", "8k", "10k"]);
        assert_eq!(marks(7000.0), ["0", "2000", "4000", "6000", "8000"]);
        for max in [0.003, 0.01, 0.7, 9.99, 4567.0, 9999.0, 12_345.0, 45_678.0, 987_654.0, 1.2e7] {
            for mark in marks(max) {
                assert!(MARGIN.0 - 6.0 - 7.5 * mark.len() as f64 >= 16.0, "{max}: {mark}");
            }
        }
    }

    #[test]
    fn a_line_is_broken_where_there_is_no_point() {
        let points = vec![Some((0.0, 0.0)), Some((1.0, 1.0)), None, Some((2.0, 0.0))];
        let line = Line { name: "<a>".to_owned(), color: 99, stroke: Stroke::Dashed, points, target: Vec::new() };
        let marks = Marks::Lines(Axis::ending("days", 2.0), vec![line]);
        let plot = Plot { title: "t".to_owned(), note: "n".to_owned(), y: Axis::percent("share (%)", 1.0), marks };
        let text = plot.figure();
        // 68 to 408 across, 216 to 10 up.
        assert!(text.contains("d=\"M68.0 216.0L238.0 10.0M408.0 216.0h0.1\""), "{text}");
        assert!(text.contains("var(--c6)") && text.contains("&lt;a&gt;"));
    }
}
