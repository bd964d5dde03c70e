"""Draw the README's picture: the table that `steadyrank demo` prints.

python docs/make_images.py
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

TARGET = Path(__file__).parent / "images" / "demo.svg"
SHOWN = 12


def main() -> None:
    command = [sys.executable, "-m", "steadyrank", "demo", "--quiet"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    console = Console(record=True, width=64, file=io.StringIO())
    console.print(Text("$ steadyrank demo", style="bold"))
    console.print(Text("\n".join([*lines[: SHOWN + 2], " …", *lines[-2:]])))
    TARGET.parent.mkdir(exist_ok=True)
    drawing = console.export_svg(title="steadyrank", unique_id="demo")
    # No fonts from the network: the viewer's own monospace will do.
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r"<!--.*?-->", "", drawing, flags=re.DOTALL)
    TARGET.write_text(drawing.replace("Fira Code", "DejaVu Sans Mono"))


if __name__ == "__main__":
    main()
