"""The words that tell a class from all others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.text import explanation
from bayesbox.text.explanation import telling

few = st.sampled_from([-np.inf, -2.0, -1.0, -0.5, 0.0, 1.0])


@given(st.integers(1, 4), st.integers(0, 6), st.integers(0, 4), st.integers(1, 9), st.data())
def test_a_word_tells_the_class_whose_weight_exceeds_all_others(classes, size, number, piece, data):
    weights = np.array(data.draw(st.lists(few, min_size=size * classes, max_size=size * classes)), dtype=np.float64)
    weights = weights.reshape(size, classes)
    names = tuple(f"w{index}" for index in range(size))
    before = explanation.CELLS_A_PIECE, explanation.LOOKED_AT
    explanation.CELLS_A_PIECE = explanation.LOOKED_AT = piece
    found = telling(names, weights, number)
    explanation.CELLS_A_PIECE, explanation.LOOKED_AT = before
    for place in range(classes):
        leads = []
        for name, row in zip(names, weights, strict=True):
            others = np.delete(row, place)
            lead = row[place] - others.max() if classes > 1 and row[place] > others.max() else 0.0
            leads.append((name, row[place] if classes == 1 else float(np.nan_to_num(lead))))
        kept = [(name, lead) for name, lead in leads if lead > 0 or classes == 1]
        assert found[place] == sorted(kept, key=lambda each: -each[1])[:number]
