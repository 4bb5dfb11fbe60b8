//! Generates the parser tables from the grammar.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    lalrpop::Configuration::new().use_cargo_dir_conventions().set_in_dir("grammar").process()
}
