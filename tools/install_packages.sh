#!/usr/bin/env bash
# Installs the missing packages of the given groups of tools/packages.txt. If none is missing, does
# nothing, and needs no root rights.
set -euo pipefail
cd "$(dirname "$0")"

packages=()
for group in "$@"; do
    mapfile -t -O "${#packages[@]}" packages < <(awk -v group="[$group]" '/^\[/ {on = $0 == group} on && /^[a-z]/' packages.txt)
done
if ((${#packages[@]} == 0)); then
    echo "install_packages.sh: no group of tools/packages.txt is called: $*" >&2
    exit 2
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ "$status" == installed ]] || missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

if ! command -v apt-get >/dev/null; then
    echo "this system has no apt-get; install the equivalents of these Debian packages: ${missing[*]}" >&2
    exit 1
fi
as_root=()
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "these packages are missing, and there is no sudo to install them with: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "installing: ${missing[*]}"
options=(-y --no-install-recommends -o DPkg::Lock::Timeout=300)
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "${missing[@]}" >/dev/null 2>&1 && exit 0
# The package lists may be outdated, or missing on a new machine.
"${as_root[@]}" apt-get update -o DPkg::Lock::Timeout=300 >/dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "${missing[@]}" >/dev/null
