"""Make the README's picture: the head of the report that `steadyrank demo` writes.

python docs/make_images.py

Needs Playwright and Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = Path(__file__).parent / "images" / "report.png"
SIZE = {"width": 1280, "height": 800}


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        command = [sys.executable, "-m", "steadyrank", "demo", "--out", folder, "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()
