"""What is used of Spark beyond its promises is there, and what a user is reported where it is not."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from spark import interfaces, session
from spark.interfaces import INTERFACES, Interface, document
from spark.java import Java, spark_home
from tests.support.paths import ROOT


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.name)
def test_this_spark_has_it(interface: Interface) -> None:
    assert interface.there(spark_home()), f"{interface.name}: {interface.use} Used in {interface.users}"


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.name)
def test_who_uses_it_is_there(interface: Interface) -> None:
    first, *others = interface.users.split(", ")
    assert all((ROOT / first).with_name(Path(user).name).is_file() for user in (first, *others))


def test_the_document_is_what_the_list_says() -> None:
    assert (ROOT / "docs" / "spark-interfaces.md").read_text() == document()


def test_a_spark_that_lacks_something_is_named_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jars").mkdir()
    with zipfile.ZipFile(tmp_path / "jars" / "spark-launcher_2.13-9.0.0.jar", "w"):
        pass

    class Broken:
        def __init__(self, *_: object) -> None:
            raise AttributeError("no such thing")

    monkeypatch.setattr(session, "spark_home", lambda: tmp_path)
    monkeypatch.setattr(session, "find_java", lambda: Java(tmp_path, "17"))
    monkeypatch.setattr(session, "Jvm", Broken)
    with pytest.raises(session.SparkRefused, match=r"^pyspark \S+ lacks interfaces that this tool uses: [^\n]*JavaModuleOptions[^\n]*$"):
        session.start()
    monkeypatch.setattr(interfaces, "lacking", lambda _: [])
    with pytest.raises(AttributeError):
        session.start()
