"""The notebooks of the documentation give the outputs that are stored in them.

Their cells are run here as Jupyter runs them, without Jupyter: in one namespace, in the directory of the notebook. `UPDATE=1` stores
the outputs.
"""

import ast
import contextlib
import io
import json
import os
import pathlib

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
# Frames and pages are large, and the former depend on the version of pandas.
LONGEST_HTML = 20_000


def lines(text):
    return text.splitlines(keepends=True)


def outputs(source, number, namespace):
    """Runs a cell; returns its outputs as a notebook stores them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if last:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    found = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        is_ours = type(value).__module__.startswith("classmate")
        if is_ours and hasattr(value, "_repr_html_") and len(value._repr_html_()) < LONGEST_HTML:
            data["text/html"] = lines(value._repr_html_())
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path, monkeypatch):
    notebook = json.loads(path.read_text())
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    if any("import pandas" in source for source in sources):
        pytest.importorskip("pandas")
    monkeypatch.chdir(path.parent)
    namespace, number = {"__name__": "__main__"}, 0
    for cell, source in zip(notebook["cells"], sources):
        if cell["cell_type"] != "code":
            continue
        number += 1
        found = outputs(source, number, namespace)
        if os.environ.get("UPDATE"):
            cell["outputs"], cell["execution_count"] = found, number
        assert cell["outputs"] == found, source
    if os.environ.get("UPDATE"):
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["idle-job", "policies", "quota"]
