# To be sourced, in the repository's folder. Sets `program`: $TUTTI, or tutti as a release build has it now.
program=${TUTTI:-build/release/bin/tutti}
if [[ -z ${TUTTI:-} ]]; then
    cmake --preset release >/dev/null
    cmake --build --preset release --target tutti >/dev/null
fi
