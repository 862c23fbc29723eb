#pragma once

// An algorithm for one shape of cluster, with everything computed that does not depend on the rank,
// and checked so that no step of any rank can fail: no divisor is 0, no number overflows, no lane
// is endless.

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

/// A range of chunks of a buffer: `count` chunks starting at `first`, or a piece of that range.
struct PlaceCode {
  Area area = Area::kData;
  Value first;
  Value count;
  bool one = true;  ///< `count` is 1
  bool in_pieces = false;
  Value part;
  Value parts;
  bool has_like = false;
  Value like;
};

struct PeerCode {
  bool relative = false;  ///< `rank` is added to the own rank
  Value rank;
  bool own_lane = true;
  int family = 0;
  Value lane_number;
};

struct ActionCode {
  StepKind kind = StepKind::kNop;
  Position at;
  PlaceCode source;
  PlaceCode target;
  bool one_place = true;  ///< `target` is `source`
  PeerCode from;
  PeerCode to;
  int wait = -1;
};

struct WaitCode {
  bool whole_lane = false;
  int family = -1;  ///< the lane family to wait for, if `whole_lane`
  int mark = -1;
  std::vector<Value> arguments;  ///< the lane's number, if it has one; for a mark, then those of
                                 ///< the loops around the mark
};

struct NodeCode {
  enum class Kind : std::uint8_t { kBlock, kLoop, kIf, kAction, kMark };
  Kind kind = Kind::kBlock;
  std::int64_t count = -1;  ///< number of steps; -1: depends on the rank or on outer loops
  std::vector<int> children;
  int body = -1;
  int otherwise = -1;
  Value low;  ///< kLoop: the first value; kIf: the condition
  Value high;
  bool downwards = false;
  int slot = 0;
  bool varies = false;     ///< rounds differ in their number of steps
  bool identical = false;  ///< rounds differ only in their ranges, if all chunks have the same size
  bool ways_vary = false;  ///< rounds differ in their peers
  int action = -1;
};

/// The lanes that one `lane` block of the text describes.
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
  std::vector<int> path;  ///< nodes from the root of the lane to the mark
};

/// The reason why an algorithm is not the same on all workers; empty if it is.
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
  int slots = 0;             ///< 0: unlimited
  bool names_input = false;
  bool by_kernel = false;  ///< thread blocks of GPUs move the bytes, not copy engines

  ValueTrees values;
  std::vector<NodeCode> nodes;
  std::vector<ActionCode> actions;
  std::vector<WaitCode> waits;
  std::vector<LaneFamily> families;
  std::vector<int> family_of_lane;
  std::vector<MarkCode> marks;

  Obstacle to_shift;
  Obstacle to_exchange;
  /// The numbers of pieces that chunks are divided into; pieces have equal sizes if chunks have,
  /// and these numbers divide them.
  std::vector<std::int64_t> piece_counts;
  bool pieces_vary = false;  ///< the number of pieces varies
};

/// Compiles the algorithm of `syntax` for a shape. Errors go to `problems`.
std::shared_ptr<const Program> compile(const Syntax& syntax, const AlgorithmShape& shape,
                                       const std::vector<AlgorithmParameter>& set,
                                       Problems& problems);

/// Finds the steps of a lane in sequence.
class StepFinder {
 public:
  explicit StepFinder(const Program& program) : program_(program) {}

  [[nodiscard]] std::int64_t count(int node, Variables& variables) const;
  /// The action of a step with the variables that it uses, and the length of the following run of
  /// identical steps. REQUIRES: 0 ≤ index < count(node).
  struct Found {
    const ActionCode* action = nullptr;
    std::int64_t identical_period = 0;
    std::int64_t identical_end = 0;
  };
  [[nodiscard]] Found find(int node, std::int64_t index, Variables& variables) const;
  /// Returns the number of steps before a point of the lane.
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
