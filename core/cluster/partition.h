#pragma once

#include <cstdint>

namespace tutti::core {

/// A partition of the replicas 0 … n - 1 into groups of equal size. Every size · stride consecutive
/// replicas form a block, and in a block, replicas whose numbers differ by multiples of `stride`
/// form a group. The partition across() is the transpose: each of its groups has one replica of
/// each original group, and these replicas have the same rank in their original groups. For
/// example, with 16 replicas, size 4 and stride 1, the groups are {0 1 2 3}, {4 5 6 7}, …, and the
/// groups of across() are {0 4 8 12}, {1 5 9 13}, ….
struct Partition {
  std::int64_t replicas = 1;
  std::int64_t size = 1;  ///< REQUIRES: size · stride divides `replicas`
  std::int64_t stride = 1;
  bool is_across = false;

  struct Place {
    std::int64_t group = 0;
    std::int64_t rank = 0;
  };

  [[nodiscard]] Partition across() const { return {replicas, size, stride, !is_across}; }
  [[nodiscard]] std::int64_t group_size() const { return is_across ? replicas / size : size; }
  [[nodiscard]] std::int64_t groups() const { return replicas / group_size(); }

  [[nodiscard]] Place place(std::int64_t replica) const {
    const std::int64_t group = replica / (size * stride) * stride + replica % stride;
    const std::int64_t rank = replica % (size * stride) / stride;
    return is_across ? Place{rank, group} : Place{group, rank};
  }
  [[nodiscard]] std::int64_t replica(Place place) const {
    const std::int64_t group = is_across ? place.rank : place.group;
    const std::int64_t rank = is_across ? place.group : place.rank;
    return group / stride * size * stride + rank * stride + group % stride;
  }
  /// The number of replicas that a group has on each of its workers, if this number is the same for
  /// all groups and workers; otherwise, the result is 1. The result is also 1 for some partitions
  /// made by across() in which a worker contains a part of a block.
  [[nodiscard]] std::int64_t per_worker(std::int64_t replicas_per_worker) const {
    const std::int64_t block = size * stride;
    if (is_across) {
      if (replicas_per_worker % block == 0) return replicas_per_worker / size;
      return block % replicas_per_worker == 0 && stride % replicas_per_worker == 0
                 ? replicas_per_worker
                 : 1;
    }
    if (replicas_per_worker % block == 0) return size;
    return replicas_per_worker % stride == 0 && block % replicas_per_worker == 0
               ? replicas_per_worker / stride
               : 1;
  }

  bool operator==(const Partition&) const = default;
};

}  // namespace tutti::core
