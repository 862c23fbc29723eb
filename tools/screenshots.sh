#!/usr/bin/env bash
# Makes pictures of the window from shipped scenarios. Needs no display.
#
#   tools/screenshots.sh                   # the pictures in README and docs
#   tools/screenshots.sh --review FOLDER   # every view in three sizes and both themes, to look at
#
# TUTTI_BUILD=build/ci takes the programs from that folder instead of building the preset release.
set -euo pipefail
cd "$(dirname "$0")/.."

review=""
if [[ ${1:-} == --review ]]; then
    review=${2:?name the folder for the pictures}
    mkdir -p "$review"
elif [[ $# -gt 0 ]]; then
    echo "usage: tools/screenshots.sh [--review FOLDER]" >&2
    exit 2
fi
build=${TUTTI_BUILD:-}
if [[ -z $build ]]; then
    build=build/release
    tools/install_packages.sh build window
    cmake --preset release >/dev/null
    cmake --build --preset release --target tutti tutti-view >/dev/null
fi
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
tutti=$build/bin/tutti
ring=scenarios/04_resnet50_ring.textproto
query="SELECT sender, receiver, count(*) AS messages,
  sum(bytes) AS bytes, max(gb_per_s) AS fastest
FROM messages GROUP BY sender, receiver"

"$tutti" simulate $ring --record steps --timeline "$work/resnet50_ring.tutti" >/dev/null
"$tutti" sweep $ring --over 'strategy.bytes_per_pack=1MiB..128MiB*1.4142' \
    --over strategy.algorithm=ring,nccl,psgpu,nccl/ring,halving_doubling -o "$work/packs.sweep" >/dev/null
"$tutti" run $ring --emulate --timeline "$work/real.tutti" >/dev/null    # a minute or two
# Emulated devices do not slow each other down, so this simulation has no interference.
"$tutti" simulate $ring --interference off --record steps --timeline "$work/predicted.tutti" >/dev/null

review_pictures() {
    "$tutti" simulate scenarios/17_parameter_server.textproto --timeline "$work/servers.tutti" >/dev/null
    "$tutti" simulate scenarios/09_fat_tree.textproto --timeline "$work/fat_tree.tutti" >/dev/null
    "$tutti" import tests/data/traces/kineto_rank0.json -o "$work/trace.tutti" >/dev/null
    printf 'cluster {\n  workers { machine: "dgx1-v10" count: 2 }\n}\n' >"$work/wrong.textproto"
    local look name scale size dark
    # The arguments of each view; the first word is the name of its pictures.
    picture() {
        name=$1
        shift
        QT_SCALE_FACTOR=$scale "$tutti" view "$@" --size "$size" $dark \
            --screenshot "$review/${name}_${size}${dark:+_dark}$([[ $scale == 1 ]] || echo "_x$scale").png"
    }
    for look in "1 1280x720" "1 1920x1080" "2 1280x720"; do
        read -r scale size <<<"$look"
        for dark in "" --dark; do
            picture welcome
            picture editor $ring
            picture editor_problems "$work/wrong.textproto"
            picture running $ring --command run
            picture run $ring --run
            picture timeline "$work/resnet50_ring.tutti"
            picture critical_path "$work/resnet50_ring.tutti" --from-us 230000 --command path
            picture arrows "$work/fat_tree.tutti" --from-us 60000 --to-us 100000
            picture topology "$work/resnet50_ring.tutti" --from-us 230000 --to-us 349000 --at-us 293000 --device w0/gpu3
            picture details "$work/resnet50_ring.tutti" --find "receive-send gpu1"
            picture found "$work/resnet50_ring.tutti" --find "receive-send" --panel found
            picture marks "$work/resnet50_ring.tutti" --panel marks
            picture matrix "$work/resnet50_ring.tutti" --panel communication
            picture query "$work/resnet50_ring.tutti" --query "$query"
            picture numbers "$work/resnet50_ring.tutti" --panel numbers --command numbers-by-device
            picture without_topology "$work/resnet50_ring.tutti" --command topology
            picture many_rows "$work/servers.tutti"
            picture trace "$work/trace.tutti"
            picture comparison "$work/predicted.tutti" "$work/real.tutti" --error 1
            picture sweep "$work/packs.sweep"
            picture sweep_form $ring --command sweep
            for dialog in help palette about; do
                picture dialog_$dialog "$work/resnet50_ring.tutti" --command $dialog
            done
            picture dialog_open --command open
        done
    done
}

docs_pictures() {
    local pictures=docs/pictures
    "$tutti" view "$work/resnet50_ring.tutti" --screenshot $pictures/window.png --size 1400x800
    "$tutti" view "$work/resnet50_ring.tutti" --screenshot $pictures/window_dark.png --size 1400x800 --dark
    "$tutti" view "$work/resnet50_ring.tutti" --screenshot $pictures/topology.png --size 1400x900 --from-us 230000 --to-us 349000 \
        --at-us 293000 --device w0/gpu3
    "$tutti" view "$work/resnet50_ring.tutti" --screenshot $pictures/communication.png --size 1400x900 --panel communication
    "$tutti" view "$work/resnet50_ring.tutti" --screenshot $pictures/query.png --size 1400x900 --query "$query"
    "$tutti" view $ring --screenshot $pictures/scenario.png --size 1400x800
    "$tutti" view $ring --run --screenshot $pictures/scenario_run_dark.png --size 1400x800 --dark
    "$tutti" view "$work/packs.sweep" --screenshot $pictures/sweep.png --size 1200x700
    "$tutti" view "$work/packs.sweep" --screenshot $pictures/sweep_dark.png --size 1200x700 --dark
    "$tutti" view --screenshot $pictures/examples.png --size 1400x800
    "$tutti" simulate --unproved scenarios/algorithms/four_nodes.textproto --set strategy.custom.file=wrong_ring \
        --set cluster.workers.count=1 --timeline "$work/wrong.tutti" >/dev/null
    "$tutti" view "$work/wrong.tutti" --screenshot $pictures/wrong_ring.png --size 1400x700 --at-us 590.955 --device w0/gpu0
    local dark
    for dark in "" --dark; do
        "$tutti" view "$work/predicted.tutti" "$work/real.tutti" --error 1 --size 1400x900 $dark \
            --screenshot "$pictures/compared${dark:+_dark}.png"
    done
}

if [[ $review ]]; then review_pictures; else docs_pictures; fi
