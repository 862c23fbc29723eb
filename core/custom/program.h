#pragma once

// An algorithm that has been compiled for one shape of cluster. Values that do not depend on the
// rank are already computed. The compiler has proved for all ranks that no divisor is 0, no number
// overflows, and every lane ends.

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

/// A range of chunks of a buffer: `count` chunks from chunk `first` on. If `in_pieces` is true, the
/// place is only piece `part` of the `parts` pieces of these chunks. If `has_like` is true, scratch
/// chunks have the size of chunk `like` of the buffer.
struct PlaceCode {
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
  bool relative = false;  ///< true: the peer's rank is `rank` plus the rank of the step
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
  PlaceCode source;
  PlaceCode target;
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
  /// For a lane: the number of the lane, if the lanes of its family are numbered. For a mark: also
  /// the values of the variables of the loops around the mark.
  std::vector<Value> arguments;
};

struct NodeCode {
  enum class Kind : std::uint8_t { kBlock, kLoop, kIf, kAction, kMark };
  Kind kind = Kind::kBlock;
  std::int64_t count = -1;  ///< number of steps; -1: the number depends on the rank or on outer
                            ///< loops
  std::vector<int> children;
  int body = -1;
  int otherwise = -1;
  Value low;  ///< for kLoop, the lowest value of the variable; for kIf, the condition
  Value high;
  bool downwards = false;
  int slot = 0;
  bool varies = false;     ///< true: the iterations have different numbers of steps
  bool identical = false;  ///< true: if all chunks have the same size, the iterations differ only
                           ///< in their ranges
  bool ways_vary = false;  ///< true: the iterations have different peers
  int action = -1;
};

/// The lanes that one `lane` statement of the text describes.
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
  std::vector<int> path;  ///< indices of the nodes on the path from the root of the lane to the
                          ///< mark
};

/// The reason, with its location, why an algorithm is not the same on all workers. `what` is empty
/// if the algorithm is the same on all workers.
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
  int slots = 0;             ///< number of slots of a connection; 0: unlimited
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
  /// All numbers of pieces into which the text divides ranges. All pieces have the same size if all
  /// chunks have the same size and every number in this list divides it.
  std::vector<std::int64_t> piece_counts;
  bool pieces_vary = false;  ///< true: some number of pieces is not constant
  std::int64_t visits =
      0;  ///< maximum number of nodes of a rank that Schedule::visit_ways() visits
};

/// Compiles the algorithm `syntax` for a shape. `set` replaces the default values of parameters.
/// Returns null and adds to `problems` if there are errors.
std::shared_ptr<const Program> compile(const Syntax& syntax, const AlgorithmShape& shape,
                                       const std::vector<AlgorithmParameter>& set,
                                       Problems& problems);

/// Counts the steps of a lane, and finds the action of a step without visiting the steps before it.
class StepFinder {
 public:
  explicit StepFinder(const Program& program) : program_(program) {}

  [[nodiscard]] std::int64_t count(int node, Variables& variables) const;
  /// The result of find(): the action of a step. From the found step to step `identical_end`, the
  /// steps repeat with a period of `identical_period` steps. A period of 0 means that the steps do
  /// not repeat.
  struct Found {
    const ActionCode* action = nullptr;
    std::int64_t identical_period = 0;
    std::int64_t identical_end = 0;
  };
  [[nodiscard]] Found find(int node, std::int64_t index, Variables& variables) const;
  /// Returns the number of the lane's steps before a mark. `rounds` has the iteration of each loop
  /// around the mark.
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
