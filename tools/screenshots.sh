#!/usr/bin/env bash
# Regenerates the pictures of the window in README and docs from shipped scenarios. Needs no
# display.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build window
cmake --preset release >/dev/null
cmake --build --preset release --target tutti tutti-view >/dev/null
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
tutti=build/release/bin/tutti
"$tutti" simulate scenarios/04_resnet50_ring.textproto --record steps --timeline "$work/resnet50_ring.tutti" >/dev/null
"$tutti" view "$work/resnet50_ring.tutti" --screenshot docs/pictures/window.png --size 1400x800
"$tutti" view "$work/resnet50_ring.tutti" --screenshot docs/pictures/window_dark.png --size 1400x800 --dark
"$tutti" view "$work/resnet50_ring.tutti" --screenshot docs/pictures/topology.png --size 1400x900 --from-us 230000 --to-us 349000 \
    --at-us 293000 --device w0/gpu3
"$tutti" view "$work/resnet50_ring.tutti" --screenshot docs/pictures/communication.png --size 1400x900 --panel communication
"$tutti" view "$work/resnet50_ring.tutti" --screenshot docs/pictures/query.png --size 1400x900 --query "SELECT sender, receiver, count(*) AS messages,
  sum(bytes) AS bytes, max(gb_per_s) AS fastest
FROM messages GROUP BY sender, receiver"
"$tutti" view scenarios/04_resnet50_ring.textproto --screenshot docs/pictures/scenario.png --size 1400x800
"$tutti" view scenarios/04_resnet50_ring.textproto --run --screenshot docs/pictures/scenario_run_dark.png --size 1400x800 --dark
"$tutti" sweep scenarios/04_resnet50_ring.textproto --over 'strategy.bytes_per_pack=1MiB..128MiB*1.4142' \
    --over strategy.algorithm=ring,nccl,psgpu,nccl/ring,halving_doubling -o "$work/packs.sweep" >/dev/null
"$tutti" view "$work/packs.sweep" --screenshot docs/pictures/sweep.png --size 1200x700
"$tutti" view "$work/packs.sweep" --screenshot docs/pictures/sweep_dark.png --size 1200x700 --dark
"$tutti" view --screenshot docs/pictures/examples.png --size 1400x800
"$tutti" run scenarios/04_resnet50_ring.textproto --emulate --timeline "$work/real.tutti" >/dev/null    # a minute or two
# Emulated devices do not slow each other down, so this simulation has no interference.
"$tutti" simulate scenarios/04_resnet50_ring.textproto --interference off --record steps --timeline "$work/predicted.tutti" >/dev/null
"$tutti" simulate --unproved scenarios/algorithms/four_nodes.textproto --set strategy.custom.file=wrong_ring \
    --set cluster.workers.count=1 --timeline "$work/wrong.tutti" >/dev/null
"$tutti" view "$work/wrong.tutti" --screenshot docs/pictures/wrong_ring.png --size 1400x700 --at-us 590.955 --device w0/gpu0
for dark in "" --dark; do
    "$tutti" view "$work/predicted.tutti" "$work/real.tutti" --error 1 --size 1400x900 $dark \
        --screenshot "docs/pictures/compared${dark:+_dark}.png"
done
