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

/// A place in a text that a user wrote. Lines and columns count from 1; 0 means "the file as a whole".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  auto operator<=>(const Location&) const = default;
};

/// The kind of mistake that a problem is, for programs and tests: it stays the same when the words of the message change.
enum class ProblemCode : std::uint8_t {
  kInvalid,       ///< a value that makes no sense where it stands, of no kind below
  kSyntax,        ///< the text cannot be parsed there
  kMissing,       ///< something that is needed is not given
  kUnknownField,  ///< the message, table or command has no such field, column or option
  kUnknownName,   ///< a name of nothing that there is: a machine, a model, a device, a choice
  kWrongType,     ///< a text where a number is expected, and the like
  kTooSmall,      ///< below the range
  kTooLarge,      ///< above the range
  kDuplicate,     ///< given twice
  kConflict,      ///< two things that exclude each other, or a strategy and its cluster
  kUnused,        ///< does nothing where it stands
  kUnsupported,   ///< makes sense, but there is no model of it
  // Of runs, most of them of several processes:
  kTimeout,       ///< nothing has moved for as long as may be waited
  kLost,          ///< a worker, the coordinator or a connection is gone, silent, or never came
  kWrongResult,   ///< a result is not what it has to be
  kProtocol,      ///< another process sent what it must not send
  kIncompatible,  ///< the processes are of different versions, or make different plans of one scenario
  kOutOfMemory,   ///< there is not enough memory
  kSystem,        ///< the operating system, a device or a driver has refused something
  kDamaged,       ///< a file that Tutti wrote is not as it was written
  kStopped,       ///< stopped by the user, or by another process on the user's behalf
  kCount
};
/// "missing": lower case, with hyphens.
std::string_view to_string(ProblemCode code);
/// The code of that name.
std::optional<ProblemCode> parse_problem_code(std::string_view name);

/// The subject of a problem. `field`: a field of a schema with its message ("Network.latency_us"), a message ("Network"), a
/// column of a table, an element of an XML file or its attribute ("gpu", "gpu.sm"), a variable of the environment
/// ("NCCL_ALGO"), or an option of the command line ("--network"); empty if it is none of these.
struct ProblemKind {
  ProblemCode code = ProblemCode::kInvalid;
  std::string field = {};
  /// The worker at fault, of a run of several: its number; −1: none in particular.
  std::int32_t worker = -1;

  bool operator==(const ProblemKind&) const = default;
};

/// One thing that is wrong in the outside world: where it is, what the user wrote, what to do about it.
struct Problem {
  Location where;
  std::string text;
  ProblemKind kind = {};
};

/// The cause of an error: an invalid request (exit status 2) or a failed run (exit status 1).
enum class ErrorKind { kRequest, kRun };

/// Everything that is wrong, not only the first thing.
class Error {
 public:
  Error(ErrorKind kind, std::vector<Problem> problems) : kind_(kind), problems_(std::move(problems)) {}

  /// One thing that is wrong with a request; `where` may be empty.
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

/// Collects problems while a whole input is looked through, so that the user hears of all of them at once.
class Problems {
 public:
  template <class... Args>
  void add(Location where, fmt::format_string<Args...> format, Args&&... args) {
    add(ProblemKind{}, std::move(where), format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void add(ProblemKind kind, Location where, fmt::format_string<Args...> format, Args&&... args) {
    add(Problem{std::move(where), fmt::format(format, std::forward<Args>(args)...), std::move(kind)});
  }
  void add(Problem problem);
  /// What stands at `where` is already known to be wrong: later problems there would only be its consequences.
  void ignore_later_ones_at(const Location& where) {
    if (!full()) spoiled_.insert(where);
  }
  void add(const Error& error) {
    for (const Problem& problem : error.problems()) add(problem);
  }

  [[nodiscard]] bool empty() const { return problems_.empty(); }
  /// Grows with every problem, also with those that are not kept.
  [[nodiscard]] std::size_t size() const { return problems_.size() + left_out_; }
  /// There are as many as anyone reads (a file that is no scenario at all): whoever looks for more may stop.
  [[nodiscard]] bool full() const { return problems_.size() >= kMost; }
  /// The problems as an Error, in the order of the text; if there are as many as are kept, a last line says so.
  /// REQUIRES: not empty.
  [[nodiscard]] tl::unexpected<Error> take();

 private:
  static constexpr std::size_t kMost = 200;

  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
  std::set<Location> spoiled_;
};

std::string to_string(const Location& where);
std::string to_string(const Problem& problem);

/// The candidate that `written` most likely stood for ("; did you mean "ring"?"), or "" if none is near.
std::string did_you_mean(std::string_view written, const std::vector<std::string>& candidates);

}  // namespace tutti::core
