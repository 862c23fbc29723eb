#!/bin/bash
# Regenerates scenarios/nccl_spread.csv from the tables in tools/nccl_fit/data, and prints the
# quality of calibrated predictions for systems that were left out of the fit
# (docs/validation/nccl-calibration.md).
#
#   tools/nccl_spread.sh [BUILD]
#
# BUILD: a build folder with bin/nccl_fit and bin/nccl_spread (default build/release).
set -euo pipefail
cd "$(dirname "$0")/.."

build="${1:-build/release}"
for program in nccl_fit nccl_spread; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "$build/bin/$program does not exist; build the target $program, or pass its build folder" >&2
    exit 2
  fi
done

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
gzip -dc tools/nccl_fit/data/tables.csv.gz > "$folder/tables.csv"
gzip -dc tools/nccl_fit/data/meta.json.gz > "$folder/meta.json"
"$build/bin/nccl_fit" "$folder/tables.csv" "$folder/meta.json" --leave-one-out --dump "$folder/rows.csv" > /dev/null
"$build/bin/nccl_spread" "$folder/rows.csv" -o scenarios/nccl_spread.csv
