"""What scikit-learn offers for mixed columns: a Gaussian and a categorical model, added up by hand."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.naive_bayes import CategoricalNB, GaussianNB


class Summed:
    """The joint log-probabilities of both models added, the prior counted once. Either half may have no column."""

    def __init__(self, var_smoothing: float = 0) -> None:
        self.var_smoothing = var_smoothing

    def fit(self, numbers: np.ndarray, codes: np.ndarray, y: np.ndarray) -> Summed:
        self.gaussian = GaussianNB(var_smoothing=self.var_smoothing).fit(numbers, y) if numbers.shape[1] else None
        self.categorical = CategoricalNB().fit(codes, y) if codes.shape[1] else None
        self.classes_, counts = np.unique(y, return_counts=True)
        self.log_prior = np.log(counts / len(y))
        return self

    def predict_proba(self, numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
        halves = [(self.gaussian, numbers), (self.categorical, codes)]
        joints = [model.predict_joint_log_proba(half) for model, half in halves if model is not None]
        joint = joints[0] if len(joints) == 1 else joints[0] + joints[1] - self.log_prior
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
