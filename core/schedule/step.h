#pragma once

#include <cstdint>

namespace tutti::core {

/// A device's place in the group of a collective, from 0.
using Rank = std::int32_t;
/// A rank's lane of steps, from 0.
using Lane = std::int32_t;

enum class Buffer : std::uint8_t {
  kData,     ///< the pack: holds the rank's input at first and its output in the end
  kScratch,  ///< of the schedule's own; undefined at first
};

/// `count` elements of a buffer from element `offset` on.
struct Range {
  Buffer buffer = Buffer::kData;
  std::int64_t offset = 0;
  std::int64_t count = 0;

  [[nodiscard]] std::int64_t end() const { return offset + count; }
  auto operator<=>(const Range&) const = default;
};

/// What a step does. Kinds below the line are made of parts that happen one after the other for the whole range:
/// receive, then reduce or keep, then send.
enum class StepKind : std::uint8_t {
  kNop,                    ///< nothing (to wait for more than one thing)
  kSend,                   ///< sends `source` to `to`
  kReceive,                ///< receives into `target` from `from`
  kReceiveAny,             ///< receives the next message that arrives on any connection into this lane, see Step
  kReceiveReduce,          ///< receives from `from`, adds `source` (which may be `target`), keeps the sum in `target`
  kReceiveSend,            ///< receives into `target`, then sends it on to `to`
  kReceiveReduceSend,      ///< receives, adds `source`, sends the sum on, keeps nothing
  kReceiveReduceCopySend,  ///< receives, adds `source`, keeps the sum in `target` and sends it on
  kCopy,                   ///< copies `source` to `target`
  kReduce,                 ///< adds up `inputs` ranges, see Step
  kScale,                  ///< multiplies `target` by Step::factor
  kUpdate,  ///< takes the time of `inputs` passes over `target` in the device's memory, and leaves it as it is
  // One message for a whole group of ranks, where the fabric can do it.
  kMulticast,     ///< sends `source` to lane `to.lane` of every rank in `group`; each edge of the tree carries it once
  kSwitchReduce,  ///< the switch adds up `source` of every rank in `group` and delivers the sum to `target` here
};

/// One end of a connection, seen from the other. Written relative to the rank at hand where the algorithm is the same
/// for every rank, so that ranks nobody can tell apart look alike.
struct Peer {
  std::int32_t value = 0;  ///< a rank, or with `relative` what to add to one's own, modulo the group
  Lane lane = 0;
  bool relative = false;
  /// Where one worker stands for all (sim/folding/folded_schedule.h): how far away the peer's worker is; 0 is the own one.
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

/// Before the step begins, `lane` of the same rank must have completed `count` steps. `lane` -1: no condition.
struct Wait {
  Lane lane = -1;
  std::int64_t count = 0;
};

/// Ranks first, first + stride, … : `count` of them.
struct RankSet {
  Rank first = 0;
  std::int32_t count = 0;
  std::int32_t stride = 1;

  [[nodiscard]] Rank at(std::int32_t i) const { return first + i * stride; }
  [[nodiscard]] bool contains(Rank r) const {
    return r >= first && (r - first) % stride == 0 && (r - first) / stride < count;
  }
};

/// One step of one lane of one rank.
struct Step {
  StepKind kind = StepKind::kNop;
  Wait wait;
  Peer from;
  Peer to;
  Range source;
  Range target;

  /// kReduce: `target` becomes the sum of `inputs` ranges of `source`'s buffer; input i begins at source.offset +
  /// i · `stride`, each is target.count long. With `accumulate` what `target` held is added too.
  /// kReceiveAny: a message from arrival slot s goes to target.offset + s · `stride` (Schedule::arrival_slot).
  std::int32_t inputs = 0;
  bool accumulate = false;
  std::int64_t stride = 0;

  double factor = 1;  ///< kScale
  RankSet group;      ///< kMulticast, kSwitchReduce
};

constexpr bool receives(StepKind kind) {
  return kind == StepKind::kReceive || kind == StepKind::kReceiveAny || kind == StepKind::kReceiveReduce ||
         kind == StepKind::kReceiveSend || kind == StepKind::kReceiveReduceSend ||
         kind == StepKind::kReceiveReduceCopySend;
}

constexpr bool sends(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kReceiveSend || kind == StepKind::kReceiveReduceSend ||
         kind == StepKind::kReceiveReduceCopySend || kind == StepKind::kMulticast;
}

/// The step adds what it receives to something of its own.
constexpr bool reduces_received(StepKind kind) {
  return kind == StepKind::kReceiveReduce || kind == StepKind::kReceiveReduceSend ||
         kind == StepKind::kReceiveReduceCopySend;
}

}  // namespace tutti::core
