#pragma once

#include <memory>
#include <optional>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Replicas joined to one rank, the root: straight, or by a rank of every group of them, its relay. Groups are consecutive
/// replicas, `per_group` each; the last takes what is left.
///
/// Ranks 0 … replicas - 1 are the replicas; helpers (hosts) follow. The root is one of them or a helper. With relays, the
/// root is one of these or a helper that is none; a helper that is a relay is that of one group alone.
struct StarTree {
  std::int32_t ranks = 1;     ///< helpers included
  std::int32_t replicas = 1;  ///< that take part
  std::int32_t per_group = 1;
  std::int32_t groups = 1;
  Rank root = 0;
  /// That of group g is rank first + g · stride. Nothing: there are none.
  struct Relays {
    Rank first = 0;
    std::int32_t stride = 1;

    [[nodiscard]] Rank of(std::int32_t group) const { return first + group * stride; }
  };
  std::optional<Relays> relays = std::nullopt;
};

/// Every replica's data is added up at the root: those of a group at its relay first. In every rank that adds, one addition of all
/// that has come to it. Helpers that add have data buffers.
/// Time with one port per rank, G replicas per group with a helper as relay, W groups, the root another helper, N bytes:
/// α + G⌈N·β⌉ + ⌈(G - 1)·N·γ⌉ inside, then α + W⌈N·β⌉ + ⌈(W - 1)·N·γ⌉.
std::unique_ptr<Schedule> tree_reduce(StarTree tree, std::int64_t elements, Engine replica_engine,
                                      Engine helper_engine);

/// The root's data goes to all relays, and from these to the replicas of their groups; or straight to all replicas. With
/// `elements` 0 messages of nothing go the same way: all then know that the root is through.
std::unique_ptr<Schedule> tree_broadcast(StarTree tree, std::int64_t elements, Engine replica_engine,
                                         Engine helper_engine);

/// Each of the first `replicas` ranks copies its input to its place, out of place (`input_shift`, see Contract).
std::unique_ptr<Schedule> copy_inputs(std::int32_t ranks, std::int32_t replicas, std::int64_t elements,
                                      std::int64_t input_shift, Engine engine);

/// One rank multiplies its data by `factor`, unless that is 1, and then goes over it `passes` times: what is done to a variable
/// where it lies.
std::unique_ptr<Schedule> work_of_rank(std::int32_t ranks, Rank rank, std::int64_t elements, double factor,
                                       std::int32_t passes, Engine engine);

}  // namespace tutti::core
