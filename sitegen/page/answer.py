"""What the worker in the reader's browser answers: JSON text in, JSON text out.

Requests: {"do": "lab", "lesson", "lab", "state"} gives {"tree"}; {"do": "evaluate", "lesson", "expressions"} gives
{"numbers": [{"text", "value"}, …]}; {"do": "change", "lesson", "changes": [{"name", "index", "text"}], "expressions"}
gives the same after the changes, {"error"} in place of a number that cannot be shown then, or {"refused": code} with the
place of a change that is no number. An exception goes back to the page as its type and message.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sitegen.page import change
from sitegen.page import lesson as lessons
from sitegen.page.display import Display, Shown
from sitegen.page.evaluate import ExpressionError, evaluate

# Written into the pack by the build: which package holds the lessons, and the words of the site's language.
SETTINGS = Path(__file__).with_name("settings.json")


@functools.cache
def _settings() -> dict[str, Any]:
    return json.loads(SETTINGS.read_text(encoding="utf-8"))


@functools.cache
def _lesson(name: str) -> lessons.Lesson:
    return lessons.load(_settings()["lessons"], name)


def _evaluate(lesson: lessons.Lesson, expression: str, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    names = {**(lesson.names if names is None else names), **Display(_settings()["words"]).functions()}
    shown = evaluate(expression, names, lesson.path.name)
    if not isinstance(shown, Shown):
        raise ExpressionError(f"{expression} is not one number")
    return {"text": shown.text, "value": repr(shown.value)}


def _change(lesson: lessons.Lesson, changes: list[dict[str, Any]], expressions: list[str]) -> dict[str, Any]:
    read = []
    for place, wanted in enumerate(changes):
        try:
            now = change.value_of(lesson, wanted["name"], wanted["index"])
            value = change.read_number(wanted["text"], like=now)
        except change.ChangeError as error:
            return {"refused": error.code, "place": place}
        read.append(change.Change(wanted["name"], wanted["index"], value))
    names = change.computed(lesson, expressions, read)
    numbers = []
    for expression in expressions:
        try:
            numbers.append(_evaluate(lesson, expression, names))
        except ExpressionError as error:  # a NaN, an index that is not there any more
            numbers.append({"error": str(error)})
    return {"numbers": numbers}


def answer(text: str) -> str:
    """One request, answered."""
    request = json.loads(text)
    lesson = _lesson(request["lesson"])
    if request["do"] == "lab":
        result: dict[str, Any] = {"tree": lesson.labs[request["lab"]].tree(request["state"])}
    elif request["do"] == "evaluate":
        result = {"numbers": [_evaluate(lesson, expression) for expression in request["expressions"]]}
    elif request["do"] == "change":
        result = _change(lesson, request["changes"], request["expressions"])
    else:
        raise ValueError(f"unknown request {request['do']!r}")
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
