#pragma once

// An algorithm that has been compiled for one shape, that is, for a fixed number and arrangement of
// ranks (AlgorithmShape). Expressions that do not depend on the rank have already been evaluated.
// The compiler has proved that, on all ranks, no divisor is 0, no number overflows, and every lane
// ends.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/custom/algorithm_shape.h"
#include "core/custom/syntax.h"
#include "core/custom/values.h"
#include "core/schedule/contract.h"
#include "core/schedule/step.h"

namespace tutti::core::custom {

/// A range of chunks of a buffer: `count` chunks from chunk `first` on. If `in_pieces` is true,
/// each of these chunks is divided into `parts` pieces, and the range consists of piece `part`
/// only. If `has_like` is true, the range is in scratch, and its chunks have the size of chunk
/// `like` of the data buffer.
struct RangeCode {
  Area area = Area::kData;
  Value first;
  Value count;
  bool one = true;  ///< true: `count` is 1
  bool in_pieces = false;
  Value part;
  Value parts;
  bool has_like = false;
  Value like;
};

struct PeerCode {
  bool relative = false;  ///< true: `rank` is added to the rank that executes the step; false:
                          ///< `rank` is the peer
  Value rank;
  bool own_lane = true;
  int family = 0;
  Value lane_number;
};

/// A set of `count` ranks: first, first + stride, ….
struct GroupCode {
  Value first;
  Value count;
  Value stride;
};

struct ActionCode {
  StepKind kind = StepKind::kNop;
  Position at;
  RangeCode source;
  RangeCode target;
  bool one_place = true;  ///< true: `target` equals `source`
  PeerCode from;
  PeerCode to;
  GroupCode group;  ///< kMulticast, kSwitchReduce
  int wait = -1;
};

struct WaitCode {
  bool whole_lane = false;
  int family = -1;  ///< only if `whole_lane` is true: the lane family to wait for
  int mark = -1;
  /// For a wait for a lane: the number of the lane, if the lanes of its family are numbered. For a
  /// wait for a mark: the number of the lane, and then the value of the variable of each loop
  /// around the mark.
  std::vector<Value> arguments;
};

struct NodeCode {
  enum class Kind : std::uint8_t { kBlock, kLoop, kIf, kAction, kMark };
  Kind kind = Kind::kBlock;
  std::int64_t count = -1;  ///< number of steps; -1: the number depends on the rank or on variables
                            ///< of outer loops
  std::vector<int> children;
  int body = -1;
  int otherwise = -1;
  Value low;  ///< for kLoop, the lowest value of the variable; for kIf, the condition
  Value high;
  bool downwards = false;
  int slot = 0;
  bool varies = false;     ///< true: the iterations have different numbers of steps
  bool identical = false;  ///< true: the iterations differ only in their ranges, provided that all
                           ///< chunks have the same size
  bool ways_vary = false;  ///< true: the iterations have different peers
  int action = -1;
};

/// The lanes that a single `lane` statement of the text defines.
struct LaneFamily {
  std::string name;
  bool numbered = false;
  Lane first = 0;
  std::int32_t count = 1;
  std::int64_t first_number = 0;
  int root = -1;
};

struct MarkCode {
  std::string name;
  Position at;
  int family = 0;
  std::vector<int> path;  ///< nodes on the path from the root of the lane to the mark
};

/// The reason, with its location in the text, why workers execute different steps. `what` is empty
/// if all workers execute the same steps.
struct Obstacle {
  Position at;
  std::string what;
};

struct Program {
  std::string file;
  std::string name;
  AlgorithmShape shape;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t chunks = 1;
  std::int64_t scratch = 0;  ///< number of scratch chunks
  int slots = 0;             ///< maximum number of messages in flight on a connection; 0: unlimited
  bool names_input = false;
  bool by_kernel = false;  ///< true: GPU kernels move the bytes; false: copy engines do

  ValueTrees values;
  std::vector<NodeCode> nodes;
  std::vector<ActionCode> actions;
  std::vector<WaitCode> waits;
  std::vector<LaneFamily> families;
  std::vector<int> family_of_lane;
  std::vector<MarkCode> marks;

  Obstacle to_shift;
  Obstacle to_exchange;
  /// The numbers of pieces into which the text divides ranges. Pieces have equal sizes if chunks
  /// have equal sizes and every number of this list divides the chunk size.
  std::vector<std::int64_t> piece_counts;
  bool pieces_vary = false;  ///< true: at least one number of pieces depends on the rank or on a
                             ///< loop variable
  std::int64_t visits =
      0;  ///< upper bound on the number of nodes that Schedule::visit_ways() visits per rank
};

/// Compiles the algorithm `syntax` for a shape. `set` overrides the default values of parameters.
/// If there are errors, adds them to `problems` and returns null.
std::shared_ptr<const Program> compile(const Syntax& syntax, const AlgorithmShape& shape,
                                       const std::vector<AlgorithmParameter>& set,
                                       Problems& problems);

/// Counts the steps of a lane, and finds the action of the i-th step without visiting the steps
/// before this step.
class StepFinder {
 public:
  explicit StepFinder(const Program& program) : program_(program) {}

  [[nodiscard]] std::int64_t count(int node, Variables& variables) const;
  /// The result of find(): the action of a step. If `identical_period` is not 0, the steps from the
  /// found one up to `identical_end` repeat with this period. If `identical_period` is 0, the steps
  /// do not repeat.
  struct Found {
    const ActionCode* action = nullptr;
    std::int64_t identical_period = 0;
    std::int64_t identical_end = 0;
  };
  [[nodiscard]] Found find(int node, std::int64_t index, Variables& variables) const;
  /// Returns the number of steps that the lane executes before it reaches a mark. `rounds` contains
  /// the value of the variable of each loop around the mark, outermost loop first.
  [[nodiscard]] std::int64_t position(const MarkCode& mark, const std::vector<std::int64_t>& rounds,
                                      Variables& variables) const;

 private:
  struct Bounds {
    std::int64_t low = 0;
    std::int64_t rounds = 0;
    std::int64_t high = 0;
  };
  [[nodiscard]] Bounds bounds(const NodeCode& loop, const Variables& variables) const;
  static std::int64_t number_of(const NodeCode& loop, const Bounds& bounds, std::int64_t round) {
    return loop.downwards ? bounds.high - round : bounds.low + round;
  }
  const Program& program_;
};

}  // namespace tutti::core::custom
