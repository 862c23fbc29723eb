#pragma once

#include <memory>
#include <optional>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// A tree that connects replicas to a root rank, either directly or through one relay per group of
/// replicas. A group consists of `per_group` consecutive replicas; the last group has the
/// remainder.
///
/// Ranks 0 … replicas - 1 are the replicas; helpers (hosts) follow. The root is a replica or a
/// helper. If there are relays, the root is either a relay or a helper that is not a relay. A
/// helper is the relay of at most one group.
struct StarTree {
  std::int32_t ranks = 1;     ///< number of ranks, including helpers
  std::int32_t replicas = 1;  ///< number of replicas that participate
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

/// Returns a schedule that sums the data of all replicas at the root. If there are relays, each
/// relay first sums the data of its group. A rank waits for all its messages and then sums them in
/// a single step. Helpers that add data have data buffers. Time with one port per rank, N bytes and
/// W groups of G replicas, if relays and root are different helpers: α + G⌈N·β⌉ + ⌈(G - 1)·N·γ⌉ to
/// the relays, then α + W⌈N·β⌉ + ⌈(W - 1)·N·γ⌉ to the root. α is the latency of a message; β and γ
/// are the times to send and to add a byte.
std::unique_ptr<Schedule> tree_reduce(StarTree tree, std::int64_t elements, Engine replica_engine,
                                      Engine helper_engine);

/// Returns a schedule that sends the root's data to all relays, and from each relay to the replicas
/// of its group. If there are no relays, the root sends directly to all replicas. If `elements` is
/// 0, the messages are empty and only signal that the root is done.
std::unique_ptr<Schedule> tree_broadcast(StarTree tree, std::int64_t elements,
                                         Engine replica_engine, Engine helper_engine);

/// Returns a schedule in which each of the first `replicas` ranks copies its out-of-place input to
/// the in-place position (`input_shift`, see Contract).
std::unique_ptr<Schedule> copy_inputs(std::int32_t ranks, std::int32_t replicas,
                                      std::int64_t elements, std::int64_t input_shift,
                                      Engine engine);

/// Returns a schedule that models the update of a variable on the device that stores it. The
/// device, `rank`, multiplies its data by `factor` unless `factor` is 1, and is then busy for as
/// long as it takes to read or write the data `passes` times.
std::unique_ptr<Schedule> work_of_rank(std::int32_t ranks, Rank rank, std::int64_t elements,
                                       double factor, std::int32_t passes, Engine engine);

}  // namespace tutti::core
