"""Builds the wheel (PEP 517): configures and builds with CMake, and packs the results.

Only the standard library is used, so `pip wheel .` works without a network. The wheel has the
package, the shipped machines and models, and the program `tutti`, from which real runs start their
workers. The program is linked with libraries of this system (Protocol Buffers, fmt, SQLite, …), and
the package works only with this version of Python.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]


def _version() -> str:
    found = re.search(r"project\(tutti VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert found is not None
    return found.group(1)


def _tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _metadata() -> str:
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            "Name: tutti",
            f"Version: {_version()}",
            "Summary: Predicts what collectives of distributed training cost, and replays them for real",
            "License: Apache-2.0",
            "Requires-Python: >=3.9",
            "Requires-Dist: numpy",
            "Description-Content-Type: text/markdown",
            "",
            (ROOT / "README.md").read_text(encoding="utf-8"),
        ]
    )


def _build() -> Path:
    """Builds the module and the program. TUTTI_BUILD_FOLDER names a folder to reuse."""
    folder = Path(os.environ.get("TUTTI_BUILD_FOLDER", ROOT / "build" / "wheel"))
    configure = [
        "cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_UNITY_BUILD=ON", "-DBUILD_TESTING=OFF", "-DTUTTI_WINDOW=OFF", "-DTUTTI_PYTHON=ON",
        "-DTUTTI_HARDENING=ON",
    ]
    if not (folder / "build.ninja").exists():
        subprocess.run([*configure, f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", "tutti", "tutti_python"], check=True)
    return folder


class _Wheel:
    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record: list[str] = []

    def add(self, name: str, content: bytes, *, executable: bool = False) -> None:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")
        info = zipfile.ZipInfo(name)
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, content)

    def close(self, info: str) -> None:
        record = "\n".join([*self._record, f"{info}/RECORD,,", ""])
        self._zip.writestr(f"{info}/RECORD", record)
        self._zip.close()


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """The hook of PEP 517 that builds the wheel in `wheel_directory`, and returns its name."""
    folder = _build()
    info = f"tutti-{_version()}.dist-info"
    name = f"tutti-{_version()}-{_tag()}.whl"
    wheel = _Wheel(Path(wheel_directory) / name)
    for file in sorted((ROOT / "tools" / "python" / "tutti").iterdir()):
        if file.suffix in (".py", ".pyi", ".typed") or file.name == "py.typed":
            wheel.add(f"tutti/{file.name}", file.read_bytes())
    for module in sorted((folder / "python" / "tutti").glob("_core.*.so")):
        wheel.add(f"tutti/{module.name}", module.read_bytes(), executable=True)
    data = ROOT / "scenarios"
    for file in sorted(path for path in data.rglob("*") if path.is_file()):
        name_in_data = file.relative_to(data)
        wheel.add(f"tutti/data/{name_in_data}", file.read_bytes())
        # The program looks in share/tutti beside its own bin folder.
        wheel.add(f"tutti-{_version()}.data/data/share/tutti/{name_in_data}", file.read_bytes())
    program = (folder / "bin" / "tutti").read_bytes()
    wheel.add(f"tutti-{_version()}.data/scripts/tutti", program, executable=True)
    wheel.add(f"{info}/METADATA", _metadata().encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tutti\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close(info)
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    """The hook of PEP 517 for source distributions. Fails, since wheels need a checkout."""
    raise NotImplementedError("build a wheel from a checkout: pip wheel .")
