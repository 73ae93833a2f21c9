"""How numbers are written: one place, so that a number reads alike on every page."""

from __future__ import annotations

SMALL = 0.0001  # a probability below is told by its power of ten


def small(number: float) -> str:
    """A number in two decimals, or in two digits where the decimals would be 0.00.

    >>> small(0.4567), small(0.0039), small(9.83e-7), small(0)
    ('0.46', '0.0039', '9.8e-07', '0')
    """
    return f"{number:.2f}" if abs(number) >= 0.005 else f"{number:.2g}"


def percent(probability: float) -> str:
    """A probability on screen.

    >>> percent(0.3149), percent(0.00123), percent(3.2e-7)
    ('0.31', '0.0012', '3e-07')
    """
    return (
        f"{probability:.2f}"
        if probability >= 0.01
        else f"{probability:.2g}"
        if probability >= SMALL
        else (f"{probability:.0e}")
    )


def scientific(value: float) -> str:
    """A number near zero, as it is written by hand.

    >>> scientific(9.54e-07), scientific(0.0)
    ('9.5 × 10⁻⁷', '0')
    """
    if value == 0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
