#pragma once

#include <memory>
#include <optional>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// A tree that connects replicas to a root rank: directly, or through one relay per group of
/// replicas. Groups are `per_group` consecutive replicas each; the last has the remainder.
///
/// Ranks 0 … replicas - 1 are the replicas; helpers (hosts) follow. The root is a replica or a
/// helper. If there are relays, the root is one of them or a helper that is not a relay. A helper
/// can be the relay of only one group.
struct StarTree {
  std::int32_t ranks = 1;     ///< number of ranks, helpers included
  std::int32_t replicas = 1;  ///< number of replicas that take part
  std::int32_t per_group = 1;
  std::int32_t groups = 1;
  Rank root = 0;
  /// The relay of group g is rank first + g · stride. nullopt: no relays.
  struct Relays {
    Rank first = 0;
    std::int32_t stride = 1;

    [[nodiscard]] Rank of(std::int32_t group) const { return first + group * stride; }
  };
  std::optional<Relays> relays = std::nullopt;
};

/// Adds the data of all replicas at the root, that of a group at its relay first. Each rank that
/// adds does so in a single addition of everything it has received. Helpers that add have data
/// buffers.
/// Time with one port per rank, G replicas per group with a helper as relay, W groups, the root
/// another helper, N bytes: α + G⌈N·β⌉ + ⌈(G - 1)·N·γ⌉ inside, then α + W⌈N·β⌉ + ⌈(W - 1)·N·γ⌉.
std::unique_ptr<Schedule> tree_reduce(StarTree tree, std::int64_t elements, Engine replica_engine,
                                      Engine helper_engine);

/// Sends the root's data to all relays, and from these to the replicas of their groups; or directly
/// to all replicas. With `elements` 0 the messages are empty: they signal to all that the root is
/// done.
std::unique_ptr<Schedule> tree_broadcast(StarTree tree, std::int64_t elements,
                                         Engine replica_engine, Engine helper_engine);

/// Each of the first `replicas` ranks copies its input to its place, out of place (`input_shift`,
/// see Contract).
std::unique_ptr<Schedule> copy_inputs(std::int32_t ranks, std::int32_t replicas,
                                      std::int64_t elements, std::int64_t input_shift,
                                      Engine engine);

/// One rank multiplies its data by `factor`, unless that is 1, and then makes `passes` passes over
/// it: models the update of a variable where it is stored.
std::unique_ptr<Schedule> work_of_rank(std::int32_t ranks, Rank rank, std::int64_t elements,
                                       double factor, std::int32_t passes, Engine engine);

}  // namespace tutti::core
