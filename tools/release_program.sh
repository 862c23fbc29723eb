# To be sourced in the repository's folder. Sets `program` to $TUTTI, or else builds tutti with the
# release preset, and sets `program` to it.
program=${TUTTI:-build/release/bin/tutti}
if [[ -z ${TUTTI:-} ]]; then
    cmake --preset release >/dev/null
    cmake --build --preset release --target tutti >/dev/null
fi
