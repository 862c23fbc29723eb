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

/// A location in a text that a user wrote. Lines and columns are counted from 1; line 0 means the
/// file as a whole.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  auto operator<=>(const Location&) const = default;
};

/// The kind of a problem, for programs and tests. The code of a problem stays the same when the
/// wording of its message changes.
enum class ProblemCode : std::uint8_t {
  kInvalid,       ///< a value is invalid, and no other code describes the reason
  kSyntax,        ///< the text cannot be parsed at the reported position
  kMissing,       ///< a required value is missing
  kUnknownField,  ///< the message, table or command has no such field, column or option
  kUnknownName,   ///< a name is unknown, for example the name of a machine, model, device or choice
  kWrongType,     ///< a value has the wrong type, for example text where a number is expected
  kTooSmall,      ///< a value is below its range
  kTooLarge,      ///< a value is above its range
  kDuplicate,     ///< a setting or name occurs twice
  kConflict,      ///< two settings contradict each other, the strategy is not possible on the
                  ///< cluster, or the output would replace an existing file
  kUnused,        ///< a setting has no effect where it is written
  kUnsupported,   ///< the input is valid, but Tutti does not model it
  // The codes below are for problems during a run, most of which occur only in runs with several
  // processes.
  kTimeout,      ///< there was no progress within the timeout
  kLost,         ///< a worker, the coordinator or a connection failed, stopped responding, or never
                 ///< appeared
  kWrongResult,  ///< a collective gave a wrong result
  kProtocol,     ///< another process sent an invalid message
  kIncompatible,  ///< the processes have different versions, or made different plans from the same
                  ///< scenario
  kOutOfMemory,   ///< there is not enough memory
  kSystem,        ///< a call of the operating system, a device or a driver failed
  kDamaged,       ///< a file that Tutti wrote was changed or truncated
  kStopped,       ///< the user stopped the run, directly or through another process
  kCount
};
/// Returns the name of the code, in lower case with hyphens: "missing".
std::string_view to_string(ProblemCode code);
/// Returns the problem code with this name.
std::optional<ProblemCode> parse_problem_code(std::string_view name);

/// The code and the subject of a problem. `field` names the subject: a field of the schema with its
/// message ("Network.latency_us"), a message ("Network"), a column of a table, an XML element or
/// attribute ("gpu", "gpu.sm"), an environment variable ("NCCL_ALGO"), or a command-line option
/// ("--network"). `field` is empty if the problem has no such subject.
struct ProblemKind {
  ProblemCode code = ProblemCode::kInvalid;
  std::string field = {};
  /// The index of the worker that caused the problem, in a run with several workers; -1 if no
  /// particular worker caused it.
  std::int32_t worker = -1;

  bool operator==(const ProblemKind&) const = default;
};

/// One problem of the input or of a run. `text` says what is wrong and how to correct it.
struct Problem {
  Location where;
  std::string text;
  ProblemKind kind = {};
};

/// The cause of an error: an invalid request (exit status 2) or a failed run (exit status 1).
enum class ErrorKind { kRequest, kRun };

/// An error with all problems that were found, not only the first.
class Error {
 public:
  Error(ErrorKind kind, std::vector<Problem> problems)
      : kind_(kind), problems_(std::move(problems)) {}

  /// Returns an error with one problem of an invalid request; `where` may be empty.
  static Error request(std::string text, Location where = {});
  static Error request(ProblemKind kind, std::string text, Location where = {});
  static Error run(std::string text);
  static Error run(ProblemKind kind, std::string text);

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  /// Returns one line per problem: `file:line:column: text`.
  [[nodiscard]] std::string message() const;

 private:
  ErrorKind kind_;
  std::vector<Problem> problems_;
};

template <class T>
using Expected = tl::expected<T, Error>;

/// Collects problems while an input is checked, so that one Error contains all problems.
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
  /// Ignores all problems at `where` that are added after this call, because they would only be
  /// consequences of a problem that was already reported at `where`.
  void ignore_later_ones_at(const Location& where) {
    if (!full()) spoiled_.insert(where);
  }
  void add(const Error& error) {
    for (const Problem& problem : error.problems()) add(problem);
  }

  [[nodiscard]] bool empty() const { return problems_.empty(); }
  /// The number of problems that were added, including problems that were not stored because the
  /// limit kMax was reached.
  [[nodiscard]] std::size_t size() const { return problems_.size() + left_out_; }
  /// True once the limit on the number of stored problems is reached. Callers may stop checking
  /// when full() is true, because the file is probably not a scenario at all.
  [[nodiscard]] bool full() const { return problems_.size() >= kMax; }
  /// Returns the problems as an Error, sorted by their position in the text. If the limit on stored
  /// problems was reached, appends a problem which says that there may be more problems.
  /// REQUIRES: there is at least one problem.
  [[nodiscard]] tl::unexpected<Error> take();

 private:
  static constexpr std::size_t kMax = 200;

  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
  std::set<Location> spoiled_;
};

std::string to_string(const Location& where);
std::string to_string(const Problem& problem);

/// Returns a suffix for a message, such as `; did you mean "ring"?`, with the candidates that are
/// most similar to `written` (at most four); empty if no candidate is similar.
std::string did_you_mean(std::string_view written, const std::vector<std::string>& candidates);

}  // namespace tutti::core
