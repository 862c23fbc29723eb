#!/usr/bin/env bash
# Runs all checks for a machine with GPUs; one GPU is enough. Prints the result of each check, and
# stores its output. Exit status 1 if a check failed or was skipped.
#
#   tools/gpu_check.sh [--build FOLDER] [--logs FOLDER]
#
# --build: the folder of an existing build, with its bin, lib and tests folders; otherwise this
# script builds build/release.
set -uo pipefail
cd "$(dirname "$0")/.."

build=""
logs=gpu_check
while (($#)); do
    case "$1" in
        --build) build=$2; shift 2 ;;
        --logs) logs=$2; shift 2 ;;
        *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done
mkdir -p "$logs"
failed=0
number=0

# check NAME COMMAND…: runs the command, and writes its output to a file named after NAME.
check() {
    local name=$1 log begin
    shift
    number=$((number + 1))
    log=$(printf '%s/%02d_%s.log' "$logs" $number "${name//[^a-zA-Z0-9]/_}")
    begin=$SECONDS
    printf '$ %s\n' "$*" >"$log"
    if timeout 900 "$@" >>"$log" 2>&1; then
        printf 'ok      %4d s  %s\n' $((SECONDS - begin)) "$name"
    else
        printf 'FAILED  %4d s  %s (status %d, %s)\n' $((SECONDS - begin)) "$name" $? "$log"
        tail -5 "$log" | sed 's/^/        /'
        failed=1
    fi
}

# A skipped test counts as a failure, since all of these tests have to run here.
tests() {
    "$build/tests/real_tests" --gtest_filter="$1" | tee "$logs/tests.tmp"
    local status=${PIPESTATUS[0]}
    ! grep -q 'SKIPPED' "$logs/tests.tmp" && return "$status"
}

if ! nvidia-smi -L >"$logs/gpus.log" 2>&1 || ! grep -q '^GPU' "$logs/gpus.log"; then
    echo "gpu_check: no GPU here (nvidia-smi -L lists none); nothing was checked" >&2
    exit 1
fi
nvidia-smi --query-gpu=index,name,driver_version,memory.total,compute_cap --format=csv | tee "$logs/machine.log"
gpus=$(grep -c '^GPU' "$logs/gpus.log")

if [[ -z $build ]]; then
    build=build/release
    check "configure" cmake --preset release -DBUILD_TESTING=ON
    check "build" cmake --build --preset release
fi
tutti=$build/bin/tutti

# scenario ALGORITHM WORKERS GPUS [MORE]: prints a scenario whose gradients have odd sizes and four
# data types.
scenario() {
    cat <<END
cluster {
  workers { machine: "m" count: $2 }
  network { kind: ONE_SWITCH latency_us: 1 }
  machine {
    name: "m"
    device { name: "gpu[0-$(($3 - 1))]" kind: GPU memory_gb_per_s: 1000 }
    device { name: "cpu0" kind: CPU memory_gb_per_s: 50 }
    nic { name: "nic0" bandwidth_gb_per_s: 10 }
    switch { name: "plx" kind: PCIE_SWITCH }
    link { from: "gpu[0-$(($3 - 1))]" to: "plx" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }
    link { from: "plx" to: "cpu0" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }
    link { from: "plx" to: "nic0" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }
  }
}
workload {
  variable { name: "a" shape: [1000, 1001] }
  variable { name: "b" shape: 700001 data_type: BFLOAT16 }
  variable { name: "c" shape: 33333 data_type: INT64 }
  variable { name: "d" shape: 500009 data_type: FLOAT16 }
  variable { name: "e" shape: 7 data_type: INT32 }
  forward_ms: 5
  backward_ms: 10
}
strategy { algorithm: "$1" ${4:-} }
run { steps: 3 }
END
}

# run_scenario BACKEND ALGORITHM WORKERS GPUS [MORE]
run_scenario() {
    local file="$logs/${2//\//_}_$3x$4_${1}.textproto"
    scenario "$2" "$3" "$4" "${5:-}" >"$file"
    check "$1: $2, $3 workers x $4 GPUs ${5:-}" "$tutti" run "$file" --backend "$1" --timeout-seconds 60
}

