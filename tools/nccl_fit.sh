#!/bin/bash
# Regenerates scenarios/nccl_time.csv and scenarios/nccl_error.csv from the tables in
# tools/nccl_fit/data, and prints the errors of predictions for systems that were left out of the
# fit.
#
#   tools/nccl_fit.sh [--check] [BUILD]
#
# BUILD: a build folder with bin/nccl_fit (default build/release). --check: changes no file, and
# fails if the regenerated files differ from the existing ones in any byte.
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
if [ "${1:-}" = --check ]; then
  check=true
  shift
fi
fit="${1:-build/release}/bin/nccl_fit"
if [ ! -x "$fit" ]; then
  echo "$fit does not exist; build the target nccl_fit, or pass its build folder" >&2
  exit 2
fi

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
gzip -dc tools/nccl_fit/data/tables.csv.gz > "$folder/tables.csv"
gzip -dc tools/nccl_fit/data/meta.json.gz > "$folder/meta.json"
"$fit" "$folder/tables.csv" "$folder/meta.json" -o "$folder/nccl_time.csv" --leave-one-out --bands "$folder/nccl_error.csv"

for name in nccl_time.csv nccl_error.csv; do
  if $check; then
    cmp "$folder/$name" "scenarios/$name"
  else
    cp "$folder/$name" "scenarios/$name"
  fi
done
