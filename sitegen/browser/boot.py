"""What the worker talks to: runs the site's entry function, and knows which modules are not here (yet).

Answers are one string, so that no Python object crosses into JavaScript: `=` and the entry's text, `!` and an error
as JSON, or `+` and the names of packs to fetch first, as JSON; then the worker fetches them and asks again.
"""

import gc
import importlib
import json
import sys
import traceback
from collections.abc import Callable


class Elsewhere:
    """Asked last for a module: speaks for those that are in another pack, or in none."""

    def __init__(self, later, absent):
        self.later, self.absent, self.wanted = dict(later), tuple(absent), []

    def find_spec(self, name, path=None, target=None):  # None, as finders answer that know nothing of `name`
        if name in self.later:
            self.wanted.append(self.later[name])
            raise ModuleNotFoundError(f"{name} is a second download and has not been fetched yet", name=name)
        if name in self.absent:
            raise ModuleNotFoundError(f"{name} is not part of this site's Python", name=name)


_elsewhere = Elsewhere({}, ())
_entry: Callable[[str], str]


def prepare(settings: str) -> None:
    """Learn which modules are elsewhere: `{"later": {module: pack}, "absent": [module]}`."""
    global _elsewhere
    _elsewhere = Elsewhere(**json.loads(settings))
    sys.meta_path.append(_elsewhere)


def load(entry: str) -> str:
    """Import NumPy and the entry, "module:function"; the answer's text is empty."""

    def imported() -> str:
        global _entry
        module, _, function = entry.partition(":")
        gc.disable()  # imports make much and drop little
        importlib.import_module("numpy")
        _entry = getattr(importlib.import_module(module), function)
        gc.enable()
        gc.freeze()  # what is imported stays; later collections need not look at it
        return ""

    return _guarded(imported)


def run(text: str) -> str:
    """The entry's answer to `text`."""
    return _guarded(lambda: _entry(text))


def arrived(pack: str) -> None:
    """A pack's files have been written."""
    _elsewhere.later = {module: name for module, name in _elsewhere.later.items() if name != pack}
    for finder in sys.path_importer_cache.values():  # importlib.invalidate_caches would import half of email
        if finder is not None and hasattr(finder, "invalidate_caches"):
            finder.invalidate_caches()


def _guarded(call) -> str:
    _elsewhere.wanted.clear()
    try:
        answer = "=" + call()
    except BaseException as error:  # noqa: BLE001 - a lab may do anything, `sys.exit()` included
        answer = "!" + json.dumps(_described(error))
    if _elsewhere.wanted:  # also when the entry caught the error: its answer is about a missing module
        return "+" + json.dumps(sorted(set(_elsewhere.wanted)))
    return answer


def _described(error: BaseException) -> dict[str, str]:
    frames = error.__traceback__
    while frames and frames.tb_frame.f_globals.get("__name__") == __name__:
        frames = frames.tb_next  # the reader's error does not start in here
    lines = traceback.format_exception(type(error), error, frames)
    return {"type": type(error).__name__, "message": str(error), "traceback": "".join(lines)}
