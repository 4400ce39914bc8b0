"""Where values lie on a canvas. Pure."""

import msgspec


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The area between two axes, in cells of the canvas; values outside are put at its edge.

    The first value of `x_range` lies in the middle of column `left`, zero in the middle of row
    `bottom`, `y_top` in that of row `top`: a point is in the row of the tick it is nearest to.
    """

    left: int
    right: int
    top: int
    bottom: int
    x_range: tuple[float, float]
    y_top: float

    def column(self, x: float) -> int:
        """The column that contains x."""
        return int(self.place(x, 0.0)[0])

    def row(self, y: float) -> int:
        """The row that contains y."""
        return int(self.place(0.0, y)[1])

    def place(self, x: float, y: float) -> tuple[float, float]:
        """The position from the top left corner of the canvas, in fractions of cells."""
        begin, end = self.x_range
        across = _share(x - begin, end - begin)
        up = _share(y, self.y_top)
        return (
            self.left + across * (self.right - self.left) + 0.5,
            self.bottom - up * (self.bottom - self.top) + 0.5,
        )


def _share(part: float, whole: float) -> float:
    return min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0
