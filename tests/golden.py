"""Frozen results of a reference implementation (PyTorch 2), case by case, and worked examples that others published."""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

DATA = Path(__file__).parent / "data"


@cache
def _cases() -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads((DATA / "golden.json").read_text(encoding="utf-8"))}


def ids() -> list[str]:
    """Every id in golden.json."""
    return list(_cases())


def case(id: str) -> SimpleNamespace:
    """The case: id, inputs, params, expected, as stored, and close(got, name). A `ref` to other inputs is followed."""
    stored = _cases()[id]
    inputs = dict(stored["inputs"])
    if "ref" in inputs:
        inputs = _cases()[inputs.pop("ref")]["inputs"] | inputs
    expected, tolerance = stored["expected"], stored["tolerance"]

    def close(got: Any, name: str, row: Any = ...) -> None:
        np.testing.assert_allclose(got, np.array(expected[name])[row], **tolerance, err_msg=f"{id}: {name}")

    return SimpleNamespace(id=id, inputs=inputs, params=stored["params"], expected=expected, close=close)


def golden(*ids: str) -> pytest.MarkDecorator:
    """Run the test once for each of the cases, given as its argument `case`."""
    return pytest.mark.parametrize("case", [pytest.param(case(id), id=id) for id in ids])


@cache
def published(id: str) -> dict[str, Any]:
    """A worked example of published.yml."""
    return {entry["id"]: entry for entry in yaml.safe_load((DATA / "published.yml").read_text(encoding="utf-8"))}[id]
