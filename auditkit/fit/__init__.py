"""Fits algorithm selectors and stores what they predict: the only user of scikit-learn (optional extra ``fit``)."""
