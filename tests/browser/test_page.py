"""The page in a real Chromium: nothing fails in it, nothing leaves it, it can be used by everybody, and it is quick.

Skipped where there is no Chromium or no playwright (`pip install -e '.[browser]'`; Debian: `apt-get install chromium`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha512
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from forensics.incidents.judging import PARTITION, Conclusion
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.findings import Finding, Fold, Place
from forensics.model.message import values
from forensics.model.rows import Rows
from forensics.output.display_times import DisplayZone
from forensics.views.clusters import Clusters, brief
from forensics.views.document import Report
from forensics.views.html.overview import overview
from forensics.views.html.page import page
from tests.forensics.fleets import Fleet
from tests.forensics.staged import START
from tests.forensics.views.pages import found, of_bundle, of_files
from tests.forensics.views.test_html import DAY, hostile, stamps
from tests.support import recorded
from tests.support.paths import BUNDLES

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[browser]'")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")

AXE = "4.14.1"
AXE_DIGEST = (
    "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5"
)
NAMES = ("unclean-election-2.8.2-zk", "zombie-leader-4.1.1-kraft", "wiped-zookeeper-3.7.2-zk", "mixed-fleet-3.5.2-zk")
FIRST_PAINT_MS = 2_000


def crash(directory: Path) -> str:
    fleet = Fleet(12, 60)
    fleet.crash([2, 5], 100, 130)
    return of_files(directory, fleet.files)


def rolling(directory: Path) -> str:
    fleet = Fleet(6, 40)
    for n, broker in enumerate(fleet.brokers):
        fleet.stop(broker, 100 + 60 * n, 130 + 60 * n)
    return of_files(directory, fleet.files)


def vast(directory: Path) -> str:
    """20,000 partitions, of all verdicts, and findings of all of them."""
    verdicts = {0: "lost", 1: "unknown", 2: "tail-cut"}
    names = [(f"topic-{n // 40}", n % 40) for n in range(20_000)]
    rows = [
        {
            "topic": topic,
            "partition": partition,
            "replicas": [n % 100, (n + 1) % 100, (n + 2) % 100],
            "isr": [n % 100, (n + 1) % 100],
            "leader": n % 100,
            "leader_epoch": n % 7,
            "log_end_offset": n * 1000,
            "verdict": verdicts.get(n % 997, "intact"),
            "why": "so it is",
        }
        for n, (topic, partition) in enumerate(names)
    ]
    places = tuple(Place(t, p, None, START, START + timedelta(minutes=n % 60), (), None, (1, 2)) for n, (t, p) in enumerate(names))
    findings = [
        Finding(
            kind="under-replicated",
            severity="medium",
            confidence="certain",
            brokers=(b,),
            start=START + timedelta(minutes=b),
            end=START + timedelta(minutes=b + 1),
            places=places[b * 200 :: 10] if b else places,
            folds=(Fold("places", values(missing=(b,))),),
            evidence=(),
        )
        for b in range(100)
    ]
    cluster = Cluster(nodes={b: Node(b) for b in range(100)})
    table = pa.Table.from_pylist(rows, schema=pa.schema(list(PARTITION)))
    return page(Report(cluster, findings, Rows(table)), None)


def clusters(directory: Path) -> str:
    """Twelve clusters: one that lost, one of whose name nothing is obeyed, one that could not be judged."""
    report, _ = found(directory, recorded.events(NAMES[0]))
    lost = brief(Conclusion(report.findings, report.incidents, report.partitions), report.cluster)
    healthy = brief(Conclusion([], [], Rows(pa.Table.from_pylist([], schema=pa.schema(list(PARTITION))))), report.cluster)
    names = {"payments": lost, "<b>bold</b>\u202egnp": lost, **{f"a-cluster-of-a-team-in-a-region-{n}": healthy for n in range(9)}}
    stated = Clusters(names, {"torn": "gzip: unexpected end of file"}, ["3 of 40 archives are new"])
    return overview(stated, {"payments": "audit.clusters/payments.html"})


def in_berlin(directory: Path) -> str:
    report, case = found(directory, recorded.events(NAMES[0]))
    return page(replace(report, zone=DisplayZone.named("Europe/Berlin")), case)


PAGES: Mapping[str, Callable[[Path], str]] = {
    "clusters": clusters,
    **{name: lambda directory, name=name: of_bundle(directory, BUNDLES / f"{name}.tar.gz") for name in NAMES},  # type: ignore[misc]
    "fleet-with-a-crash": crash,
    "fleet-restarted": rolling,
    "in-berlin": in_berlin,
    "hostile": lambda directory: of_files(directory, hostile()),
    "vast": vast,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Pages by name, each made once."""
    made: dict[str, Path] = {}

    def path(name: str) -> Path:
        if name not in made:
            directory = tmp_path_factory.mktemp("pages")
            made[name] = directory / "report.html"
            made[name].write_text(PAGES[name](directory / "a.case"), "utf-8")
        return made[name]

    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        started = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from the npm registry."""
    directory = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("axe-core is fetched with npm, which is not on the PATH")
    done = subprocess.run(["npm", "pack", "--silent", f"axe-core@{AXE}"], cwd=directory, capture_output=True, timeout=60)
    archive = directory / f"axe-core-{AXE}.tgz"
    if done.returncode or not archive.exists():
        pytest.skip("axe-core could not be fetched from the npm registry")
    assert sha512(archive.read_bytes()).hexdigest() == AXE_DIGEST
    with tarfile.open(archive) as files:
        source = files.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


@contextmanager
def opened(browser: Any, path: Path, fragment: str = "", **options: Any) -> Iterator[Any]:
    """A tab in which nothing may fail and from which nothing may be asked."""
    wrong: list[str] = []
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    tab = context.new_page()
    tab.on("console", lambda m: wrong.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda e: wrong.append(str(e)))
    tab.on("request", lambda r: wrong.append(r.url) if r.url.split("#")[0] != path.as_uri() else None)
    tab.on("dialog", lambda d: (wrong.append(d.message), d.dismiss()))
    tab.goto(path.as_uri() + fragment)
    yield tab
    context.close()
    assert wrong == []


def shown(tab: Any) -> list[str]:
    """Findings on the screen."""
    return tab.evaluate("[...document.querySelectorAll('#list .finding')].filter(f => f.checkVisibility()).map(f => f.id)")  # type: ignore[no-any-return]


SPILT = """[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility()
    && !e.closest('.scroll, svg, .uplot, pre')).map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("number, name", list(enumerate(n for n in PAGES if n != "hostile")))
