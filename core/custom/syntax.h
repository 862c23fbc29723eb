#pragma once

// The syntax tree of an algorithm's text, which does not depend on the cluster.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/contract.h"
#include "core/text/document.h"

namespace tutti::core::custom {

/// An index into Syntax::expressions; -1: there is no expression.
using ExpressionId = int;

enum class Operator : std::uint8_t {
  kNumber,
  kName,  ///< a value; or, if `is_call` is true, a call of the function `name` with `operands`
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kChoose,  ///< if a then b else c
};

struct Expression {
  Operator op = Operator::kNumber;
  Position at;
  std::int64_t number = 0;
  std::string name;
  std::vector<ExpressionId> operands;
  bool is_call = false;
};

/// `let name = value`, or `let name(parameters) = value`.
struct Definition {
  Position at;
  std::string name;
  std::vector<std::string> parameters;
  ExpressionId value = -1;
};

enum class Area : std::uint8_t {
  kData,
  kInput,
  kScratch,
  kNothing,  ///< `nothing`: a message without elements
};

/// Chunks of a buffer: `data[FIRST to LAST] piece PART of PARTS`, `data[FIRST count COUNT]` or
/// `scratch[FIRST like LIKE]`. Words in capitals stand for expressions.
struct RangeText {
  Position at;
  Area area = Area::kData;
  ExpressionId first = -1;
  ExpressionId last = -1;
  ExpressionId count = -1;
  ExpressionId part = -1;
  ExpressionId parts = -1;
  ExpressionId like = -1;
};

/// A peer, given by a rank and one of its lanes. For example, `right lane up[2]` is lane 2 of the
/// family `up` of the rank `right`.
struct PeerText {
  Position at;
  ExpressionId rank = -1;
  std::string lane;  ///< empty: the lane with the same number as the lane of the step
  Position lane_at;
  ExpressionId lane_index = -1;
};

/// A set of ranks: `FIRST count COUNT step STRIDE`. Words in capitals stand for expressions.
struct GroupText {
  Position at;
  ExpressionId first = -1;
  ExpressionId count = -1;
  ExpressionId stride = -1;  ///< -1: the ranks are consecutive
};

enum class Verb : std::uint8_t { kSend, kReceive, kReduce, kCopy, kAdd, kMulticast, kReduceAcross };

/// The action that a receive also performs on its message: nothing, or forwarding.
enum class Then : std::uint8_t { kNothing, kSend, kOnlySend };

struct ActionText {
  Position at;
  Verb verb = Verb::kSend;
  RangeText place;  ///< for kReceive and kReduce: the range that holds the result
  RangeText other;  ///< for kCopy and kAdd: the target; for kReduce and kReduceAcross with
                    ///< `has_other`: the data to add
  bool has_other = false;
  PeerText from;
  PeerText to;      ///< for kMulticast, only the lane is set
  GroupText group;  ///< kMulticast, kReduceAcross
  Then then = Then::kNothing;
};

/// `wait for MARK[ARGUMENTS]`, or `wait for lane NAME[INDEX]`.
struct WaitText {
  Position at;
  std::string mark;
  std::vector<ExpressionId> arguments;
  bool whole_lane = false;
};

struct Statement {
  enum class Kind : std::uint8_t { kLet, kFor, kIf, kAction, kMark, kWait };
  Kind kind = Kind::kAction;
  Position at;
  std::string name;         ///< for kFor, the name of the loop's variable; for kMark, the name of
                            ///< the mark
  Definition definition;    ///< only for kLet
  ExpressionId first = -1;  ///< for kFor, the first value; for kIf, the condition
  ExpressionId last = -1;
  bool downwards = false;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
  ActionText action;
  WaitText wait;
};

struct LaneText {
  Position at;
  std::string name;      ///< name of the lane; may be empty
  std::string variable;  ///< empty: a single lane
  ExpressionId first = -1;
  ExpressionId last = -1;
  std::vector<Statement> body;
};

struct ParameterText {
  Position at;
  std::string name;
  std::int64_t value = 0;
};

struct Requirement {
  Position at;
  ExpressionId condition = -1;
  std::string why;
};

/// An item of the text that comes before the lanes. Syntax::order has the items in the order of the
/// text, because an item may only use items that precede it.
struct HeaderItem {
  enum class Kind : std::uint8_t { kParameter, kLet, kRequire, kChunks, kScratch, kSlots };
  Kind kind = Kind::kLet;
  std::size_t index = 0;
};

struct Syntax {
  std::string file;
  std::string name;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  bool shift_promised = false;     ///< `symmetry shift`
  bool exchange_promised = false;  ///< `symmetry exchange`
  Position symmetry_at;
  ExpressionId chunks = -1;
  ExpressionId scratch = -1;
  ExpressionId slots = -1;
  std::vector<ParameterText> parameters;
  std::vector<Definition> definitions;
  std::vector<Requirement> requirements;
  std::vector<HeaderItem> order;
  std::vector<LaneText> lanes;
  std::vector<Expression> expressions;
  bool names_input = false;  ///< true: the text reads `input[…]`, so an out-of-place collective
                             ///< reads its input buffer directly
  bool by_kernel = false;    ///< `engine kernel`

  [[nodiscard]] const Expression& at(ExpressionId id) const { return expressions[id]; }
};

/// Parses the text of an algorithm (docs/your-own-algorithm.md) and reports all errors. If there
/// are errors, the result is incomplete. Nesting deeper than 64 levels is an error, so that the
/// parser's stack cannot overflow.
Syntax parse_algorithm_text(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core::custom
