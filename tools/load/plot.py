"""A line chart as SVG with a logarithmic x axis, one labelled line per series."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 860, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 250, 20, 45
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#718096")


def line_chart(xs: Sequence[int], series: Mapping[str, Sequence[float]], across: str, up: str) -> str:
    """Both axes are logarithmic, so that constant values are flat at any scale."""
    values = [value for line in series.values() for value in line]
    low, high = _decade(min(values), math.floor), _decade(max(values), math.ceil)
    x_of = _scale(xs[0], xs[-1], LEFT, WIDTH - RIGHT)
    y_of = _scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    tick = low
    while tick <= high * 1.001:
        y = y_of(tick)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e2e8f0"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#4a5568">{tick:g}</text>')
        tick *= 10
    low_edge = HEIGHT - BOTTOM + 18
    parts += [
        f'<text x="{x_of(x):.1f}" y="{low_edge}" text-anchor="middle" fill="#4a5568">{_short(x)}</text>'
        for x in xs
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle" fill="#1a202c">{escape(across)}</text>'
    )
    parts.append(f'<text x="14" y="{TOP + 4}" fill="#1a202c">{escape(up)}</text>')
    names = _spread_out({name: y_of(line[-1]) for name, line in series.items()})
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        points = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in zip(xs, line, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT + 8}" y="{names[name] + 4:.1f}" fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    span = math.log(high / low) or 1.0
    return lambda value: first + (last - first) * math.log(value / low) / span


def _decade(value: float, rounded: Callable[[float], int]) -> float:
    return float(10.0 ** rounded(math.log10(value)))


def _short(number: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:g} {letter}"
    return str(number)


def _spread_out(places: Mapping[str, float], gap: float = 15) -> dict[str, float]:
    """Move overlapping labels down."""
    moved: dict[str, float] = {}
    last = -gap
    for name, y in sorted(places.items(), key=lambda place: place[1]):
        last = moved[name] = max(y, last + gap)
    return moved
