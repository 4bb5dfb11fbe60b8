//! A table that other programs read, as CSV or as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::quoted;

/// The values of a column, one for each row.
#[derive(Debug, Clone, PartialEq)]
enum ColumnValues {
    Texts(Vec<String>),
    Counts(Vec<u64>),
    /// Numbers; NaN is unknown.
    Numbers(Vec<f64>),
}

/// A table of results: columns of equal length, each with its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultTable(Vec<(String, ColumnValues)>);

impl ResultTable {
    pub(super) fn texts<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) {
        self.0.push((name.to_owned(), ColumnValues::Texts(values.map(str::to_owned).collect())));
    }

    pub(super) fn counts(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.0.push((name.to_owned(), ColumnValues::Counts(values.collect())));
    }

    pub(super) fn numbers(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.0.push((name.to_owned(), ColumnValues::Numbers(values.collect())));
    }

    fn len(&self) -> usize {
        self.0.first().map_or(0, |(_, values)| match values {
            ColumnValues::Texts(values) => values.len(),
            ColumnValues::Counts(values) => values.len(),
            ColumnValues::Numbers(values) => values.len(),
        })
    }

    /// Writes a heading and a line for each row. What is unknown is empty.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in 0..self.len() {
            let field = |(_, values): &(_, ColumnValues)| match values {
                ColumnValues::Texts(values) => quoted(&values[row]),
                ColumnValues::Counts(values) => values[row].to_string(),
                ColumnValues::Numbers(values) if values[row].is_nan() => String::new(),
                ColumnValues::Numbers(values) => values[row].to_string(),
            };
            writeln!(out, "{}", self.0.iter().map(field).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    /// Writes a Parquet file of one row group, without compression. What is unknown is null.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_parquet(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        self.parquet(out).map_err(io::Error::other)
    }

    fn parquet(&self, out: &mut (impl Write + Send)) -> Result<(), ParquetError> {
        let field = |(name, values): &(String, ColumnValues)| {
            let (kind, logical, repetition) = match values {
                ColumnValues::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
                ColumnValues::Counts(_) => {
                    let unsigned = LogicalType::integer(64, false);
                    (PhysicalType::INT64, Some(unsigned), Repetition::REQUIRED)
                }
                ColumnValues::Numbers(_) => (PhysicalType::DOUBLE, None, Repetition::OPTIONAL),
            };
            let built = Type::primitive_type_builder(name, kind);
            Ok(Arc::new(built.with_logical_type(logical).with_repetition(repetition).build()?))
        };
        let fields = self.0.iter().map(field).collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(WriterProperties::default()))?;
        let mut rows = writer.next_row_group()?;
        for (_, values) in &self.0 {
            let Some(mut column) = rows.next_column()? else { break };
            match values {
                ColumnValues::Texts(values) => {
                    let values: Vec<ByteArray> = values.iter().map(|value| value.as_str().into()).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
                }
                ColumnValues::Counts(values) => {
                    // Parquet keeps the bits of an unsigned number in a signed one.
                    let values: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
                    column.typed::<Int64Type>().write_batch(&values, None, None)?;
                }
                ColumnValues::Numbers(values) => {
                    let levels: Vec<i16> = values.iter().map(|value| i16::from(!value.is_nan())).collect();
                    let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
                    column.typed::<DoubleType>().write_batch(&known, Some(&levels), None)?;
                }
            }
            column.close()?;
        }
        rows.close()?;
        writer.close()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn table() -> ResultTable {
        let mut table = ResultTable::default();
        table.texts("name", ["a", "b, \"c\""].into_iter());
        table.counts("seed", [7, u64::MAX].into_iter());
        table.numbers("mean", [f64::NAN, 0.5].into_iter());
        table
    }

    #[test]
    fn fields_of_lines_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        table().write_csv(&mut out).unwrap();
        let expected = "name,seed,mean\na,7,\n\"b, \"\"c\"\"\",18446744073709551615,0.5\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_parquet_file_has_the_types_and_values_of_the_table() {
        let mut out = tempfile::tempfile().unwrap();
        table().write_parquet(&mut out).unwrap();
        let file = SerializedFileReader::new(out).unwrap();
        let rows: Vec<Vec<(String, Field)>> = file
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect())
            .collect();
        let row = |name: &str, seed, mean| {
            vec![
                ("name".to_owned(), Field::Str(name.to_owned())),
                ("seed".to_owned(), Field::ULong(seed)),
                ("mean".to_owned(), mean),
            ]
        };
        assert_eq!(rows, [row("a", 7, Field::Null), row("b, \"c\"", u64::MAX, Field::Double(0.5))]);
        let mut none = Vec::new();
        ResultTable::default().write_parquet(&mut none).unwrap();
        assert!(none.starts_with(b"PAR1"));
    }
}
