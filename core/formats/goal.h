#pragma once

// A GOAL schedule lists, for each rank of a parallel program, the sends, receives and computations,
// and the dependencies between them. LogGOPSim and ATLAHS read and write GOAL, as text and in a
// binary form.
// SOURCE: spcl/LogGOPSim txt2bin.re and Goal.hpp; spcl/atlahs sim/htsim-backend/sim/lgs/Goal.hpp.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

struct GoalOperation {
  enum class Kind : std::uint8_t { kSend = 1, kReceive = 2, kCompute = 3 };
  static constexpr std::int64_t kAny = -1;

  Kind kind = Kind::kCompute;
  std::uint8_t cpu = 0;   ///< the CPU of the operation; a CPU executes one operation at a time
  std::uint8_t nic = 0;   ///< network port of a message
  std::int64_t peer = 0;  ///< the peer rank of a message; kAny for a receive from any rank
  std::int64_t tag = 0;   ///< tag of a message; kAny for a receive with any tag
  std::int64_t size = 0;  ///< bytes of a message; nanoseconds of a computation
  std::int32_t line = 0;  ///< line of the statement; 0 in the binary form

  bool operator==(const GoalOperation&) const = default;
};

/// A dependency between two operations of a rank; operations are identified by index.
struct GoalDependency {
  std::int32_t operation = 0;  ///< operation that waits
  std::int32_t on = 0;         ///< operation for which `operation` waits
  bool at_start = false;  ///< true if `operation` waits for the start of `on` (irequires); false if
                          ///< it waits for the end (requires)

  bool operator==(const GoalDependency&) const = default;
};

struct GoalRank {
  std::int64_t rank = 0;
  std::vector<GoalOperation> operations;
  std::vector<GoalDependency> dependencies;

  bool operator==(const GoalRank&) const = default;
};

/// is_goal_binary() returns true if a file with these first bytes is a GOAL schedule in binary
/// form; is_goal_text() does the same for the text form.
bool is_goal_binary(std::string_view first_bytes);
bool is_goal_text(std::string_view first_bytes);

/// Reads a schedule in either form. Calls `begin` once with the number of ranks, then `take` for
/// each rank, in the order of the file. Only one rank is in memory at a time. ERRORS: the input
/// cannot be read; a statement or a label is invalid (with line and column, or with the offset in
/// the binary form); a rank is listed twice or is missing; a peer rank does not exist.
Expected<void> read_goal(ByteInput& input, const std::string& name,
                         const std::function<void(std::int64_t ranks)>& begin,
                         const std::function<Expected<void>(GoalRank&&)>& take);

/// Writes a schedule as text, rank by rank.
class GoalTextWriter {
 public:
  /// REQUIRES: `out` outlives the writer.
  GoalTextWriter(std::ostream& out, std::int64_t ranks, const std::string& comment);
  void add(const GoalRank& rank);

 private:
  std::ostream& out_;
};

/// The header of a schedule in binary form. The header precedes the data of the ranks, and contains
/// the size of each rank's data. The sizes must be known before the first rank is written, so each
/// rank is serialized twice. Only one rank is in memory at a time:
///
///     GoalBinaryHeader header;
///     for each rank: header.add(rank, goal_binary(rank).size());
///     write header.bytes(), and then goal_binary() of each rank
class GoalBinaryHeader {
 public:
  /// REQUIRES: ranks are added in ascending order, from 0.
  void add(const GoalRank& rank, std::size_t bytes);
  [[nodiscard]] std::string bytes() const;

 private:
  std::vector<std::uint64_t> sizes_;
  std::uint8_t max_cpu_ = 0, max_nic_ = 0;
};
std::string goal_binary(const GoalRank& rank);

}  // namespace tutti::core
