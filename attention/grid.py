"""Where a picture's patches stand among a model's tokens, and which part of the picture each was made from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Patches in rows and columns, one token each, row by row from the token ``start`` on; both count from 0.

    ``box`` is the part of the picture that the model was given: left, top, right and bottom, in the picture's own
    pixels. It is the whole picture, unless the model's processor crops; patches divide it evenly.

    >>> grid = Grid(2, 3, 1, (0.0, 0.0, 60.0, 40.0))
    >>> len(grid), grid.token(1, 2), grid.place(6), grid.place(0)
    (6, 6, (1, 2), None)
    >>> grid.pixels(6)
    (40.0, 20.0, 60.0, 40.0)
    """

    rows: int
    columns: int
    start: int
    box: tuple[float, float, float, float]

    def __len__(self) -> int:
        return self.rows * self.columns

    def token(self, row: int, column: int) -> int:
        """The token of a patch."""
        return self.start + row * self.columns + column

    def place(self, token: int) -> tuple[int, int] | None:
        """(row, column) of a token's patch; None for a token that is none, such as CLS or a register."""
        at = token - self.start
        return divmod(at, self.columns) if 0 <= at < len(self) else None

    def pixels(self, token: int) -> tuple[float, float, float, float] | None:
        """Left, top, right and bottom of a token's patch in the picture's own pixels; None for one that has none."""
        place = self.place(token)
        if place is None:
            return None
        row, column = place
        left, top, right, bottom = self.box
        wide, high = (right - left) / self.columns, (bottom - top) / self.rows
        return left + column * wide, top + row * high, left + (column + 1) * wide, top + (row + 1) * high
