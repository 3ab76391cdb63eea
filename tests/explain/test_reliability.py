"""The reliability table and the picture: well-formed, escaped, with a point and a bar for each bin that holds rows."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from bayesbox.display.text import as_text
from bayesbox.explain.reliability import (
    HEIGHT,
    HIST_HEIGHT,
    LEFT,
    MOST_RADIUS,
    SIDE,
    TOP,
    WIDTH,
    Bin,
    aligned,
    reliability_block,
    reliability_svg,
)

NAMESPACE = "{http://www.w3.org/2000/svg}"
EMPTY = Bin(0.0, 0.25, 0, *[math.nan] * 4)
BINS = [EMPTY, Bin(0.25, 0.5, 100, 0.4, 0.5, 0.4, 0.6), EMPTY, Bin(0.75, 1.0, 25, 0.9, 0.8, 0.61, 0.91)]


def elements(svg, tag):
    return list(ET.fromstring(svg).iter(NAMESPACE + tag))


def bars(svg):
    return [each for each in elements(svg, "rect") if each.get("class") == "bar"]


def test_a_point_and_a_bar_for_each_bin_that_holds_rows():
    svg = reliability_svg(BINS)
    points = elements(svg, "circle")
    assert len(points) == len(bars(svg)) == 2
    places = [(float(each.get("cx")), float(each.get("cy"))) for each in points]
    assert places == [(LEFT + 0.4 * SIDE, TOP + 0.5 * SIDE), pytest.approx((LEFT + 0.9 * SIDE, TOP + 0.2 * SIDE))]
    assert [float(each.get("r")) for each in points] == [MOST_RADIUS, MOST_RADIUS / 2], "the area goes with the rows"
    assert [float(each.get("height")) for each in bars(svg)] == [HIST_HEIGHT, HIST_HEIGHT / 4]
    assert [each[0].text for each in points] == [
        "100 rows: confidence 0.400, accuracy 0.500",
        "25 rows: confidence 0.900, accuracy 0.800",
    ]


def test_everything_lies_inside_the_picture():
    random = np.random.default_rng(1)
    bins = [
        Bin(i / 15, (i + 1) / 15, 10.0**i, (i + 0.5) / 15, share, share / 2, 1)
        for i, share in enumerate(random.random(15))
    ]
    svg = reliability_svg(bins)
    for tag, across, down in (
        ("line", "x1 x2", "y1 y2"),
        ("circle", "cx", "cy"),
        ("rect", "x", "y"),
        ("text", "x", "y"),
    ):
        for each in elements(svg, tag):
            assert all(0 <= float(each.get(name, 0)) <= WIDTH for name in across.split())
            assert all(0 <= float(each.get(name, 0)) <= HEIGHT for name in down.split())
    assert len(elements(svg, "circle")) == 15


def test_a_title_is_escaped_and_cut():
    title = 'a<b>&"c\x1b[2J' + "x" * 80
    svg = reliability_svg(BINS, title)
    shown = [each.text for each in elements(svg, "text")]
    assert ET.fromstring(svg)[0].text == title.replace("\x1b", "\N{REPLACEMENT CHARACTER}")
    cut = [text for text in shown if text.startswith("a<b>&")]
    assert len(cut) == 1
    assert len(cut[0]) == 48
    assert cut[0].endswith("...")


def test_axes_have_ticks_and_names():
    shown = [each.text for each in elements(reliability_svg(BINS), "text")]
    for tick in ("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"):
        assert shown.count(tick) == 2
    assert {"accuracy", "rows", "confidence: P(predicted class)", "100"} <= set(shown)


@pytest.mark.parametrize(("most", "shown"), [(12_345, "12.3k"), (2_500_000, "2.5M"), (9_999, "9999"), (3e9, "3G")])
def test_large_counts_are_short(most, shown):
    svg = reliability_svg([Bin(0, 1, most, 0.5, 0.5, 0.4, 0.6)])
    assert shown in [each.text for each in elements(svg, "text")]


def test_no_rows_at_all():
    assert elements(reliability_svg([EMPTY]), "circle") == bars(reliability_svg([EMPTY])) == []


def test_the_table_shows_the_bins_that_hold_rows():
    assert as_text("", [reliability_block(BINS)]).splitlines() == [
        "  confidence     n  mean confidence  accuracy",
        "  0.250-0.500  100           0.4000    0.5000  ########|#",
        "  0.750-1.000   25           0.9000    0.8000  ################  |",
    ]


def test_a_cell_with_a_line_break_stays_one_line():
    assert aligned([["a\nb", "1"], ["c", "22"]], right=[1]) == ["  a b   1", "  c    22"]
