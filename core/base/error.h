#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <tl/expected.hpp>

namespace tutti::core {

/// A place in a text that a user wrote. Lines and columns count from 1; 0 means "the file as a
/// whole".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  auto operator<=>(const Location&) const = default;
};

/// The kind of a problem, for programs and tests; it stays the same when the message is reworded.
enum class ProblemCode : std::uint8_t {
  kInvalid,       ///< an invalid value that fits none of the kinds below
  kSyntax,        ///< the text cannot be parsed at the reported place
  kMissing,       ///< a required value is missing
  kUnknownField,  ///< the message, table or command has no such field, column or option
  kUnknownName,   ///< an unknown name, such as that of a machine, model, device or choice
  kWrongType,     ///< a wrong type, such as a text in place of a number
  kTooSmall,      ///< below the range
  kTooLarge,      ///< above the range
  kDuplicate,     ///< given twice
  kConflict,      ///< two settings, or a strategy and its cluster, exclude each other
  kUnused,        ///< a setting has no effect where it is written
  kUnsupported,   ///< valid, but not modelled
  // Problems of runs, mostly of several processes:
  kTimeout,       ///< no progress within the timeout
  kLost,          ///< a worker, the coordinator or a connection is gone, silent, or never came
  kWrongResult,   ///< a wrong result
  kProtocol,      ///< another process sent an invalid message
  kIncompatible,  ///< the processes have different versions, or made different plans of the same
                  ///< scenario
  kOutOfMemory,   ///< there is not enough memory
  kSystem,        ///< the operating system, a device or a driver has refused something
  kDamaged,       ///< a file that Tutti wrote was changed or truncated
  kStopped,       ///< stopped by the user, or by another process on the user's behalf
  kCount
};
/// Returns the name, in lower case with hyphens: "missing".
std::string_view to_string(ProblemCode code);
/// Returns the code with this name.
std::optional<ProblemCode> parse_problem_code(std::string_view name);

/// The subject of a problem. `field`: a field of a schema with its message ("Network.latency_us"),
/// a message ("Network"), a column of a table, an element of an XML file or its attribute ("gpu",
/// "gpu.sm"), a variable of the environment
/// ("NCCL_ALGO"), or an option of the command line ("--network"); empty if it is none of these.
struct ProblemKind {
  ProblemCode code = ProblemCode::kInvalid;
  std::string field = {};
  /// The number of the worker at fault in a run of several; -1: no particular worker.
  std::int32_t worker = -1;

  bool operator==(const ProblemKind&) const = default;
};

/// One thing that is wrong with the input or the run: its location, what was found, and the remedy.
struct Problem {
  Location where;
  std::string text;
  ProblemKind kind = {};
};

/// The cause of an error: an invalid request (exit status 2) or a failed run (exit status 1).
enum class ErrorKind { kRequest, kRun };

/// All problems that were found, not only the first.
class Error {
 public:
  Error(ErrorKind kind, std::vector<Problem> problems)
      : kind_(kind), problems_(std::move(problems)) {}

  /// Returns the error of an invalid request with one problem; `where` may be empty.
  static Error request(std::string text, Location where = {});
  static Error request(ProblemKind kind, std::string text, Location where = {});
  static Error run(std::string text);
  static Error run(ProblemKind kind, std::string text);

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  /// One line per problem, `file:line:column: text`.
  [[nodiscard]] std::string message() const;

 private:
  ErrorKind kind_;
  std::vector<Problem> problems_;
};

template <class T>
using Expected = tl::expected<T, Error>;

/// Collects problems while a whole input is checked, so that the user gets all of them at once.
class Problems {
 public:
  template <class... Args>
  void add(Location where, fmt::format_string<Args...> format, Args&&... args) {
    add(ProblemKind{}, std::move(where), format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void add(ProblemKind kind, Location where, fmt::format_string<Args...> format, Args&&... args) {
    add(Problem{std::move(where), fmt::format(format, std::forward<Args>(args)...),
                std::move(kind)});
  }
  void add(Problem problem);
  /// Drops later problems at `where`: something is known to be wrong there, and they would only be
  /// its consequences.
  void ignore_later_ones_at(const Location& where) {
    if (!full()) spoiled_.insert(where);
  }
  void add(const Error& error) {
    for (const Problem& problem : error.problems()) add(problem);
  }

  [[nodiscard]] bool empty() const { return problems_.empty(); }
  /// Grows with every problem, also with those that are not kept.
  [[nodiscard]] std::size_t size() const { return problems_.size() + left_out_; }
  /// True once the limit on kept problems is reached (the file is probably no scenario at all);
  /// callers may then stop checking.
  [[nodiscard]] bool full() const { return problems_.size() >= kMax; }
  /// Returns the problems as an Error, in the order of the text; if the limit was reached, a last
  /// line says so. REQUIRES: not empty.
  [[nodiscard]] tl::unexpected<Error> take();

 private:
  static constexpr std::size_t kMax = 200;

  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
  std::set<Location> spoiled_;
};

std::string to_string(const Location& where);
std::string to_string(const Problem& problem);

/// Returns "; did you mean "ring"?" with the candidate nearest to `written`, or "" if none is near.
std::string did_you_mean(std::string_view written, const std::vector<std::string>& candidates);

}  // namespace tutti::core
