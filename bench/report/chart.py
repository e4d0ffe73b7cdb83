"""Bar charts as SVG, drawn by hand: groups of bars, each with its number, readable on light and on dark backgrounds."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from msgspec import Struct

WIDTH, HEIGHT = 760, 350
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 100, 40
STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.quiet { fill: #57606a; font-size: 11px }
.grid { stroke: #d0d7de; stroke-width: 1 }
.rule { stroke: #24292f; stroke-width: 1.5; stroke-dasharray: 4 3 }
.mark { stroke: #24292f; stroke-width: 1.5 }
.c0 { fill: #8c959f } .c1 { fill: #bf8700 } .c2 { fill: #2da44e } .c3 { fill: #0969da } .c4 { fill: #a475f9 }
.c5 { fill: #e16f24 } .c6 { fill: #d1242f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
  .rule, .mark { stroke: #e6edf3 }
  .c0 { fill: #7d8590 } .c1 { fill: #d29922 } .c2 { fill: #3fb950 } .c3 { fill: #4493f8 } .c4 { fill: #ab7df8 }
  .c5 { fill: #f0883e } .c6 { fill: #f85149 }
}
"""


class Bar(Struct, frozen=True):
    """A value, and perhaps a second one above it, shown as a mark (a p99 over a p50)."""

    value: float
    mark: float | None = None


class Chart(Struct, frozen=True, kw_only=True):
    """`bars[series][group]`; None where nothing was measured. `rule` is the label of the line at 1."""

    title: str
    note: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[Bar | None]]
    colors: Mapping[str, int]
    form: str = "{:.2f}"
    rule: str | None = None


def svg(chart: Chart) -> str:
    top = _nice(max((b.mark or b.value for bars in chart.series.values() for b in bars if b), default=1.0))
    top = max(top, 1.2) if chart.rule else top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(chart.title)}</title>",
        f"<style>{STYLE}</style>",
        _text(LEFT, 22, chart.title, "title"),
        _text(LEFT, 40, chart.note, "quiet"),
        *_legend(chart),
        *_grid(top, chart.form),
        *([_line(LEFT, _y(1, top), WIDTH - RIGHT, _y(1, top), "rule")] if chart.rule else []),
        *_bars(chart, top),
        "</svg>",
        "",
    ]
    return "\n".join(parts)


def _legend(chart: Chart) -> list[str]:
    parts: list[str] = []
    x, y = float(LEFT), 62.0
    for name in [*([chart.rule] if chart.rule else []), *chart.series]:
        room = 32 + 6.8 * len(name)
        if x + room > WIDTH:
            x, y = float(LEFT), y + 18
        if name == chart.rule:
            parts.append(_line(x - 2, y - 4, x + 13, y - 4, "rule"))
        else:
            place = f'x="{x:.1f}" y="{y - 10:.1f}" width="11" height="11"'
            parts.append(f'<rect class="c{chart.colors[name]}" {place} rx="2"/>')
        parts.append(_text(x + 17, y, name))
        x += room
    return parts


def _grid(top: float, form: str) -> list[str]:
    parts = []
    for n in range(5):
        value = top * n / 4
        parts += [_line(LEFT, _y(value, top), WIDTH - RIGHT, _y(value, top), "grid")]
        parts += [_text(LEFT - 8, _y(value, top) + 4, form.format(value), "quiet", "end")]
    return parts


def _bars(chart: Chart, top: float) -> list[str]:
    parts = []
    room = (WIDTH - LEFT - RIGHT) / len(chart.groups)
    width = min(56.0, room * 0.84 / len(chart.series))
    for g, group in enumerate(chart.groups):
        middle = LEFT + room * (g + 0.5)
        parts.append(_text(middle, HEIGHT - BOTTOM + 20, group, anchor="middle"))
        for s, (name, bars) in enumerate(chart.series.items()):
            bar = bars[g]
            if bar is not None:
                x = middle + width * (s - len(chart.series) / 2)
                parts += _bar(bar, x, width, top, chart.colors[name], chart.form)
    return parts


def _bar(bar: Bar, x: float, width: float, top: float, color: int, form: str) -> list[str]:
    y, center = _y(bar.value, top), x + width / 2
    height = max(1.0, HEIGHT - BOTTOM - y)
    size = f'x="{x + 1.5:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" width="{width - 3:.1f}" height="{height:.1f}"'
    parts = [f'<rect class="c{color}" {size} rx="2"/>']
    if bar.mark is None:
        return [*parts, _text(center, y - 4, form.format(bar.value), "quiet", "middle")]
    high = _y(bar.mark, top)
    return [
        *parts,
        _line(center, high, center, y, "mark"),
        _line(center - 6, high, center + 6, high, "mark"),
        _text(center, high - 4, f"{form.format(bar.value)} / {form.format(bar.mark)}", "quiet", "middle"),
    ]


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _nice(value: float) -> float:
    """The next round number from `value` upwards, with some air."""
    scale = 1.0
    while scale * 10 <= value * 1.08:
        scale *= 10
    while scale > value * 1.08:
        scale /= 10
    return next(scale * step for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if scale * step >= value * 1.08)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
