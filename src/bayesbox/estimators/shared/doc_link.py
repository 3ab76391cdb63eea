"""The link to the reference in scikit-learn's HTML of estimators and pipelines."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

PAGE = "reference/api/{estimator_name}.html"


@cache
def documentation() -> str:
    """The documentation URL in the metadata of the installed package; empty if there is none."""
    try:
        urls = metadata("bayesbox").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    address = next((url for label, url in named.items() if label.lower() == "documentation"), "")
    return address.rstrip("/")


class DocLink:
    """What scikit-learn needs to link the name of an estimator."""

    _doc_link_module = "bayesbox"

    @property
    def _doc_link_template(self) -> str:
        return f"{documentation()}/{PAGE}"

    def _get_doc_link(self) -> str:
        """The URL of this estimator's page; empty if the package has no URL or the class is not public."""
        name = type(self).__name__
        public = getattr(sys.modules["bayesbox"], name, None) is type(self)
        return self._doc_link_template.format(estimator_name=name) if documentation() and public else ""
