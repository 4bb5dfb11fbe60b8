"""Libraries that take tables through the Arrow C stream interface."""


def check_taken(library, module, result):
    """Checks that a library takes a table with all its values."""
    if library == "pyarrow":
        taken = module.table(result)
        taken.validate(full=True)
        assert taken.to_pylist() == result.to_pylist()
    elif library == "polars":
        assert module.DataFrame(result).to_dicts() == result.to_pylist()
    elif len(result):
        assert module.sql("select count(*) from result").fetchall() == [(len(result),)]
