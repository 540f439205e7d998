"""A crash that was noticed before the broker led again may not be the end of the process whose lines were collected."""

from __future__ import annotations

from datetime import datetime

from forensics.exemplars import exemplars_of
from tests.support import local

FILES = next(e.files for e in exemplars_of("broker-crash") if e.name == "led-again-before-the-next-start")


def bracket(files: dict[str, bytes]) -> tuple[datetime | None, datetime | None]:
    (crash,) = (f for f in local.report(local.events_of_files(files)).findings if f.kind == "broker-crash")
    return crash.start, crash.start_latest


def test_the_bracket_reaches_from_the_last_collected_line_to_the_first_line_of_the_next_process() -> None:
    assert bracket({**FILES}) == (datetime(2026, 11, 29, 11, 21, 37, 596000), datetime(2026, 11, 29, 11, 22, 40, 471000))


def test_without_a_later_term_the_crash_ends_when_others_noticed_it() -> None:
    served = {path: b"".join(line for line in text.splitlines(True) if b"Added fetcher" not in line) for path, text in FILES.items()}
    assert bracket(served) == (datetime(2026, 11, 29, 11, 21, 37, 596000), datetime(2026, 11, 29, 11, 21, 51, 52000))


def test_a_crash_is_noticed_by_the_last_report_of_a_controller_that_had_seen_the_broker_return() -> None:
    changes = {"11:21:50,700": "deleted", "11:22:02,300": "added", "11:22:36,100": "deleted"}
    controller = "".join(
        f"[2026-11-29 {at}] INFO [Controller id=2] Newly added brokers: {'1' if what == 'added' else ''}, "
        f"deleted brokers: {'1' if what == 'deleted' else ''}, bounced brokers: , "
        f"all live brokers: {'1,2,3' if what == 'added' else '2,3'} (kafka.controller.KafkaController)\n"
        for at, what in changes.items()
    )
    own = {path: text for path, text in FILES.items() if path.startswith("broker-1")}
    assert bracket({**own, "broker-2/logs/controller.log": controller.encode()})[1] == datetime(2026, 11, 29, 11, 22, 36, 300000)
    once = controller.splitlines(True)[0].encode()
    assert bracket({**own, "broker-2/logs/controller.log": once})[1] == datetime(2026, 11, 29, 11, 21, 50, 900000)
