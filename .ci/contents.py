"""What a built package holds: every tracked file of src/, its licence, its metadata, and no other.

python .ci/contents.py dist           looks, and writes dist/SHA256SUMS
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
WANTED = (
    "Summary",
    "Keywords",
    "License-Expression",
    "License-File",
    "Requires-Python",
    "Description-Content-Type",
)


def tracked() -> set[str]:
    """Files of the repository, those included that are new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def check_wheel(path: Path, sources: set[str]) -> None:
    """Fail unless the wheel is the package, and says what it is."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        about = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(wheel.read(about).decode("utf-8"))
    home = PurePosixPath(about).parent
    package = {name for name in names if not name.startswith(f"{home}/")}
    _same("the wheel", package, {name.removeprefix("src/") for name in sources})
    assert f"{home}/licenses/LICENSE" in names, "the wheel has no licence"
    for name in ("steadyrank", "steadyrank_lab"):
        assert f"{name}/py.typed" in package, f"the wheel has no {name}/py.typed"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    missing = [key for key in WANTED if not metadata.get(key)]
    assert not missing, f"metadata without {missing}"
    assert len(metadata.get_all("Project-URL") or []) == len(project["urls"])
    assert set(metadata.get_all("Provides-Extra") or []) == set(project["optional-dependencies"])


def check_sdist(path: Path, files: set[str]) -> None:
    """Fail unless the sdist is the repository."""
    with tarfile.open(path) as sdist:
        members = [member for member in sdist.getmembers() if member.isfile()]
    names = {member.name.partition("/")[2] for member in members} - {"PKG-INFO"}
    _same("the sdist", names, files)


def _same(what: str, has: set[str], wanted: set[str]) -> None:
    assert has == wanted, f"{what} lacks {sorted(wanted - has)}, and has {sorted(has - wanted)}"


def main() -> None:
    """Check the one wheel and the one sdist of a folder, and write their digests."""
    folder, files = Path(sys.argv[1]), tracked()
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_wheel(wheel, {name for name in files if name.startswith("src/")})
    check_sdist(sdist, files)
    made = ((hashlib.sha256(path.read_bytes()).hexdigest(), path.name) for path in (sdist, wheel))
    sums = "".join(f"{digest}  {name}\n" for digest, name in made)
    (folder / "SHA256SUMS").write_text(sums, "utf-8")


if __name__ == "__main__":
    main()
