#!/usr/bin/env bash
# Sends 10,000 random events to windows with five kinds of documents, on a virtual display (Xvfb)
# and under AddressSanitizer. TUTTI_EVENTS_SEED selects other events. The last line of the log names
# the event at which a crash occurred.
#
#   tools/window_events.sh            # builds the preset asan first
#   tools/window_events.sh release    # another preset
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-asan}
groups=(build test window display)
case $preset in asan* | tsan) groups+=(dev) ;; esac # these presets use clang
tools/install_packages.sh "${groups[@]}"
cmake --preset "$preset" -DBUILD_TESTING=ON >/dev/null
cmake --build --preset "$preset" --target window_tests tutti
log=$(mktemp)
echo "events: $log"
LSAN_OPTIONS=suppressions=$PWD/tests/gui/dbus.lsan TUTTI_TEST_PLATFORM=xcb TUTTI_EVENTS=${TUTTI_EVENTS:-10000} TUTTI_EVENTS_LOG=$log \
    xvfb-run -a -s "-screen 0 1920x1080x24" \
    "build/$preset/tests/window_tests" --gtest_filter='RandomEvents.*'
