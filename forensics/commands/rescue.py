"""After a failed write: the analysis as a case, and how to go on from it.

Here: which case has the analysis, and the advice. Not here: which writes failed (targets), or the writing of a case (forensics.case).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

from forensics.commands.evidence import Progress, chosen_cluster
from forensics.commands.exports import Exports
from forensics.commands.inputs import CaseInput, EvidenceInput, Input
from forensics.commands.targets import written

NAME = "rescued.case"


def rescue(found: Input, source: Input, exports: Exports, words: Sequence[str], progress: Progress) -> None:
    """If something could not be written, makes sure that a case has the analysis, and adds advice. `found`: the input; `source`: the same
    or a temporary case made from it; `words`: the options that select a part of the report."""
    if not written().failed:
        return
    case = _case(found, source, progress)
    cluster = chosen_cluster()
    if case is None:
        written().advice = ["The analysis could not be kept. Free some space, and run the command again with --case DIR."]
    else:
        written().advice = exports.go_on(case, [*(("--cluster", cluster) if cluster is not None else ()), *words])


def _case(found: Input, source: Input, progress: Progress) -> str | None:
    if isinstance(found, CaseInput):
        return str(found.case.directory)
    assert isinstance(found, EvidenceInput)
    try:
        case = Path(mkdtemp(prefix="kafka-forensics-")) / NAME
        with progress.stage("Keeping the analysis"):
            if isinstance(source, CaseInput):
                shutil.copytree(source.case.directory, case)
            else:
                found.keep(case, progress)
    except OSError:
        return None
    return str(case)
