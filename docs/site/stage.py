"""Stage the pages for Sphinx: `python docs/site/stage.py FOLDER`.

The pages are copied in the layout of the project, so that their links hold, and the README becomes the home. Each
contents page gets a hidden list of the pages it links to, and some pages get a live picture: a model of the table or
network that the page shows, and the modules of the report, which answer in the browser. A file that has not changed is
left alone, which keeps what Sphinx has built of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

from contents import CONTENTS, listed, pages

import bayesbox as bb
from bayesbox.app.document.classifier import classifier_document
from bayesbox.app.document.network import network_document
from bayesbox.app.modules import joined, text_of
from bayesbox.app.networks import network_spec
from bayesbox.app.report.page import embedded
from bayesbox.app.rows import row_spec
from bayesbox.app.server.opened import DATA, sprinkler

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOME = "index.md"
BESIDE_PAGES = ("*.svg", "*.png", "*.txt")  # what pages of docs/ show or hand out
DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\n  :root,\n  \.bb \{(.*?)\n  \}\n\}", re.DOTALL)


def main(target: Path) -> None:
    """Write all that Sphinx reads into a folder, and remove what no longer belongs there."""
    wanted = dict(staged())
    for old in [each for each in target.rglob("*") if each.is_file()]:
        if old.relative_to(target).as_posix() not in wanted:
            old.unlink()
    for name, content in wanted.items():
        path = target / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def staged() -> Iterator[tuple[str, bytes]]:
    """What Sphinx reads: the name of each file, and its content."""
    for page in pages(ROOT):
        name = page.relative_to(ROOT).as_posix()
        text = with_home(with_live(name, page.read_text(encoding="utf-8")))
        if page.name == CONTENTS:
            text += contents_list(page)
        yield (HOME if name == CONTENTS else name), text.encode()
    for folder, pattern in [*(("docs", each) for each in BESIDE_PAGES), ("deploy", "*.*")]:
        for file in sorted((ROOT / folder).rglob(pattern)):
            yield file.relative_to(ROOT).as_posix(), file.read_bytes()
    yield "conf.py", (HERE / "conf.py").read_bytes()
    for name in ("site.css", "icon.svg"):
        yield f"_static/{name}", (HERE / name).read_bytes()
    yield "_static/live.css", live_style().encode()
    yield "_static/live.js", joined("report").encode()


def contents_list(page: Path) -> str:
    """The hidden list from which Sphinx takes its navigation."""
    names = [other.relative_to(page.parent).with_suffix("").as_posix() for other in listed(page, ROOT)]
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def with_home(text: str) -> str:
    """Links to the README of the project lead home."""
    return re.sub(r"\]\(((?:\.\./)+)README\.md(?=[)#])", rf"](\1{HOME}", text)


# -- live pictures -----------------------------------------------------------------------------------------------


def with_live(name: str, text: str) -> str:
    """A page with its live picture, before the heading it is to stand above; other pages as they are."""
    if name not in LIVE:
        return text
    heading, picture = LIVE[name]
    before, found, after = text.partition(heading)
    if not found:
        raise ValueError(f"{name} has no {heading.strip()!r}: say in stage.py where its live picture goes")
    return f"{before}\n{picture(text)}\n{found}{after}"


@cache
def titanic() -> dict[str, object]:
    """The model of the README, and what its picture needs to know of it."""
    classifier = bb.train(DATA / "titanic.csv", target="survived", weight="people").classifier_
    return {"model": classifier_document(classifier), "spec": row_spec(classifier)}


@contextmanager
def shown_file(text: str, name: str) -> Iterator[Path]:
    """A file that a page prints by `$ cat`, written out for as long as the block lasts."""
    found = re.search(rf"^    \$ cat {re.escape(name)}\n((?:    [^$\n].*\n)+)", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"the page prints no {name}: say in stage.py what its live picture shows")
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(dedent(found[1]), encoding="utf-8")
        yield path


def table_shown(text: str, name: str, target: str) -> dict[str, object]:
    """The model of a table that the page prints, and what its picture needs to know of it."""
    with shown_file(text, name) as path:
        classifier = bb.train(path, target=target).classifier_
    return {"model": classifier_document(classifier), "spec": row_spec(classifier)}


def network_shown(text: str, name: str) -> dict[str, object]:
    """A network that the page prints, and what its picture needs to know of it."""
    with shown_file(text, name) as path:
        network = bb.read_network(path)
    return {"model": network_document(network), "spec": network_spec(network)}


def live(documents: dict[str, object], about: str, pictures: str, up: str = "../../") -> str:
    """A picture that answers in the page: its documents, the place it is drawn in, and the script."""
    held = "\n".join(
        f'<script type="application/json" id="{name}">{embedded(document)}</script>'
        for name, document in documents.items()
    )
    places = "".join(f'<div data-picture="{each}"></div>' for each in pictures.split())
    return (
        "## Try it here\n\n"
        f"{about} Nothing leaves the page.\n\n"
        f'```{{raw}} html\n<div class="bb bb-live">{places}</div>\n{held}\n'
        f'<script defer src="{up}_static/live.js"></script>\n```\n'
    )


LIVE = {
    CONTENTS: (
        "\n## Install\n",
        lambda _: live(
            titanic(),
            "Who survived the Titanic? Set what is known of a person; the model answers, with its reasons.",
            "what-if",
            up="",
        ),
    ),
    "docs/gallery/nomogram.md": (
        "\n## ",
        lambda _: live(titanic(), "Move the marks: the total and the probability follow.", "nomogram"),
    ),
    "docs/gallery/browser.md": (
        "\n| | light | dark |",
        lambda _: live(
            {"model": network_document(sprinkler()), "spec": network_spec(sprinkler())},
            "Why is the grass wet? Click a state to know it, or drag its bar to believe it in part.",
            "network",
        ),
    ),
    "docs/tutorial.md": (
        "\n## Predict a file\n",
        lambda text: live(
            table_shown(text, "weather.csv", "play"), "Choose the weather of a day.", "what-if", up="../"
        ),
    ),
    "docs/how-to/explain.md": (
        "\n## The smallest change that flips it\n",
        lambda text: live(
            table_shown(text, "weather.csv", "play"),
            "Change a value: the probabilities and the reasons follow, and the question that would tell most.",
            "what-if",
        ),
    ),
    "docs/how-to/networks.md": (
        "\n## Show the calculation\n",
        lambda text: live(
            network_shown(text, "sprinkler.bif"), "Click a state to observe it; click it again to forget it.", "network"
        ),
    ),
    "docs/teach/bayes-classification.md": (
        "\n## The three estimates\n",
        lambda text: live(
            table_shown(text, "tennis.csv", "play"), "Move the marks: every value is a number to add.", "nomogram"
        ),
    ),
    "docs/teach/compsci762.md": (
        "\n## Naive Bayes is a network\n",
        lambda text: live(
            network_shown(text, "burglary.bif"), "Click J=true, then M=true: how likely is a burglary now?", "network"
        ),
    ),
}


def live_style() -> str:
    """The style of the report, with dark colors where the reader has chosen them on the site."""
    style, changed = DARK.subn(r'html[data-theme="dark"] .bb {\1\n}', text_of("style.css"))
    if changed != 1:
        raise ValueError("style.css has its dark colors in another form: say in stage.py how to find them")
    return style.replace(":root,\n.bb {", ".bb {", 1).replace("color-scheme: light dark;", "color-scheme: inherit;")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
