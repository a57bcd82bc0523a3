"""Random data for lessons: the same numbers on every machine, in every version, in build and browser.

Normal numbers by Box and Muller (1958) from `random.Random(seed).random()`, whose stream Python guarantees across
versions. NumPy's generators promise no such thing, and `numpy.random` would cost the reader another half megabyte.
"""

import math
import random

import numpy as np


def draw(seed: int, shape: int | tuple[int, ...]) -> np.ndarray:  # -> shape, float64
    """Standard normal numbers, filled in row order."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    uniform = random.Random(seed).random
    needed = math.prod(shape)
    numbers: list[float] = []
    while len(numbers) < needed:
        radius = math.sqrt(-2 * math.log(1 - uniform()))  # 1 - u lies in (0, 1], so the logarithm is finite
        angle = 2 * math.pi * uniform()
        numbers += [radius * math.cos(angle), radius * math.sin(angle)]
    return np.array(numbers[:needed]).reshape(shape)