def test_nothing_fails_nothing_is_cut_and_everybody_can_use_it(
    number: int, name: str, browser: Any, written: Callable[[str], Path], axe: str
) -> None:
    scheme, other = ("light", "dark") if number % 2 else ("dark", "light")
    with opened(browser, written(name), color_scheme=scheme, reduced_motion="reduce") as tab:
        tab.evaluate("document.querySelectorAll('details').forEach((d, n) => { if (n < 12) d.open = true; })")
        tab.evaluate(axe)
        for width in (1440, 390):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate(SPILT) == []
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        if number < 3:
            tab.emulate_media(color_scheme=other)
            found["violations"] += tab.evaluate("axe.run('main', {runOnly: ['color-contrast']})")["violations"]
        assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"] if v["impact"] in ("serious", "critical")] == []
        assert tab.evaluate("document.querySelectorAll('.uplot canvas').length > 0") == (name not in ("vast", "clusters"))


def test_filters_narrow_and_links_lead_back(browser: Any, written: Callable[[str], Path]) -> None:
    path = written("mixed-fleet-3.5.2-zk")
    with opened(browser, path) as tab:
        every = shown(tab)
        tab.select_option("[name=severity]", "critical")
        grave = shown(tab)
        assert 0 < len(grave) < len(every)
        tab.fill("[name=topic]", "fast")
        assert 0 < len(shown(tab)) <= len(grave)
        assert all("fast-" in row for row in tab.locator("#ptable tbody th").all_inner_texts())
        link, filtered = tab.url, shown(tab)
        tab.select_option("[name=verdict]", label="intact")
        assert shown(tab) != filtered
        tab.click("button[type=reset]")
        tab.wait_for_timeout(50)
        assert shown(tab) == every
    with opened(browser, path, "#" + link.split("#")[1]) as tab:
        assert shown(tab) == filtered and tab.input_value("[name=topic]") == "fast"
    with opened(browser, path, "#" + every[3]) as tab:
        assert tab.evaluate(f"document.getElementById('{every[3]}').querySelector('details').open")
        assert tab.locator(f"#{every[3]} summary").is_visible()
    with opened(browser, path, "#p-fast-7") as tab:
        assert tab.locator("#p-fast-7 .story tbody tr").count() > 5 and tab.locator("#p-fast-7 .uplot").count() == 1
        assert tab.locator("#p-fast-7 .proof[open] .handovers tr.hit").is_visible()
        assert "Gone: offsets 40–79: committed, certain" in tab.inner_text("#p-fast-7 .proof")


