# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel, by the standard library alone: what pip calls (PEP 517), and what `make wheel` calls.

    python3 wheel_backend.py DIRECTORY     # makes DIRECTORY/plenum-VERSION-py3-none-PLATFORM.whl

The wheel holds the module, and below plenum-VERSION.data/data the tree of `make wheel-tree`: bin, lib and include, which
pip installs into the environment, where other packages search for MPI. PLENUM_WHEEL_TREE names a tree that is there
already. A wheel cannot hold symbolic links, so a library's second name becomes a file for the linker.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIME = (1980, 1, 1, 0, 0, 0)  # of all members, so that the same files make the same wheel


def version() -> str:
    return re.search(r'__version__ = "(.*)"', (HERE / "plenum" / "__init__.py").read_text(encoding="utf-8"))[1]


def metadata() -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}",
             f"Summary: {project['description']}", f"License: {project['license']}",
             f"Keywords: {','.join(project['keywords'])}",
             *(f"Classifier: {one}" for one in project["classifiers"]),
             f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown", "",
             (HERE / project["readme"]).read_text(encoding="utf-8")]
    return "\n".join(lines)


class Wheel:
    """A wheel that is written file by file, its record last."""

    def __init__(self, directory: str) -> None:
        platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
        self.stem = f"plenum-{version()}"
        self.tag = f"py3-none-{platform}"
        self.name = f"{self.stem}-{self.tag}.whl"
        self._zip = zipfile.ZipFile(os.path.join(directory, self.name), "w", zipfile.ZIP_DEFLATED)
        self._record: list[str] = []

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        member = zipfile.ZipInfo(name, TIME)
        member.external_attr = (0o100755 if executable else 0o100644) << 16
        member.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(member, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def add_tree(self, root: Path, below: str) -> None:
        for path in sorted(root.rglob("*")):
            name = f"{below}/{path.relative_to(root)}"
            if path.is_symlink() and ".so" in path.name:
                self.add(name, f"INPUT({os.readlink(path)})\n".encode())
            elif path.is_file() and "__pycache__" not in path.parts:
                self.add(name, path.read_bytes(), os.access(path, os.X_OK))

    def close(self) -> None:
        info = f"{self.stem}.dist-info"
        self.add(f"{info}/METADATA", metadata().encode())
        self.add(f"{info}/LICENSE", (HERE.parent / "LICENSE").read_bytes())
        self.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: plenum ({version()})\nRoot-Is-Purelib: false\n"
                                  f"Tag: {self.tag}\n".encode())
        self._record.append(f"{info}/RECORD,,\n")
        self._zip.writestr(zipfile.ZipInfo(f"{info}/RECORD", TIME), "".join(self._record))
        self._zip.close()


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """The hook of PEP 517."""
    with tempfile.TemporaryDirectory(prefix="plenum-wheel-") as made:
        tree = os.environ.get("PLENUM_WHEEL_TREE")
        if not tree:
            tree = made
            subprocess.run(["make", "-C", HERE.parent, "wheel-tree", f"WHEEL_TREE={tree}"], check=True,
                           stdout=sys.stderr)
        wheel = Wheel(wheel_directory)
        wheel.add_tree(HERE / "plenum", "plenum")
        wheel.add_tree(Path(tree), f"{wheel.stem}.data/data")
        wheel.close()
        return wheel.name


if __name__ == "__main__":
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
