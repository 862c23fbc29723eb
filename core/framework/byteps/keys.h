#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// The hash function by which BytePS assigns partitions to servers (BYTEPS_KEY_HASH_FN).
enum class KeyHash : std::uint8_t { kDjb2, kNaive, kBuiltIn, kSdbm };
/// Returns BytePS's name of a hash function: "djb2", "naive", "built_in" or "sdbm".
std::string_view to_string(KeyHash hash);

/// Returns the key of a tensor's partition. Tensors are numbered in the order in which they were
/// declared.
/// SOURCE: byteps/common/operations.cc, InitTensor.
constexpr std::uint64_t byteps_key(std::uint64_t tensor, std::uint64_t partition) {
  return (tensor << 16) + partition;
}

/// Returns the hash of a key. The index of the partition's server is the hash modulo the number of
/// servers. SOURCE: byteps/common/global.cc, Hash_Naive, Hash_BuiltIn (with coefficient 1),
/// Hash_DJB2, Hash_SDBM, EncodeDefaultKey.
std::uint64_t byteps_hash(KeyHash hash, std::uint64_t key);

}  // namespace tutti::core
