"""Drawing: what a figures file needs, in one import. Charts load matplotlib when the first one is made."""

from sitegen.drawing.canvas import Canvas, DrawingError, Spot
from sitegen.drawing.declare import Explainer, Figure, Step, explainer, figure
from sitegen.drawing.scene import Scene

__all__ = ["Canvas", "DrawingError", "Explainer", "Figure", "Scene", "Spot", "Step", "explainer", "figure"]
