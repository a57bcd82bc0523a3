"""A lab whose states off the table misbehave as a test asks: what is on the table must be right, or the build fails."""

import time

from sitegen.page.display import fixed
from sitegen.page.elements import element
from sitegen.page.lab import Slider, Text, lab


@lab(title="出错", controls={"do": Text("", longest=20, label="做什么"), "n": Slider(1, 9, start=1, label="n")})
def faults(do, n):
    if do == "loop":
        while True:
            pass
    if do == "slow":
        time.sleep(n / 10)
    if do == "memory":
        bytearray(2**31 - 1)
    if do == "zero":
        n / 0
    if do == "odd":
        raise LookupError("<b>没有</b>")
    if do == "crash":
        import _pyodide_core

        _pyodide_core.trigger_fatal_error()
    return element("p", {}, f"{do or '平常'} {fixed(n, 0)}")
