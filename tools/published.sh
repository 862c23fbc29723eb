#!/usr/bin/env bash
# Predicts published training speeds from descriptions of their hardware, and prints docs/published.md: what was measured and
# what is predicted side by side, errors, and how often the order of settings comes out as measured. Takes a minute.
#
#   tools/published.sh > docs/published.md
#   tools/published.sh --only ddp
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build >&2
cmake --preset release >/dev/null
cmake --build --preset release --target tutti >/dev/null
exec python3 tools/published/predict.py --program build/release/bin/tutti "$@"
