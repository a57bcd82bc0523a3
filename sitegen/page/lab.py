"""Labs: a function of a few controls that returns an element tree, in the build and in the reader's browser.

    @lab(title="…", controls=dict(scale=Slider(1, 20, step=0.5, start=1, label="…"), layer_norm=Toggle(label="…")))
    def attention_lab(scale, layer_norm):
        return element("div", {}, …)

The build renders the start state into the page; `browser/labs.js` answers a touch from a table that the build made
(sitegen/instant.py) or sends the state of the native inputs to the worker, and patches in what comes back.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sitegen.page.controls import Choice, Control, Drag, LabError, Matrix, Number, Slider, Text, Toggle, Tokens
from sitegen.page.elements import Tree, check_tree

__all__ = ["Choice", "Control", "Drag", "Lab", "LabError", "Matrix", "Number", "Slider", "Text", "Toggle", "Tokens", "lab"]


class Lab:
    """A marked function with its controls."""

    def __init__(self, function: Callable[..., Tree], title: str, controls: Mapping[str, Control]):
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.function, self.title, self.controls = function, title, dict(controls)
        self.name = function.__name__
        for name, control in self.controls.items():
            if not isinstance(control, Control):
                raise LabError(f"lab {self.name}: {name} is {control!r:.60}, not a control such as Slider(1, 20)")
        parameters = list(inspect.signature(function).parameters)
        if parameters != list(self.controls):
            raise LabError(
                f"lab {self.name}: its parameters are ({', '.join(parameters)}), its controls ({', '.join(controls)});"
                " give every parameter a control of the same name, in the same order"
            )

    @property
    def start(self) -> dict[str, Any]:
        return {name: control.initial for name, control in self.controls.items()}

    @property
    def line(self) -> int:
        """Where the function stands in its lesson."""
        return self.function.__code__.co_firstlineno

    def tree(self, state: Mapping[str, Any]) -> Tree:
        """The element tree of a state. Unknown names and values off the controls are LabErrors."""
        if set(state) != set(self.controls):
            raise LabError(f"lab {self.name} takes {', '.join(self.controls)}, got {', '.join(state) or 'nothing'}")
        tree = self.function(**{name: control.read(state[name]) for name, control in self.controls.items()})
        check_tree(tree, f"lab {self.name}")
        return tree


def lab(*, title: str, controls: Mapping[str, Control]) -> Callable[[Callable[..., Tree]], Lab]:
    """Mark a lesson's function as a lab."""
    return lambda function: Lab(function, title, controls)