def test_the_window_of_time_moves_all_lanes_and_may_filter(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("unclean-election-2.8.2-zk")) as tab:
        before = tab.locator("#lanes .tick").first.inner_text()
        tab.locator(".controls > summary").click()
        tab.fill("#from", "2026-11-21 01:53:40")
        tab.fill("#until", "2026-11-21 01:53:41")
        tab.press("#until", "Enter")
        assert tab.locator("#lanes .tick").first.inner_text() != before
        every = len(shown(tab))
        tab.check("[name=time]")
        assert 0 < len(shown(tab)) < every
        tab.fill("#from", "nonsense")
        tab.press("#from", "Enter")
        assert "Write both times like" in tab.inner_text("#zoom-error")


def test_a_finding_is_copied_as_markdown_with_its_evidence(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("hostile"), permissions=["clipboard-read", "clipboard-write"]) as tab:
        card = tab.locator(".finding").first
        card.locator("summary").click()
        card.locator("button.copy").click()
        card.locator("button.copy", has_text="Copied").wait_for()
        text = tab.evaluate("navigator.clipboard.readText()")
        assert text.startswith("### critical: data-loss") and "```" in text and "broker-1/logs/server.log:1" in text.replace("\\", "")
        assert card.locator("pre").first.inner_text() in text


def test_the_first_screen_is_copied_for_a_mail_and_fits_two_screens_of_a_phone(browser: Any, written: Callable[[str], Path]) -> None:
    allowed = ["clipboard-read", "clipboard-write"]
    with opened(browser, written(NAMES[0]), permissions=allowed, viewport={"width": 390, "height": 844}) as tab:
        assert tab.evaluate("document.querySelector('.do').getBoundingClientRect().top") < 2 * 844
        tab.locator(".about .copy").click()
        tab.locator(".copy", has_text="Copied").wait_for()
        lines = tab.evaluate("navigator.clipboard.readText()").split("\n")
        assert lines[0].startswith("LOST at least 316 committed records") and any(line.startswith("When: ") for line in lines)
        assert any(line.startswith("- orders-0, offsets 200–357 (") for line in lines)
        assert any(line.startswith("✗ ") and "became leader" in line for line in lines) and any(line.startswith("1. ") for line in lines)


def test_what_a_log_holds_is_shown_and_not_obeyed(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("hostile")) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        said = tab.inner_text("main")
        assert "<script>alert(1)</script>" in said and "␛[31mred" in said and "[U+202E]" in said
        tab.locator("button.context").first.click()
        assert tab.locator("#viewer").is_visible() and tab.locator("#viewer .row.quoted").count() == 1
        assert tab.evaluate("document.querySelectorAll('script').length") == 3
        tab.keyboard.press("Escape")
        assert not tab.locator("#viewer").is_visible()


def test_it_is_read_without_scripts(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("unclean-election-2.8.2-zk"), java_script_enabled=False) as tab:
        said = tab.inner_text("main")
        assert "316 committed records of orders-0" in said and "brokers 1 and 3 crashed" in said
        assert tab.locator(".js:visible").count() == 0
        assert tab.locator("#lanes rect").count() > 10


def test_lanes_are_read_with_the_arrow_keys(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("unclean-election-2.8.2-zk")) as tab:
        assert tab.locator("#lanes [tabindex='0']").count() == 1
        tab.focus("#lanes [tabindex='0']")
        said = [tab.inner_text("#lanes + .says")]
        for key in ("ArrowDown", "End", "Home", "ArrowRight"):
            tab.keyboard.press(key)
            said.append(tab.inner_text("#lanes + .says"))
        assert said[0].startswith("losses: ") and "316 offsets committed, lost" in said[0]
        assert said[1].startswith("broker 1: ") and len({*said[1:]}) > 2
        assert tab.evaluate("getComputedStyle(document.activeElement).strokeWidth") == "8px"
        for _ in range(8):
            if "crashed between" not in tab.inner_text("#lanes + .says"):
                tab.keyboard.press("ArrowRight")
        tab.keyboard.press("Enter")
        assert tab.locator("#viewer").is_visible() and "crashed between" in tab.inner_text("#viewer-title")
        tab.keyboard.press("Escape")
        tab.keyboard.press("ArrowUp")
        tab.keyboard.press("Enter")
        tab.wait_for_function("location.hash.startsWith('#f-')")
        assert tab.evaluate("document.activeElement.closest('article').querySelector('details').open")


