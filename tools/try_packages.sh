#!/usr/bin/env bash
# tools/try_packages.sh FOLDER [MIRROR]
#
# Installs the packages in FOLDER (tutti_*.deb, tutti-dev_*.deb, and tutti-window_*.deb if it is
# there) on a bare Debian 12 in a chroot, and uses each part as the documentation says: the README's
# commands, manual pages, completion, the Python module and the programs of the notebooks, a program
# that finds the libraries with CMake, and one that finds them with pkg-config. Then removes the
# packages, and lists the files that they left behind. Needs root rights and the packages debootstrap
# and lintian. TRY_ROOT names a folder that is kept for the next call; by default, the chroot is
# temporary.
set -uo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath "${1:?usage: tools/try_packages.sh FOLDER [MIRROR]}")
mirror=${2:-http://deb.debian.org/debian}
compgen -G "$folder/tutti_*.deb" >/dev/null || { echo "$folder has no tutti_*.deb; cpack makes it (docs/packages.md)" >&2; exit 2; }
if ((EUID != 0)); then echo "try_packages.sh: a chroot needs root rights" >&2; exit 2; fi

# All mounts are in a mount namespace of this script, so none of them outlives it.
if [[ ${TRY_IN_NAMESPACE-} != yes ]]; then TRY_IN_NAMESPACE=yes exec unshare --mount --pid --fork "$source/tools/try_packages.sh" "$@"; fi
root=${TRY_ROOT:-$(mktemp -d)}
# Removes the chroot. If a folder of this machine is still mounted in it, nothing is removed.
remove_root() {
    local folder
    for folder in proc dev mnt/packages mnt/source; do umount -R "$root/$folder" 2>/dev/null; done
    if grep -q " $root/" /proc/self/mountinfo; then
        echo "try_packages.sh: $root is kept, because folders are still mounted in it" >&2
    else
        rm -rf --one-file-system "$root"
    fi
}
[[ ${TRY_ROOT-} ]] || trap 'remove_root' EXIT
if [[ ! -e $root/usr/bin/apt-get ]]; then debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null || exit 1; fi
mkdir -p "$root/mnt/packages" "$root/mnt/source"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
mount --bind "$folder" "$root/mnt/packages"
mount -o bind,ro "$source" "$root/mnt/source"

failures=0
home=/root # of the user of the chroot
# step WHAT COMMAND: runs a command in the chroot, and prints its output only if it fails.
step() {
    local output start=$SECONDS
    if output=$(chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -c "$2" 2>&1 </dev/null); then
        printf 'ok      %s (%d s)\n' "$1" $((SECONDS - start))
    else
        printf 'FAILED  %s\n%s\n' "$1" "$(tail -n 20 <<<"$output" | sed 's/^/        /')"
        failures=$((failures + 1))
    fi
}

if command -v lintian >/dev/null; then
    if output=$(lintian --fail-on error,warning "$folder"/tutti*.deb 2>&1); then echo "ok      lintian"; else
        printf 'FAILED  lintian\n%s\n' "$output"
        failures=$((failures + 1))
    fi
fi

step "apt-get update" "apt-get update"
# The chroot of an earlier call may have packages and files of that call.
step "remove earlier packages" "dpkg --purge tutti-window tutti-dev tutti && rm -rf /srv/try /srv/consumer"
step "install what the trial needs" "apt-get install -y --no-install-recommends man-db bash-completion fish jq less zsh"
chroot "$root" find / -xdev -path /proc -prune -o -path /mnt -prune -o -path '*tutti*' -print | sort >"$root/tmp/before"
step "install tutti" "apt-get install -y --no-install-recommends /mnt/packages/tutti_*.deb python3-numpy python3-pandas"

# The README's commands, in their order. Left out: commands that need a display, a terminal, or
# files of a cluster.
mapfile -t commands < <(sed -n 's/^    \(tutti .*\)$/\1/p' "$source/README.md" | sed 's/ *#.*//' |
    grep -Ev '^tutti (view|import)|^tutti init$|bert.textproto$' | awk '!seen[$0]++')
step "scenario of the README" "mkdir -p /srv/try && cp /usr/share/tutti/04_resnet50_ring.textproto /srv/try/mine.textproto"
for command in "${commands[@]}"; do step "$command" "set -o pipefail; cd /srv/try && $command"; done
step "tutti init, then simulate" "cd /srv/try && tutti init --model bert_large_tf --machine hgx-h100 --nodes 8 -o bert.textproto && tutti simulate bert.textproto"
step "manual pages" "man tutti | grep -q simulate && man tutti-sweep | grep -q -- --over"
for shell in bash zsh fish; do
    step "completion by Tab in $shell" "python3 /mnt/source/tests/tools/tab_test.py $shell /usr/bin/tutti --installed"
done
step "JSON Schemas" "cd /srv/try && jq -e .properties.step_time_us /usr/share/tutti/schema/simulate.schema.json"
step "Python: a result as a data frame" "cd /srv/try && python3 -c 'import tutti; print(tutti.load(\"mine.textproto\").simulate(timeline=True).packs.to_pandas().describe())'"
step "Python: a tuned bucket" "cd /srv/try && python3 -c 'import tutti; print(tutti.load(\"mine.textproto\").tune(evaluations=12).best_settings)'"
for notebook in tuning_buckets own_algorithm calibrating; do
    step "the program of the notebook $notebook" "cd /srv/try && python3 /usr/share/doc/tutti/docs/notebooks/$notebook.py"
done

if compgen -G "$folder/tutti-dev_*.deb" >/dev/null; then
    step "install tutti-dev" "apt-get install -y --no-install-recommends /mnt/packages/tutti-dev_*.deb g++ cmake make pkg-config"
    mkdir -p "$root/srv/consumer"
    cat >"$root/srv/consumer/main.cpp" <<'CODE'
#include <cstdio>

#include "core/scenario/library.h"
#include "core/scenario/library_folder.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"

int main(int, char** arguments) {
  const tutti::core::Library library(tutti::core::library_folder());
  const auto scenario = tutti::core::load_scenario(arguments[1], library);
  if (!scenario) return std::fprintf(stderr, "%s\n", scenario.error().message().c_str()), 1;
  tutti::core::Summary summary;
  tutti::sim::Simulator simulator;
  if (!simulator.run(*scenario, {}, {}, summary)) return 1;
  std::printf("%.6f\n", tutti::core::to_us(summary.step_time()));
}
CODE
    cat >"$root/srv/consumer/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(Tutti REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE Tutti::core Tutti::sim)
CODE
    same='[[ $(./consumer /srv/try/mine.textproto) == $(tutti simulate /srv/try/mine.textproto --format json | jq .step_time_us | xargs printf %.6f) ]]'
    step "a program with find_package(Tutti)" "cd /srv/consumer && cmake . && make && $same"
    step "a program with pkg-config" "cd /srv/consumer && g++ -std=c++20 main.cpp -o consumer \$(pkg-config --cflags --libs tutti) && $same"
fi
if compgen -G "$folder/tutti-window_*.deb" >/dev/null; then
    step "without tutti-window, tutti view names the package" "tutti view /srv/try/mine.tutti 2>&1 | grep -q 'install the package tutti-window'"
    step "install tutti-window" "apt-get install -y --no-install-recommends /mnt/packages/tutti-window_*.deb xvfb xauth desktop-file-utils file"
    # With --foreground, the window gets one signal. A second one would end it before it removes its
    # temporary files.
    step "the window opens a timeline on a display" "cd /srv/try && xvfb-run -a sh -c 'timeout --foreground 10 tutti view mine.tutti; echo \$? >status'; [[ \$(<status) == 124 ]]"
    step "Python: the window of a result" "cd /srv/try && xvfb-run -a python3 -c 'import tutti; w = tutti.load(\"mine.textproto\").simulate(timeline=True).view(); assert w.is_open; w.close(); assert not w.is_open'"
    step "a picture of the window" "cd /srv/try && xvfb-run -a tutti view mine.tutti --screenshot window.png && file window.png | grep -q 'PNG image data, [0-9]* x [0-9]*' && (( \$(stat -c %s window.png) > 20000 ))"
    step "the entry of the desktop menu" "desktop-file-validate /usr/share/applications/tutti-view.desktop && test -s /usr/share/icons/hicolor/scalable/apps/tutti.svg"
    step "timelines, sweeps and scenarios open in the window" "for kind in timeline sweep scenario; do grep -q :application/x-tutti-\$kind: /usr/share/mime/globs2 && grep -q ^application/x-tutti-\$kind=tutti-view.desktop /usr/share/applications/mimeinfo.cache || exit 1; done"
fi

step "remove" "apt-get purge -y 'tutti*'"
# man keeps the pages that it has formatted, and removes them in its own time. The settings of the
# window belong to the user, so packages do not remove them.
left=$(chroot "$root" find / -xdev -path /proc -prune -o -path /mnt -prune -o -path /var/cache/man -prune -o -path "$home/.config/tutti" -prune -o -path '*tutti*' -print | sort |
    comm -13 "$root/tmp/before" - | grep -v '^/srv/')
if [[ $left ]]; then
    printf 'FAILED  files that were left behind\n%s\n' "$left"
    failures=$((failures + 1))
else
    echo "ok      no file was left behind"
fi
echo "$failures steps failed"
((failures == 0))