check "kernels and devices against the host" tests '*OnGpus*/Real'
check "NCCL's collectives" tests '*NcclCalls*/Real'
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        check "compute-sanitizer $tool: kernels" compute-sanitizer --tool "$tool" --error-exitcode 3 \
            "$build/tests/real_tests" --gtest_filter='*OnGpus.Kernels*/Real:*OnGpus.Buffers*/Real:*OnGpus.Computation*/Real'
    done
    scenario "pscpu" 2 1 >"$logs/sanitized.textproto"
    check "compute-sanitizer memcheck: a run of two processes" compute-sanitizer --target-processes all \
        --error-exitcode 3 "$tutti" run "$logs/sanitized.textproto" --backend cuda --timeout-seconds 600
else
    echo "FAILED          compute-sanitizer is not on the PATH"
    failed=1
fi

# If there are fewer GPUs than ranks, ranks share them: ranks of one process, and ranks of several
# processes.
for algorithm in ring halving_doubling recursive_doubling double_tree pscpu psgpu nccl nccl/ring nccl/pscpu nccl/halving_doubling nccl/recursive_doubling nccl/double_tree pscpu/pscpu; do
    run_scenario cuda "$algorithm" 2 2
done
run_scenario cuda ring 1 4 "reduction: MEAN"
run_scenario cuda ring 4 1 "reduction: MAX"
run_scenario cuda nccl 2 2 "launch: CONCURRENT"

# Runs one communicator over all GPUs. Then runs processes that share a GPU; NCCL treats each of them
# as a separate host.
run_scenario nccl nccl 1 "$gpus"
run_scenario nccl nccl 1 "$gpus" "reduction: MEAN launch: CONCURRENT"
run_scenario nccl nccl 2 1
run_scenario nccl nccl 4 1 "reduction: MAX"
for algorithm in nccl/ring nccl/halving_doubling nccl/recursive_doubling nccl/double_tree nccl/pscpu; do
    run_scenario nccl "$algorithm" 2 1
    if ((gpus > 1)); then run_scenario nccl "$algorithm" 2 2; fi
done

# The timeline contains the channels that NCCL's profiler reports.
channels() {
    scenario nccl 2 1 >"$logs/channels.textproto"
    "$tutti" run "$logs/channels.textproto" --backend nccl --timeout-seconds 60 --timeline "$logs/channels.tutti" &&
        "$tutti" export "$logs/channels.tutti" --to csv -o "$logs/channels.csv" &&
        grep -m1 'NCCL channel' "$logs/channels.csv"
}
check "NCCL's channels" channels

scenario ring 1 2 >"$logs/perf_ring.textproto"
check "perf --backend cuda" "$tutti" perf "$logs/perf_ring.textproto" --backend cuda -b 4K -e 64M -f 8
scenario nccl 1 "$gpus" >"$logs/perf_nccl.textproto"
check "perf --backend nccl" "$tutti" perf "$logs/perf_nccl.textproto" --backend nccl -b 4K -e 256M -f 8
scenario nccl 3 1 >"$logs/perf_nccl_3.textproto"
for collective in reduce_scatter all_gather broadcast reduce alltoall gather scatter sendrecv; do
    check "perf --backend nccl, $collective" "$tutti" perf "$logs/perf_nccl_3.textproto" --backend nccl --collective $collective \
        -b 4K -e 16M -f 64
done

# If a rank stops, the run must end in time instead of hanging.
stopped() {
    scenario nccl 2 1 >"$logs/stopped.textproto"
    "$tutti" run "$logs/stopped.textproto" --backend nccl --timeout-seconds 5 --steps 1000 &
    local run=$!
    sleep 10
    local worker
    worker=$(pgrep -P $run -f 'worker' | head -1)
    if [[ -n $worker ]]; then kill -STOP "$worker"; fi
    wait $run
    [[ $? -eq 1 ]]
}
export -f stopped scenario
export tutti logs
check "a stopped rank ends the run" bash -c stopped

rm -f "$logs/tests.tmp"
if ((failed)); then
    echo "gpu_check: at least one check failed or was skipped; outputs are in $logs" >&2
    exit 1
fi
echo "gpu_check: all checks passed; outputs are in $logs"
