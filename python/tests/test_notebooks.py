"""Tutorial notebooks run from top to bottom, and say what is written in them."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def said(cell: object) -> str:
    """The text of a cell's outputs. Residuals are rounding, which differs between processors."""
    texts = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
        if output.output_type != "stream" or output.name == "stdout"
    ]
    text = re.sub(r"-?\d\.\d+e[+-]\d+", "#", "\n".join(texts))
    return " ".join(re.sub(r"-(0\.0*)(?!\d)", r"\1", text).split())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    written = [said(cell) for cell in book.cells if cell.cell_type == "code"]
    assert any(written), "its outputs are in it"
    client = nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    found = [said(cell) for cell in book.cells if cell.cell_type == "code"]
    assert found == written


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"first-steps", "studies", "sympy"}