def test_the_proof_opens_where_it_is_asked_for(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("unclean-election-2.8.2-zk")) as tab:
        link = tab.locator("table.lost a.to-proof").first
        link.focus()
        tab.keyboard.press("Enter")
        assert link.get_attribute("aria-expanded") == "true"
        proof = tab.inner_text("table.lost tr.in-place")
        assert "Gone: offsets 200–357: committed, certain" in proof and "Leader orders-0 starts at leader epoch 4 from offset 200" in proof
        assert tab.evaluate("scrollY") == 0 and tab.evaluate(SPILT) == []
        tab.keyboard.press(" ")
        assert tab.locator("tr.in-place").count() == 0 and link.get_attribute("aria-expanded") == "false"


@pytest.mark.parametrize("name", ["unclean-election-2.8.2-zk", "mixed-fleet-3.5.2-zk", "vast"])
def test_paper_has_five_pages_and_an_annex(name: str, browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written(name), color_scheme="dark") as tab:
        pages = re.findall(rb"/Type\s*/Page[^s]", tab.pdf(format="A4"))
        assert 1 < len(pages) <= 5
        tab.emulate_media(media="print")
        assert tab.locator("#annex .handovers tr.hit").first.is_visible() == (name != "vast")
        assert not tab.locator(".controls").is_visible() and tab.locator(".finding .f-what").first.is_visible()


SAID = """(() => { const copy = document.querySelector("main").cloneNode(true);
    copy.querySelectorAll("pre, cite, code, script").forEach((e) => e.remove());
    copy.querySelectorAll("[aria-label]").forEach((e) => e.append(" " + e.getAttribute("aria-label") + " "));
    return copy.textContent; })()"""


def test_the_zone_of_all_times_is_switched_by_keyboard_and_kept(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("in-berlin"), "#p-orders-0", timezone_id="Asia/Kolkata") as tab:

        def tick() -> datetime:
            return datetime.strptime(tab.locator("#lanes .tick").first.inner_text(), "%H:%M:%S")

        berlin, axis, start = tab.evaluate(SAID), tick(), datetime.fromisoformat(tab.input_value("#from"))
        assert len(stamps(berlin)) > 200 and "+01:00" in berlin
        tab.focus("#zone")
        for hours, minutes, label in ((-1, 0, "UTC"), (4, 30, "+05:30")):
            tab.keyboard.press("ArrowDown")
            ahead, said = timedelta(hours=hours, minutes=minutes), tab.evaluate(SAID)
            assert stamps(said) == [(at + ahead) % DAY for at in stamps(berlin)]
            assert set(tab.locator(".zone").all_text_contents()) == {label} and "+01:00" not in said
            assert tick() == axis + ahead and datetime.fromisoformat(tab.input_value("#from")) == start + ahead
        tab.reload()
        assert stamps(tab.evaluate(SAID)) == [(at + timedelta(hours=4, minutes=30)) % DAY for at in stamps(berlin)]
        tab.select_option("#zone", "report")
        assert tab.evaluate(SAID) == berlin


@pytest.mark.parametrize("name", ["hostile", "clusters"])
def test_light_and_dark_are_chosen_and_kept_by_keyboard(name: str, browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written(name), color_scheme="light") as tab:
        back = "getComputedStyle(document.body).backgroundColor"
        light = tab.evaluate(back)
        tab.focus("#theme")
        tab.keyboard.press("Enter")
        assert tab.evaluate(back) != light and tab.inner_text("#theme") == "Light"
        tab.reload()
        assert tab.evaluate(back) != light


def test_twenty_thousand_partitions_are_painted_at_once_and_paged(browser: Any, written: Callable[[str], Path]) -> None:
    with opened(browser, written("vast")) as tab:
        paint = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert paint < FIRST_PAINT_MS
        assert tab.locator("#ptable tbody tr").count() == 25 and tab.inner_text("#where") == "1 to 25 of 20,000"
        assert set(tab.locator("#ptable tbody .verdict-word").all_inner_texts()[:21]) == {"lost"}
        tab.select_option("[name=verdict]", label="unknown")
        assert tab.inner_text("#where") == "1 to 21 of 21"
        tab.focus("#heatmap")
        assert tab.inner_text("#heat-says") == "topic-0-0: lost"
        tab.keyboard.press("ArrowRight")
        assert tab.inner_text("#heat-says").startswith("topic-0-1: ")
        assert len(shown(tab)) == 40
        tab.click("#more")
        assert len(shown(tab)) == 80
