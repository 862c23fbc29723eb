import os
from pathlib import Path

import pytest

import tutti

# A preloaded runtime of a sanitizer (tools/python_asan.sh) is for this process only. The program
# tutti, which tests start, is linked with its own.
os.environ.pop("LD_PRELOAD", None)

SOURCE = Path(os.environ.get("TUTTI_SOURCE_FOLDER", Path(__file__).parents[2]))

#: Four hosts, a ring, two packs of float32: 1000 and 3001 elements.
SMALL = """# a remark
cluster {
  workers { machine: "cpu-host" count: 4 }
  network { kind: ONE_SWITCH latency_us: 5 }
}
workload {
  variable { name: "a" shape: 1000 }
  variable { name: "b" shape: 3001 }
  forward_ms: 0.01 backward_ms: 0.02
}
strategy { algorithm: "ring" bytes_per_pack: 4096 }
run { steps: 2 }
"""


@pytest.fixture
def small() -> tutti.Scenario:
    return tutti.parse(SMALL, path="small.textproto")


@pytest.fixture
def resnet() -> tutti.Scenario:
    return tutti.load(SOURCE / "scenarios" / "04_resnet50_ring.textproto")


@pytest.fixture
def source() -> Path:
    return SOURCE


def pytest_configure(config):
    config.addinivalue_line("markers", "starts_python: the test starts another interpreter")
