"""Answers of a lab computed at build, so that a touch is answered in the same frame and without Python.

Every state that the controls allow is evaluated, up to MOST_STATES and MOST_BYTES; a lab with more gets the states that
differ from its start in one input only. The browser (browser/instant.js) shows a state from here only if it is in here.

Trees of one lab are alike: they are kept as templates whose varying strings are columns over the states, and a column
that does not depend on an input does not repeat for it. The file is gzip around: four bytes, little-endian, the length
of a head; the head, JSON; then the columns' indices, one byte or two each.

    {"axes": [[values of the first native input], …], "start": [place of the start on each axis], "whole": true,
     "templates": [tree, …],          a string in it is constant, a number names a column
     "template": column or null,      which template a state has; null where there is one
     "columns": [{"values": [text, …], "sides": [how often it varies along each axis, 1 or its length], "at": offset}]}

With "whole" false the only axis of a column runs over the start and then over each input's other values, in turn.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sitegen.fingerprint import fingerprint
from sitegen.page.elements import Tree
from sitegen.page.lab import Lab

MOST_STATES = 2_000
MOST_BYTES = 60_000
NOT_FINITE = re.compile(r"(?<![a-z])[−-]?(nan|inf|infinity)(?![a-z])", re.I)
KEPT = 200  # tables in the cache

State = tuple[Any, ...]  # one value for each native input, in their order


class StateError(ValueError):
    """A state that a reader can set and the lab cannot answer; the message names both."""


@dataclass(frozen=True)
class Instant:
    """The table of one lab, as the browser gets it."""

    data: bytes
    states: int
    whole: bool  # every state that the controls allow is in it


def instant(lab: Lab) -> Instant:
    """Evaluate the lab and pack what it answers. Raises StateError for the first state that has no right answer."""
    axes = [values for control in lab.controls.values() for values in control.axes()]
    start = tuple(s for name, control in lab.controls.items() for s in control.scalars(lab.start[name]))
    places = [values.index(value) for values, value in zip(axes, start, strict=True)]
    if int(np.prod([len(values) for values in axes], dtype=object)) <= MOST_STATES:
        states = list(itertools.product(*axes))
        data = packed([tree_of(lab, state) for state in states], tuple(map(len, axes)), axes, places, whole=True)
        if len(data) <= MOST_BYTES:
            return Instant(data, len(states), True)
    known: dict[State, Tree] = {}
    while True:
        states = list(along_axes(axes, start))
        if len(states) <= MOST_STATES:
            known |= {state: tree_of(lab, state) for state in states if state not in known}
            trees = [known[state] for state in states]
            data = packed(trees, (len(states),), axes, places, whole=False)
            if len(data) <= MOST_BYTES or len(states) == 1:
                return Instant(data, len(states), False)
        longest = max(range(len(axes)), key=lambda i: len(axes[i]))
        axes[longest] = [v for i, v in enumerate(axes[longest]) if (i - places[longest]) % 2 == 0]
        places[longest] = axes[longest].index(start[longest])


def along_axes(axes: list[list[Any]], start: State) -> Iterator[State]:
    """The start, then the states that differ from it in one input."""
    yield start
    for i, values in enumerate(axes):
        for value in values:
            if value != start[i]:
                yield (*start[:i], value, *start[i + 1 :])


def state_of(lab: Lab, scalars: State) -> dict[str, Any]:
    """The lab's state from one value for each native input."""
    state, rest = {}, list(scalars)
    for name, control in lab.controls.items():
        count = len(control.axes())
        state[name], rest = control.join(rest[:count]), rest[count:]
    return state


def tree_of(lab: Lab, scalars: State) -> Tree:
    state = state_of(lab, scalars)
    try:
        tree = lab.tree(state)
    except Exception as error:
        raise StateError(f"lab {lab.name} fails at {said(state)}: {type(error).__name__}: {error}") from error
    for text in strings(tree):
        if NOT_FINITE.search(text):
            raise StateError(f"lab {lab.name} shows {text!r} at {said(state)}; show finite numbers, or say why there are none")
    return tree


def said(state: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in state.items()) or "its only state"


def strings(tree: Tree | str) -> Iterator[str]:
    """Attribute values and texts, in the order of the tree."""
    if isinstance(tree, str):
        yield tree
        return
    yield from tree[1].values()
    for child in tree[2:]:
        yield from strings(child)


# ---- packing


