r"""Formulas: TeX in the page's source, MathML in the page. No script, no CDN, and every error has file and line.

Formulas are symbolic. A digit in one is an error unless it is 0, 1, 2, an index, or a constant that the notation page
lists: worked lines are `vec(…)` and `mat(…)` in HTML, so that no number escapes the code that computes it.

In a display formula, a line that starts with `%` is the sentence a screen reader says instead.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from html import escape

from math_core import LatexError, LatexToMathML

ALWAYS_ALLOWED = frozenset({"0", "1", "2"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Words inside a formula are lint's business elsewhere; an index names which one, it is no quantity.
_NO_QUANTITY = re.compile(r"\\(?:text|mathrm|operatorname|textbf|mathbf)\{[^{}]*\}|_\{[^{}]*\}|_[0-9A-Za-z]")


class FormulaError(ValueError):
    """A formula that cannot be set; the message says why."""


@dataclass(frozen=True)
class Formula:
    tex: str
    display: bool = False

    @functools.cached_property
    def lines(self) -> tuple[str, str]:
        """(TeX proper, spoken sentence)"""
        spoken = [line.strip()[1:].strip() for line in self.tex.splitlines() if line.strip().startswith("%")]
        proper = [line for line in self.tex.splitlines() if not line.strip().startswith("%")]
        return "\n".join(proper).strip(), " ".join(spoken)

    def mathml(self) -> str:
        """The formula as MathML, or FormulaError."""
        tex, spoken = self.lines
        if re.search(r"(?<!\\)%", tex):
            raise FormulaError(r"an unescaped % would cut the formula off; write \%")
        try:
            markup = _converter().convert_with_local_state(tex, displaystyle=self.display)
        except LatexError as error:
            message = re.sub(r"^(\d+): ", r"at character \1: ", str(error))
            raise FormulaError(f"{message.rstrip('.')}, in {tex!r}") from None
        return markup.replace("<math", f'<math aria-label="{escape(spoken)}"', 1) if spoken else markup

    def digits_beyond(self, constants: frozenset[str]) -> list[str]:
        """Numbers that may not stand in a formula."""
        quantities = _NUMBER.findall(_NO_QUANTITY.sub(" ", self.lines[0]))
        return [number for number in quantities if number not in ALWAYS_ALLOWED | constants]


@functools.cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)
