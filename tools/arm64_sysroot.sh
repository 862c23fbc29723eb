#!/usr/bin/env bash
# Prepares a cross build of Tutti for arm64: makes FOLDER/sysroot with the arm64 libraries of Debian,
# FOLDER/toolchain.cmake, and FOLDER/run, which runs an arm64 program under qemu-user. The packages of
# this machine do not change: apt downloads the libraries with a state of its own in FOLDER/apt.
#
#   apt-get install --no-install-recommends g++-aarch64-linux-gnu qemu-user
#   tools/arm64_sysroot.sh build/arm64
#   cmake -S . -B build/arm64/release -G Ninja -DCMAKE_TOOLCHAIN_FILE=build/arm64/toolchain.cmake -DTUTTI_CUDA=OFF -DTUTTI_WINDOW=OFF -DBUILD_TESTING=OFF
#   cmake --build build/arm64/release --target tutti
#   build/arm64/run build/arm64/release/bin/tutti simulate scenarios/02_eight_hosts_ring.textproto
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?usage: tools/arm64_sysroot.sh FOLDER}"
folder=$(cd "$1" && pwd)

for program in aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v "$program" >/dev/null || { echo "$program is missing: apt-get install --no-install-recommends g++-aarch64-linux-gnu qemu-user" >&2; exit 1; }
done
[[ ! -e $folder/toolchain.cmake ]] || exit 0

# The libraries of the group [build] in tools/packages.txt, and the run-time libraries of the dynamic ones.
packages=(libboost1.74-dev libcli11-dev libeigen3-dev libexpected-dev rapidjson-dev libfmt-dev libfmt9 libnlopt-dev libnlopt0
    libnlopt-cxx-dev libnlopt-cxx0 libprotobuf-dev libprotobuf32 libpugixml-dev libpugixml1v5 libsqlite3-dev libsqlite3-0 libssl-dev
    libssl3 zlib1g-dev zlib1g)
mkdir -p "$folder"/apt/{lists,cache/archives}/partial "$folder"/{debs,sysroot}
cat >"$folder/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$folder/apt";
Dir::State::status "/dev/null";
Dir::Cache "$folder/apt/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
END
export APT_CONFIG=$folder/apt.conf
apt-get update >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
(cd "$folder/debs" && apt-get download "${packages[@]}") >>"$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 1; }
for package in "$folder"/debs/*.deb; do
    dpkg-deb -x "$package" "$folder/sysroot"
done
# Debian's zlib is not below /usr.
cp -a "$folder"/sysroot/lib/. "$folder/sysroot/usr/lib/"
# The compiler does not search Debian's folder of architecture-specific headers.
cp -r "$folder"/sysroot/usr/include/aarch64-linux-gnu/. "$folder/sysroot/usr/include/"
# This file refers to the headers of this machine.
sed -i "s|/usr/include|$folder/sysroot/usr/include|" "$folder/sysroot/usr/share/cmake/RapidJSON/RapidJSONConfig.cmake"

cat >"$folder/run" <<END
#!/bin/sh
exec qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$folder/sysroot/usr/lib/aarch64-linux-gnu "\$@"
END
chmod +x "$folder/run"
cat >"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH $folder/sysroot /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,$folder/sysroot/usr/lib/aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR $folder/run)
set(Protobuf_PROTOC_EXECUTABLE $(command -v protoc) CACHE FILEPATH "")
END
