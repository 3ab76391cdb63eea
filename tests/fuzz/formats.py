"""All that is fuzzed, with the share that each has in a run."""

from __future__ import annotations

from tests.fuzz.arrow_files import ArrowFiles
from tests.fuzz.core_calls import CoreCalls
from tests.fuzz.format import FuzzFormat
from tests.fuzz.mail_files import MailFiles
from tests.fuzz.model_mutants import ModelMutants
from tests.fuzz.network_files import EXTENSIONS, NetworkFiles
from tests.fuzz.table_files import TableFiles

SHARES: dict[FuzzFormat, float] = {
    ModelMutants(): 20,
    TableFiles("csv"): 12,
    TableFiles("jsonl"): 12,
    ArrowFiles("parquet"): 8,
    ArrowFiles("arrow"): 8,
    ArrowFiles("arrows"): 2,
    **{NetworkFiles(extension): 6 for extension in EXTENSIONS},
    MailFiles("mbox"): 4,
    MailFiles("maildir"): 4,
    CoreCalls(): 14,
}
FORMATS = {form.name: form for form in SHARES}


def counts(total: int) -> dict[str, int]:
    """How many mutants of each format make up so many in all, at least one of each."""
    whole = sum(SHARES.values())
    return {form.name: max(round(total * share / whole), 1) for form, share in SHARES.items()}
