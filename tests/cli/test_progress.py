"""Progress bars on a terminal: one after the other, never two at once."""

from __future__ import annotations

import io
import sys

from steadyrank.cli import output, report
from tests.cli.commanding import call


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_two_bars_in_one_command(monkeypatch):
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with (
        output.progress_bar("runs read", False) as reading,
        output.progress_bar("blocks", False) as blocks,
    ):
        assert reading is not None
        assert blocks is not None
        for bar in (reading, blocks):
            for done in (1, 2, 3):
                bar(done, 3)
    assert "runs read" in screen.getvalue()
    assert "blocks" in screen.getvalue()


def test_a_log_gets_lines(monkeypatch, capsys):
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    with output.progress_bar("runs read", False) as reading:
        assert reading is not None
        reading(1, 3)
    assert capsys.readouterr().err == "steadyrank: runs read: 1 of 3\n"


def test_a_report_shows_what_it_begins_once_patience_is_spent(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(output, "PATIENCE", 1e6)
    with report.bars(False) as tell:
        assert tell is not None
        tell("compare", 0, 1)
        assert screen.getvalue() == ""
        monkeypatch.setattr(output, "PATIENCE", 0.0)
        tell("topics", 0, 1)
        tell("splits of topics", 0, 10)
    assert "compare" not in screen.getvalue()
    assert screen.getvalue().index("topics") < screen.getvalue().index("splits of topics")


def test_a_comparison_shows_how_far_it_is(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    rows = [f"t{t},{t % 7},{t % 5},{t % 3}" for t in range(30)]
    (tmp_path / "scores.csv").write_text("\n".join(["topic,a,b,c", *rows]) + "\n")
    asked = ("compare", "--scores", tmp_path / "scores.csv", "--samples", 512, "--format", "json")
    _, _, err = call(capsys, *map(str, asked))
    assert "steadyrank: blocks of samples: 1 of 2\n" in err