def shape(tree: Tree | str) -> Any:
    """The tree without its strings."""
    return "" if isinstance(tree, str) else [tree[0], list(tree[1]), *map(shape, tree[2:])]


def packed(trees: list[Tree], sides: tuple[int, ...], axes: list[list[Any]], places: list[int], whole: bool) -> bytes:
    """The file; `trees` are in the order of a grid with these sides, the last axis fastest."""
    shapes = [json.dumps(shape(tree), ensure_ascii=False) for tree in trees]
    kinds = list(dict.fromkeys(shapes))
    table = Columns(sides)
    everywhere = list(range(len(trees)))
    template = table.add(everywhere, [str(kinds.index(found)) for found in shapes]) if len(kinds) > 1 else None
    templates = []
    for kind in kinds:
        having = [i for i, found in enumerate(shapes) if found == kind]
        rows = [list(strings(trees[i])) for i in having]
        cells = [column[0] if len(set(column)) == 1 else table.add(having, column) for column in zip(*rows, strict=True)]
        templates.append(_filled(trees[having[0]], iter(cells)))
    head = {"axes": axes, "start": places, "whole": whole, "templates": templates, "template": template,
            "columns": table.columns}  # fmt: skip
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    return gzip.compress(b"".join([len(text).to_bytes(4, "little"), text, table.indices]), compresslevel=9, mtime=0)


def _filled(tree: Tree | str, cells: Iterator[Any]) -> Any:
    """The tree with the next cell in place of each string."""
    if isinstance(tree, str):
        return next(cells)
    return [tree[0], {name: next(cells) for name in tree[1]}, *[_filled(child, cells) for child in tree[2:]]]


class Columns:
    """Columns of strings over a grid; equal ones are kept once."""

    def __init__(self, sides: tuple[int, ...]):
        self.sides = sides
        self.columns: list[dict[str, Any]] = []
        self.indices = b""
        self.known: dict[tuple[Any, ...], int] = {}

    def add(self, having: list[int], column: Sequence[str]) -> int:
        """The number of the column whose texts belong to the states `having`; the others do not matter."""
        values = list(dict.fromkeys(column))
        number = {value: i for i, value in enumerate(values)}
        grid = np.full(int(np.prod(self.sides)), -1, np.int64)
        grid[having] = [number[value] for value in column]
        grid = grid.reshape(self.sides)
        for axis in range(grid.ndim):
            most = grid.max(axis, keepdims=True)
            if ((grid == most) | (grid < 0)).all():  # it does not depend on this axis
                grid = most
        kept = np.maximum(grid, 0).astype(np.uint8 if len(values) <= 256 else "<u2")
        key = (tuple(values), kept.shape, kept.tobytes())
        if key not in self.known:
            self.known[key] = len(self.columns)
            self.columns.append({"values": values, "sides": list(kept.shape), "at": len(self.indices)})
            self.indices += kept.tobytes()
        return self.known[key]


# ---- once a build


class Instants:
    """Tables by lab, kept in the cache under a key of all that the lab's code and data reach."""

    def __init__(self, roots: frozenset[str], data: bytes, cache: Path):
        """`roots`: the packages of the site's content; `data`: what identifies their data files."""
        self.roots, self.cache = roots | {"sitegen"}, cache / "instant"
        self.data = data + Path(__file__).read_bytes() + np.__version__.encode()

    def of(self, lab: Lab) -> Instant:
        """The table of a lab; StateError for a lab that fails somewhere."""
        code = fingerprint(lab.__module__, lab.name, self.roots)
        key = hashlib.sha256(f"{lab.title}\0{lab.controls!r}\0{code}".encode() + self.data).hexdigest()[:24]
        for kept in self.cache.glob(f"{key}-*"):
            _, states, whole = kept.name.split("-")
            data = kept.read_bytes()
            if data[:2] == b"\x1f\x8b" and len(data) > 20:
                return Instant(data, int(states), whole == "whole")
        made = instant(lab)
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.cache, delete=False) as file:
            file.write(made.data)
        os.replace(file.name, self.cache / f"{key}-{made.states}-{'whole' if made.whole else 'axes'}")
        for old in sorted(self.cache.iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
        return made


def data_of(folders: list[Path]) -> bytes:
    """What identifies the data files below the content's folders."""
    files = [p for folder in folders for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix not in {".py", ".pyc"}]
    return hashlib.sha256(b"".join(hashlib.sha256(p.read_bytes()).digest() for p in files)).digest()
