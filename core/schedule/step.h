#pragma once

#include <cstdint>

namespace tutti::core {

/// The index of a device in the group of a collective, from 0.
using Rank = std::int32_t;
/// The index of a lane of steps within a rank, from 0.
using Lane = std::int32_t;

enum class Buffer : std::uint8_t {
  kData,     ///< the buffer of the collective: contains the rank's input at the start and its
             ///< output at the end
  kScratch,  ///< temporary buffer of the schedule; its content is undefined at the start
};

/// A range of `count` consecutive elements of a buffer, beginning at element `offset`.
struct Range {
  Buffer buffer = Buffer::kData;
  std::int64_t offset = 0;
  std::int64_t count = 0;

  [[nodiscard]] std::int64_t end() const { return offset + count; }
  auto operator<=>(const Range&) const = default;
};

/// The kinds of steps. Fused kinds, such as kReceiveSend, process their range in pieces: each piece
/// is received, then reduced or stored, then sent.
enum class StepKind : std::uint8_t {
  kNop,            ///< no operation; used to wait for more than one lane
  kSend,           ///< sends `source` to `to`
  kReceive,        ///< receives into `target` from `from`
  kReceiveAny,     ///< receives the next message that arrives on any connection into this lane (see
                   ///< Step::inputs)
  kReceiveReduce,  ///< receives from `from`, adds `source`, and stores the sum in `target`, which
                   ///< may be `source`
  kReceiveSend,    ///< receives into `target`, then sends the data on to `to`
  kReceiveReduceSend,      ///< receives, adds `source`, and sends the sum on without storing it
  kReceiveReduceCopySend,  ///< receives, adds `source`, stores the sum in `target` and sends it on
  kCopy,                   ///< copies `source` to `target`
  kReduce,                 ///< adds up several ranges (see Step::inputs)
  kScale,                  ///< multiplies `target` by Step::factor
  kUpdate,  ///< models an update: takes the time of `inputs` reads or writes of `target`, but does
            ///< not change `target`
  // The following kinds send data to, or combine data from, a whole group of ranks. Only networks
  // with multicast or in-network reduction support these kinds.
  kMulticast,     ///< sends `source` to lane `to.lane` of every rank in `group`; each link of the
                  ///< multicast tree carries the data once
  kSwitchReduce,  ///< the switch adds up `source` of every rank in `group` and delivers the sum to
                  ///< this rank's `target`
};

/// The lane at the other end of a connection. In symmetric algorithms, the peer's rank is stored
/// relative to the step's own rank, so that corresponding steps of all ranks compare equal.
struct Peer {
  std::int32_t value = 0;  ///< the peer's rank; if `relative`, the peer's rank minus the step's own
                           ///< rank, modulo the group's size
  Lane lane = 0;
  bool relative = false;
  /// The peer's worker minus the step's worker. The field is used only if one simulated worker
  /// represents all workers (sim/folding/folded_schedule.h). 0: the peer is in the same worker.
  std::int32_t away = 0;

  [[nodiscard]] Rank rank(Rank own, std::int32_t ranks) const {
    if (!relative) return value;
    std::int32_t r = own + value;
    if (r >= ranks) r -= ranks;
    if (r < 0) r += ranks;
    return r;
  }
  static Peer at(Rank rank, Lane lane) { return {rank, lane, false, 0}; }
  /// REQUIRES: |delta| < ranks.
  static Peer ahead(std::int32_t delta, Lane lane) { return {delta, lane, true, 0}; }
};

/// A dependency of a step: before the step begins, `lane` of the same rank must have completed
/// `count` steps. If `lane` is -1, there is no dependency.
struct Wait {
  Lane lane = -1;
  std::int64_t count = 0;
};

/// A strided set of `count` ranks: first, first + stride, ….
struct RankSet {
  Rank first = 0;
  std::int32_t count = 0;
  std::int32_t stride = 1;

  [[nodiscard]] Rank at(std::int32_t i) const { return first + i * stride; }
  [[nodiscard]] bool contains(Rank r) const {
    return r >= first && (r - first) % stride == 0 && (r - first) / stride < count;
  }
};

/// One step of one lane of one rank. The kind determines which fields are used.
struct Step {
  StepKind kind = StepKind::kNop;
  Wait wait;
  Peer from;
  Peer to;
  Range source;
  Range target;

  /// kReduce: `target` becomes the sum of `inputs` ranges of `source`'s buffer. Input i begins at
  /// source.offset + i · `stride`, and each input has target.count elements. If `accumulate` is
  /// true, the old content of `target` is added, too. kReceiveAny: a message with arrival slot s
  /// (Schedule::arrival_slot) is stored at target.offset + s · `stride`.
  std::int32_t inputs = 0;
  bool accumulate = false;
  std::int64_t stride = 0;

  double factor = 1;  ///< the factor of kScale
  RankSet group;      ///< the ranks of kMulticast and kSwitchReduce
};

constexpr bool receives(StepKind kind) {
  return kind == StepKind::kReceive || kind == StepKind::kReceiveAny ||
         kind == StepKind::kReceiveReduce || kind == StepKind::kReceiveSend ||
         kind == StepKind::kReceiveReduceSend || kind == StepKind::kReceiveReduceCopySend;
}

constexpr bool sends(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kReceiveSend ||
         kind == StepKind::kReceiveReduceSend || kind == StepKind::kReceiveReduceCopySend ||
         kind == StepKind::kMulticast;
}

/// True if the step adds received data to data of its own rank.
constexpr bool reduces_received(StepKind kind) {
  return kind == StepKind::kReceiveReduce || kind == StepKind::kReceiveReduceSend ||
         kind == StepKind::kReceiveReduceCopySend;
}

}  // namespace tutti::core
