#!/usr/bin/env bash
# Compares Tutti's all-reduce with those of Open MPI, MPICH and Gloo on this machine, over TCP and
# over shared memory (Gloo: only TCP).
#
#   tools/bench_peers.sh                   2, 4 and 8 ranks, 4 B to 64 MiB
#   tools/bench_peers.sh --ranks 2 --most 1M --passes 3
#
# Takes about an hour with 8 cores. With fewer cores, leave out MPICH (--peers "Open MPI" Gloo).
# First tries all algorithms of every implementation. Then measures the best algorithm of each
# implementation per size, in interleaved order. Prints Markdown tables; --raw FILE stores all
# measurements.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build test peers
cmake --preset release >build/bench_peers.log
cmake --build --preset release --target tutti >>build/bench_peers.log
for mpi in openmpi mpich; do
    mpicc.$mpi -O2 -Wall -Wextra -o build/release/all_reduce.$mpi tests/bench/peers/mpi_all_reduce.c -lm
done
# Gloo's reductions are in its headers, so they are compiled here, with full optimization for this
# machine.
g++ -std=c++17 -O3 -march=native -Wall -Wextra -Wno-sign-compare -o build/release/all_reduce.gloo \
    tests/bench/peers/gloo_all_reduce.cpp -lgloo
exec python3 tests/bench/peers/side_by_side.py --programs build/release "$@"
