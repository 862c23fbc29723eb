#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// The hash function that assigns partitions to servers in BytePS (BYTEPS_KEY_HASH_FN).
enum class KeyHash : std::uint8_t { kDjb2, kNaive, kBuiltIn, kSdbm };
/// Returns the name of a hash function in BytePS: "djb2", "naive", "built_in" or "sdbm".
std::string_view to_string(KeyHash hash);

/// Returns the key of a partition of a tensor. `tensor` is the index of the tensor in the order in
/// which tensors were declared.
/// SOURCE: byteps/common/operations.cc, InitTensor.
constexpr std::uint64_t byteps_key(std::uint64_t tensor, std::uint64_t partition) {
  return (tensor << 16) + partition;
}

/// Returns the hash of a key. The server's index is this hash modulo the number of servers. SOURCE:
/// byteps/common/global.cc, Hash_Naive, Hash_BuiltIn (with coefficient 1), Hash_DJB2, Hash_SDBM,
/// EncodeDefaultKey.
std::uint64_t byteps_hash(KeyHash hash, std::uint64_t key);

}  // namespace tutti::core
