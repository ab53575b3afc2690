"""Examples in docstrings do what they say; so do the stubs, and the chapter of the book."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert

ROOT = Path(__file__).parents[2]
MODULES = ["dalembert"] + [
    f"dalembert.{module.name}"
    for module in pkgutil.iter_modules(dalembert.__path__)
    if module.name != "_dalembert"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    names = {**vars(module), "dalembert": dalembert, "np": np}
    failed, _ = doctest.testmod(module, globs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    count = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert count >= 40, count


def test_stubs_are_true(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "dalembert._dalembert"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_hold(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "python/dalembert"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def chapters() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "book").glob("*.md"))]


def test_blocks_of_the_book_run() -> None:
    """The blocks of a chapter are one session, in their order."""
    count = 0
    for chapter in chapters():
        blocks = re.findall(r"^```python\n(.*?)^```$", chapter.read_text("utf-8"), re.M | re.S)
        text = "\n".join(blocks)
        count += len(blocks)
        if not blocks:
            continue
        test = doctest.DocTestParser().get_doctest(text, {}, chapter.name, str(chapter), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        assert test.examples, chapter
        assert runner.run(test).failed == 0, chapter
    assert count >= 10, count
