// Compiles the text of an algorithm to a program for one shape. Each expression becomes a node. The
// known properties of a node (values.h) hold for all ranks. The properties prove that no divisor is
// 0. The properties also give an upper bound on the number of steps of a lane. Properties show
// whether the iterations of a loop differ, and whether all workers execute the same steps. If the
// compiler can compute the condition of an `if`, it compiles only the branch that is taken. Loops
// without iterations are not compiled.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/custom/program.h"

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;  // steps of one rank
constexpr std::int64_t kMaxLanes = 1024;
constexpr std::int64_t kMaxChunks = std::int64_t{1} << 40;
constexpr std::int64_t kMaxScratchPerChunk = 64;
constexpr std::int64_t kMaxSlots = 1 << 20;
constexpr std::int64_t kMaxCounting = 1 << 18;  // operations to find a step
constexpr int kMaxCalls = 32;
constexpr int kMaxTerms = 1 << 21;

constexpr std::int64_t kMaxCountingInAll = 1 << 24;
constexpr std::int64_t kCap = std::int64_t{1} << 40;  // more than any bound

std::int64_t capped(std::int64_t value) { return std::min(value, kCap); }
std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  return b > 0 && a > kCap / b ? kCap : a * b;
}

/// Properties of a node, which the compiler needs but the compiled program does not.
struct NodeFacts {
  std::int64_t most = 0;         ///< maximum number of steps
  std::int64_t counting = 1;     ///< number of operations needed to count the steps
  std::uint32_t count_uses = 0;  ///< bit mask of the variable slots on which the number of steps
                                 ///< depends
  std::uint32_t way_uses = 0;    ///< bit mask of the variable slots on which peers and branches
                                 ///< depend
  std::uint32_t like_uses = 0;   ///< bit mask of the variable slots on which peers, branches and
                                 ///< sizes depend
  bool waits = false;
  std::int64_t visits = 1;  ///< upper bound on the number of nodes that Schedule::visit_ways()
                            ///< visits
};

struct Binding {
  int value = -1;
  const Definition* function = nullptr;
  std::size_t visible = 0;  ///< only for a function: the number of names that are visible in it
};

class Compiler {
 public:
  Compiler(const Syntax& syntax, const AlgorithmShape& shape, Problems& problems)
      : syntax_(syntax),
        problems_(problems),
        before_(problems.size()),
        values_(shape.ranks, shape.per_node) {
    program_.file = syntax.file;
    program_.name = syntax.name;
    program_.shape = shape;
    program_.kind = syntax.collective;
    program_.names_input = syntax.names_input;
    program_.by_kernel = syntax.by_kernel;
  }

  std::shared_ptr<const Program> run(const std::vector<AlgorithmParameter>& set) {
    define_shape();
    compile_header(set);
    if (problems_.size() == before_) compile_lanes();
    if (problems_.size() == before_) resolve_waits();
    if (problems_.size() == before_) keep_promises();
    if (problems_.size() != before_) return nullptr;
    values_.swap_nodes(program_.values.nodes);
    return std::make_shared<const Program>(std::move(program_));
  }

 private:
  template <class... Args>
  void complain(ProblemCode code, Position at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code}, {syntax_.file, at.line, at.column}, format, std::forward<Args>(args)...);
  }

  // --- names ---

  void define(const std::string& name, Binding binding, Position at) {
    if (find(name))
      complain(ProblemCode::kDuplicate, at, "\"{}\" is already defined; choose another name", name);
    scope_.emplace_back(name, binding);
  }
  void define_value(const std::string& name, int value) {
    scope_.emplace_back(name, Binding{value, nullptr, 0});
  }

  [[nodiscard]] const Binding* find(const std::string& name) const {
    for (std::size_t i = scope_.size(); i-- > 0;) {
      if (i < hidden_from_ || i >= hidden_to_) {
        if (scope_[i].first == name) return &scope_[i].second;
      }
    }
    return nullptr;
  }

  void define_shape() {
    const AlgorithmShape& shape = program_.shape;
    const int rank = values_.rank();
    const int per_node = values_.constant(shape.per_node);
    define_value("ranks", values_.constant(shape.ranks));
    define_value("nodes", values_.constant(shape.ranks / shape.per_node));
    define_value("gpus", per_node);
    define_value("root", values_.constant(shape.root));
    define_value("rank", rank);
    const auto never = [](ProblemCode, const std::string&) {};
    define_value("node", values_.apply(ValueOp::kDivide, {rank, per_node}, never));
    define_value("gpu", values_.apply(ValueOp::kModulo, {rank, per_node}, never));
  }

  void compile_header(const std::vector<AlgorithmParameter>& set) {
    std::vector<std::string> names;
    for (const ParameterText& parameter : syntax_.parameters) names.push_back(parameter.name);
    for (const AlgorithmParameter& one : set) {
      if (std::find(names.begin(), names.end(), one.name) == names.end()) {
        problems_.add({ProblemCode::kUnknownName}, {syntax_.file, 0, 0},
                      "the algorithm has no parameter \"{}\"{}", one.name,
                      names.empty() ? "; it has none" : did_you_mean(one.name, names));
      }
    }
    for (const HeaderItem& item : syntax_.order) {
      switch (item.kind) {
        case HeaderItem::Kind::kParameter:
          define_parameter(syntax_.parameters[item.index], set);
          break;
        case HeaderItem::Kind::kLet: define_let(syntax_.definitions[item.index]); break;
        case HeaderItem::Kind::kRequire: check(syntax_.requirements[item.index]); break;
        case HeaderItem::Kind::kChunks:
          program_.chunks = number(syntax_.chunks, "chunks", 1, kMaxChunks);
          define_value("chunks", values_.constant(program_.chunks));
          check_blocks();
          break;
        case HeaderItem::Kind::kScratch:
          program_.scratch =
              number(syntax_.scratch, "scratch", 0, kMaxScratchPerChunk * kMaxChunks);
          break;
        case HeaderItem::Kind::kSlots:
          program_.slots = static_cast<int>(number(syntax_.slots, "slots", 1, kMaxSlots));
          break;
      }
    }
    if (program_.scratch > kMaxScratchPerChunk * program_.chunks) {
      complain(ProblemCode::kTooLarge, syntax_.at(syntax_.scratch).at,
               "{} chunks of scratch exceed the limit of {} chunks of scratch per chunk of the "
               "buffer, which has {} chunks; use fewer",
               program_.scratch, kMaxScratchPerChunk, program_.chunks);
    }
  }

  void define_parameter(const ParameterText& parameter,
                        const std::vector<AlgorithmParameter>& set) {
    std::int64_t value = parameter.value;
    for (const AlgorithmParameter& one : set) {
      if (one.name == parameter.name) value = one.value;
    }
    if (value < -kLargestValue || value > kLargestValue) {
      complain(ProblemCode::kTooLarge, parameter.at, "{} is too large; the largest number is 2^60",
               value);
      value = 1;
    }
    define(parameter.name, {values_.constant(value), nullptr, 0}, parameter.at);
  }

  void define_let(const Definition& let) {
    if (let.parameters.empty()) {
      const int value = evaluate(let.value);
      return define(let.name, {value, nullptr, 0}, let.at);
    }
    define(let.name, {-1, &let, scope_.size()}, let.at);
  }

  void check(const Requirement& requirement) {
    const Facts& facts = values_.facts(evaluate(requirement.condition));
    if (!facts.constant()) {
      complain(ProblemCode::kInvalid, requirement.at,
               "require must not depend on the rank; use ranks, nodes, gpus and parameters only");
    } else if (facts.low == 0) {
      complain(ProblemCode::kConflict, requirement.at,
               "{} (here: ranks = {}, nodes = {}, gpus = {})", requirement.why,
               program_.shape.ranks, program_.shape.ranks / program_.shape.per_node,
               program_.shape.per_node);
    }
  }

  void check_blocks() {
    if (!has_blocks(program_.kind) || program_.chunks % program_.shape.ranks == 0) return;
    complain(ProblemCode::kConflict, syntax_.at(syntax_.chunks).at,
             "{} chunks cannot be divided into {} equal blocks, one per rank, as {} requires; use "
             "a multiple of ranks",
             program_.chunks, program_.shape.ranks, to_string(program_.kind));
  }

  /// Returns the value of an expression, which must be from `least` to `most` and the same on every
  /// rank.
  std::int64_t number(ExpressionId id, const char* what, std::int64_t least, std::int64_t most) {
    const Facts& facts = values_.facts(evaluate(id));
    const Position at = syntax_.at(id).at;
    if (!facts.constant()) {
      complain(ProblemCode::kInvalid, at, "{} must not depend on the rank", what);
    } else if (facts.low < least || facts.low > most) {
      complain(facts.low < least ? ProblemCode::kTooSmall : ProblemCode::kTooLarge, at,
               "{} must be from {} to {} (got {})", what, least, most, facts.low);
    }
    return facts.constant() ? std::clamp(facts.low, least, most) : least;
  }

  // --- expressions ---

  int evaluate(ExpressionId id) {
    if (id < 0) return values_.constant(1);
    const Expression& expression = syntax_.at(id);
    if (++terms_ > kMaxTerms) {
      if (terms_ == kMaxTerms + 1)
        complain(ProblemCode::kTooLarge, expression.at,
                 "after inlining its functions, the algorithm has more than {} terms; simplify the "
                 "algorithm",
                 kMaxTerms);
      return values_.constant(1);
    }
    if (expression.op == Operator::kNumber) return evaluate_number(expression);
    if (expression.op == Operator::kName)
      return expression.is_call ? call(expression) : look_up(expression);
    std::vector<int> operands;
    for (const ExpressionId operand : expression.operands) operands.push_back(evaluate(operand));
    const ValueOp op = op_of(expression.op, operands);  // may reverse the operands
    return apply(op, std::move(operands), expression.at);
  }

  int evaluate_number(const Expression& expression) {
    if (expression.number <= kLargestValue) return values_.constant(expression.number);
    complain(ProblemCode::kTooLarge, expression.at, "{} is too large; the largest number is 2^60",
             expression.number);
    return values_.constant(1);
  }

  static ValueOp op_of(Operator op, std::vector<int>& operands) {
    switch (op) {
      case Operator::kNegate: return ValueOp::kNegate;
      case Operator::kNot: return ValueOp::kNot;
      case Operator::kAdd: return ValueOp::kAdd;
      case Operator::kSubtract: return ValueOp::kSubtract;
      case Operator::kMultiply: return ValueOp::kMultiply;
      case Operator::kDivide: return ValueOp::kDivide;
      case Operator::kModulo: return ValueOp::kModulo;
      case Operator::kEqual: return ValueOp::kEqual;
      case Operator::kNotEqual: return ValueOp::kNotEqual;
      case Operator::kGreater: std::swap(operands[0], operands[1]); return ValueOp::kLess;
      case Operator::kLess: return ValueOp::kLess;
      case Operator::kGreaterEqual: std::swap(operands[0], operands[1]); return ValueOp::kLessEqual;
      case Operator::kLessEqual: return ValueOp::kLessEqual;
      case Operator::kAnd: return ValueOp::kAnd;
      case Operator::kOr: return ValueOp::kOr;
      default: return ValueOp::kChoose;
    }
  }

  int apply(ValueOp op, std::vector<int> operands, Position at) {
    return values_.apply(op, std::move(operands), [&](ProblemCode code, const std::string& text) {
      complain(code, at, "{}", text);
    });
  }

  int look_up(const Expression& expression) {
    const Binding* binding = find(expression.name);
    if (binding && !binding->function) return binding->value;
    if (binding) {
      complain(ProblemCode::kWrongType, expression.at, "\"{}\" is a function; say {}(…)",
               expression.name, expression.name);
    } else {
      complain_unknown(expression, false);
    }
    return values_.constant(1);
  }

  void complain_unknown(const Expression& expression, bool call) {
    std::vector<std::string> names;
    for (const auto& [name, binding] : scope_) {
      if ((binding.function != nullptr) == call) names.push_back(name);
    }
    if (call) {
      for (const auto& [name, builtin] : builtins()) names.push_back(name);
    }
    complain(ProblemCode::kUnknownName, expression.at, "there is no {} \"{}\" here{}",
             call ? "function" : "value", expression.name, did_you_mean(expression.name, names));
  }

  struct Builtin {
    ValueOp op = ValueOp::kMin;
    std::size_t operands = 2;
  };
  static const std::map<std::string, Builtin>& builtins() {
    static const std::map<std::string, Builtin> all{{"min", {ValueOp::kMin, 2}},
                                                    {"max", {ValueOp::kMax, 2}},
                                                    {"abs", {ValueOp::kAbs, 1}},
                                                    {"xor", {ValueOp::kXor, 2}},
                                                    {"log2", {ValueOp::kLog2, 1}},
                                                    {"power", {ValueOp::kPower, 2}},
                                                    {"lowest_bit", {ValueOp::kLowestBit, 1}}};
    return all;
  }

  int call(const Expression& expression) {
    std::vector<int> operands;
    for (const ExpressionId operand : expression.operands) operands.push_back(evaluate(operand));
    const Binding* binding = find(expression.name);
    const auto builtin = builtins().find(expression.name);
    if (!binding && builtin == builtins().end())
      return complain_unknown(expression, true), values_.constant(1);
    if (binding && !binding->function) {
      complain(ProblemCode::kWrongType, expression.at,
               "\"{}\" is a value, not a function; remove the parentheses", expression.name);
      return values_.constant(1);
    }
    const std::size_t wanted =
        binding ? binding->function->parameters.size() : builtin->second.operands;
    if (operands.size() != wanted) {
      complain(ProblemCode::kWrongType, expression.at, "{} takes {} value{} (got {})",
               expression.name, wanted, wanted == 1 ? "" : "s", operands.size());
      return values_.constant(1);
    }
    if (!binding) return apply(builtin->second.op, std::move(operands), expression.at);
    return call_function(*binding->function, binding->visible, operands, expression.at);
  }

  /// Returns the body of the function with the operands substituted for its parameters. The body
  /// can use only names that were defined before the function.
  int call_function(const Definition& function, std::size_t visible,
                    const std::vector<int>& operands, Position at) {
    if (calls_ >= kMaxCalls) {
      complain(ProblemCode::kTooLarge, at, "function calls are nested deeper than {} levels",
               kMaxCalls);
      return values_.constant(1);
    }
    ++calls_;
    const std::size_t size = scope_.size();
    const auto hidden = std::pair(hidden_from_, hidden_to_);
    // The function sees only names that were defined before it, which are at the beginning of the
    // scope; all later names are hidden.
    hidden_from_ = std::min(visible, size);
    hidden_to_ = size;
    for (std::size_t i = 0; i < operands.size(); ++i)
      define_value(function.parameters[i], operands[i]);
    const int value = evaluate(function.value);
    scope_.resize(size);
    std::tie(hidden_from_, hidden_to_) = hidden;
    --calls_;
    return value;
  }

  // --- lanes ---

  void compile_lanes() {
    std::int64_t most = 0;
    for (const LaneText& lane : syntax_.lanes) begin_family(lane);
    for (std::size_t i = 0; i < syntax_.lanes.size() && problems_.size() == before_; ++i) {
      const LaneText& lane = syntax_.lanes[i];
      const LaneFamily& family = program_.families[i];
      family_ = static_cast<int>(i);
      const std::size_t names = scope_.size();
      if (family.numbered) {
        const std::int64_t last = family.first_number + family.count - 1;
        define(lane.variable,
               {values_.variable(kLaneSlot, family.first_number, last, true, true), nullptr, 0},
               lane.at);
      }
      const int root = compile_block(lane.body);
      program_.families[i].root = root;
      scope_.resize(names);
      const NodeFacts& facts = facts_of(root);
      most = capped(most + capped_product(facts.most, program_.families[i].count));
      program_.visits =
          capped(program_.visits + capped_product(facts.visits, program_.families[i].count));
      if (facts.counting > kMaxCounting && problems_.size() == before_) complain_slow(lane.at);
      if (most > kMaxSteps)
        complain(ProblemCode::kTooLarge, lane.at,
                 "a rank would have up to {} steps, more than the limit of {}; check the bounds of "
                 "loops, or use fewer chunks",
                 most >= std::int64_t{1} << 40 ? "10^12" : fmt::format("{}", most), kMaxSteps);
    }
  }

  void complain_slow(Position at) {
    complain(ProblemCode::kTooLarge, at,
             "iterations of a loop have different numbers of steps, and counting them takes more "
             "than {} operations; use iterations of equal length, or fewer of them",
             kMaxCounting);
  }

  void begin_family(const LaneText& lane) {
    LaneFamily family;
    family.name = lane.name;
    family.first = static_cast<Lane>(program_.family_of_lane.size());
    if (!lane.name.empty() && family_called(lane.name))
      complain(ProblemCode::kDuplicate, lane.at, "lane \"{}\" is declared twice; names must differ",
               lane.name);
    if (!lane.variable.empty()) {
      family.numbered = true;
      family.first_number = number(lane.first, "the first lane", -kMaxLanes, kMaxLanes);
      const std::int64_t last =
          number(lane.last, "the last lane", family.first_number - 1, kMaxLanes);
      family.count = static_cast<std::int32_t>(last - family.first_number + 1);
    }
    if (static_cast<std::int64_t>(program_.family_of_lane.size()) + family.count > kMaxLanes) {
      complain(ProblemCode::kTooLarge, lane.at, "a rank has more than {} lanes; use fewer",
               kMaxLanes);
      family.count = 0;
    }
    program_.family_of_lane.insert(program_.family_of_lane.end(),
                                   static_cast<std::size_t>(family.count),
                                   static_cast<int>(program_.families.size()));
    program_.families.push_back(std::move(family));
  }

  [[nodiscard]] std::optional<int> family_called(const std::string& name) const {
    for (std::size_t i = 0; i < program_.families.size(); ++i) {
      if (program_.families[i].name == name) return static_cast<int>(i);
    }
    return std::nullopt;
  }

  /// Returns the family of lanes that has this name. Reports a problem if no family has the name,
  /// if the index of a numbered family is missing, or if an unnumbered family has an index.
  std::optional<int> named_lane(const std::string& name, bool has_number, Position at) {
    const std::optional<int> family = family_called(name);
    if (!family) {
      std::vector<std::string> names;
      for (const LaneFamily& one : program_.families) names.push_back(one.name);
      complain(ProblemCode::kUnknownName, at, "there is no lane \"{}\"{}", name,
               did_you_mean(name, names));
      return std::nullopt;
    }
    const LaneFamily& named = program_.families[*family];
    if (named.count == 0) {
      complain(ProblemCode::kInvalid, at,
               "the range of lanes \"{}\" is empty: its end is below its start", name);
      return std::nullopt;
    }
    if (named.numbered == has_number) return family;
    if (named.numbered)
      complain(ProblemCode::kWrongType, at, "lanes \"{}\" are numbered; select one, as in {}[0]",
               name, name);
    else
      complain(ProblemCode::kWrongType, at, "lane \"{}\" is not numbered; remove the brackets",
               name);
    return std::nullopt;
  }

  // --- statements ---

  int new_node(NodeCode::Kind kind) {
    program_.nodes.emplace_back().kind = kind;
    node_facts_.emplace_back();
    return static_cast<int>(program_.nodes.size()) - 1;
  }
  NodeCode& node(int id) { return program_.nodes[id]; }
  NodeFacts& facts_of(int id) { return node_facts_[id]; }

  int compile_block(const std::vector<Statement>& statements) {
    const int id = new_node(NodeCode::Kind::kBlock);
    path_.push_back(id);
    const std::size_t names = scope_.size();
    int wait = -1;
    const auto flush = [&] {
      if (wait >= 0) append(id, compile_nop(wait));
      wait = -1;
    };
    for (const Statement& statement : statements) {
      if (problems_.full()) break;
      if (statement.kind == Statement::Kind::kLet) {
        define_let(statement.definition);
      } else if (statement.kind == Statement::Kind::kWait) {
        flush();
        wait = compile_wait(statement.wait);
      } else if (statement.kind == Statement::Kind::kAction) {
        append(id, compile_action(statement.action, std::exchange(wait, -1)));
      } else {
        flush();
        compile_compound(id, statement);
      }
    }
    flush();
    scope_.resize(names);
    path_.pop_back();
    finish_block(id);
    return id;
  }

  void append(int block, int child) { node(block).children.push_back(child); }

  void compile_compound(int block, const Statement& statement) {
    if (statement.kind == Statement::Kind::kMark)
      return append(block, compile_mark(statement.name, statement.at));
    if (statement.kind == Statement::Kind::kFor) return compile_for(block, statement);
    const int condition = evaluate(statement.first);
    const Facts& facts = values_.facts(condition);
    if (facts.constant() || facts.low > 0 || facts.high < 0) {
      const bool taken = facts.low != 0 || facts.high != 0;
      compile_dead_marks(block, taken ? statement.otherwise : statement.body);
      return append(block, compile_block(taken ? statement.body : statement.otherwise));
    }
    need_same(condition, statement.at, "the condition must not depend on the rank");
    const int id = new_node(NodeCode::Kind::kIf);
    path_.push_back(id);
    const int body = compile_block(statement.body);
    const int otherwise = compile_block(statement.otherwise);
    path_.pop_back();
    NodeCode& made = node(id);
    made.low = values_.value(condition);
    made.body = body;
    made.otherwise = otherwise;
    const NodeFacts& yes = facts_of(body);
    const NodeFacts& no = facts_of(otherwise);
    const std::uint32_t uses = values_.facts(condition).uses;
    if (node(body).count >= 0 && node(body).count == node(otherwise).count)
      made.count = node(body).count;
    facts_of(id) = {std::max(yes.most, no.most),
                    1 + std::max(yes.counting, no.counting),
                    made.count >= 0 ? 0U : uses | yes.count_uses | no.count_uses,
                    uses | yes.way_uses | no.way_uses,
                    uses | yes.like_uses | no.like_uses,
                    yes.waits || no.waits,
                    1 + std::max(yes.visits, no.visits)};
    append(block, id);
  }

  void compile_for(int block, const Statement& statement) {
    const int from = evaluate(statement.first);
    const int to = evaluate(statement.last);
    const int low = statement.downwards ? to : from;
    const int high = statement.downwards ? from : to;
    const std::int64_t least = values_.facts(low).low;
    const std::int64_t most = values_.facts(high).high;
    if (least > most) return compile_dead_marks(block, {statement});
    const int slot = kFirstLoopSlot + loops_;
    if (slot >= kSlots) {
      return complain(ProblemCode::kTooLarge, statement.at,
                      "loops are nested deeper than {} levels; use fewer", kSlots - kFirstLoopSlot);
    }
    need_same(low, statement.at, "the bounds of a loop must not depend on the rank");
    need_same(high, statement.at, "the bounds of a loop must not depend on the rank");
    const auto same = [&](auto under) {
      return under(values_.facts(low)) && under(values_.facts(high));
    };
    const bool same_shift = same([](const Facts& f) { return f.shift.same(); });
    const bool same_exchange = same([](const Facts& f) { return f.exchange.same(); });
    const std::size_t names = scope_.size();
    const int id = new_node(NodeCode::Kind::kLoop);
    path_.push_back(id);
    ++loops_;
    define(statement.name,
           {values_.variable(slot, least, most, same_shift, same_exchange), nullptr, 0},
           statement.at);
    const int body = compile_block(statement.body);
    --loops_;
    path_.pop_back();
    scope_.resize(names);
    finish_loop(id, statement, slot, low, high, body);
    append(block, id);
  }

  void finish_loop(int id, const Statement& statement, int slot, int low, int high, int body) {
    const std::int64_t rounds = values_.facts(high).high - values_.facts(low).low + 1;
    NodeCode& loop = node(id);
    loop.low = values_.value(low);
    loop.high = values_.value(high);
    loop.downwards = statement.downwards;
    loop.slot = slot;
    loop.body = body;
    const std::uint32_t own = 1U << slot;
    const std::uint32_t bounds = values_.facts(low).uses | values_.facts(high).uses;
    const NodeFacts& inside = facts_of(body);
    loop.varies = (inside.count_uses & own) != 0;
    loop.ways_vary = (inside.way_uses & own) != 0;
    loop.identical = !loop.varies && !inside.waits && (inside.like_uses & own) == 0;
    NodeFacts facts;
    facts.most = capped_product(inside.most, rounds);
    facts.counting = loop.varies ? capped_product(inside.counting, rounds) : 1 + inside.counting;
    facts.count_uses = (bounds | inside.count_uses) & ~own;
    facts.way_uses = (bounds | inside.way_uses) & ~own;
    facts.like_uses = (bounds | inside.like_uses) & ~own;
    facts.waits = inside.waits;
    facts.visits = capped(1 + capped_product(inside.visits, loop.ways_vary ? rounds : 1));
    const bool fixed = values_.facts(low).constant() && values_.facts(high).constant();
    if (fixed && node(body).count >= 0 && facts.most <= kMaxSteps)
      loop.count = node(body).count * rounds;
    if (fixed && loop.varies && inside.count_uses == own && facts.counting <= kMaxCounting &&
        (counted_ += facts.counting) <= kMaxCountingInAll) {
      // The iterations of this loop have different numbers of steps, but every rank has the same
      // numbers. The total number of steps is therefore a constant.
      loop.count = sum_of(loop, values_.facts(low).low, rounds);
      facts.count_uses = 0;
    }
    if (loop.count >= 0) facts.count_uses = 0;
    if (facts.counting > kMaxCounting && problems_.size() == before_) complain_slow(statement.at);
    facts_of(id) = facts;
  }

  /// Returns the total number of steps of a loop with `rounds` iterations. The steps of an
  /// iteration may depend only on the loop's own variable.
  std::int64_t sum_of(const NodeCode& loop, std::int64_t low, std::int64_t rounds) {
    // StepFinder evaluates nodes of the program, so the nodes built so far are temporarily moved
    // there.
    values_.swap_nodes(program_.values.nodes);
    const StepFinder finder(program_);
    Variables variables{};
    std::int64_t sum = 0;
    for (std::int64_t round = 0; round < rounds; ++round) {
      variables[loop.slot] = low + round;
      sum += finder.count(loop.body, variables);
    }
    values_.swap_nodes(program_.values.nodes);
    return sum;
  }

  void finish_block(int id) {
    NodeFacts facts;
    std::int64_t count = 0;
    for (const int child : node(id).children) {
      const NodeFacts& one = facts_of(child);
      facts.most = capped(facts.most + one.most);
      facts.visits = capped(facts.visits + one.visits);
      facts.counting = capped(facts.counting + (node(child).count >= 0 ? 1 : one.counting));
      facts.count_uses |= one.count_uses;
      facts.way_uses |= one.way_uses;
      facts.like_uses |= one.like_uses;
      facts.waits = facts.waits || one.waits;
      if (count >= 0) count = node(child).count < 0 ? -1 : count + node(child).count;
    }
    if (count >= 0 && facts.most <= kMaxSteps) node(id).count = count;
    facts_of(id) = facts;
  }

  // --- marks and waits ---

  int compile_mark(const std::string& name, Position at) {
    const auto same = [&](const MarkCode& mark) { return mark.name == name; };
    if (std::any_of(program_.marks.begin(), program_.marks.end(), same))
      complain(ProblemCode::kDuplicate, at, "mark \"{}\" is declared twice; names must differ",
               name);
    const int id = new_node(NodeCode::Kind::kMark);
    node(id).count = 0;
    MarkCode mark{name, at, family_, path_};
    mark.path.push_back(id);
    program_.marks.push_back(std::move(mark));
    return id;
  }

  /// Gives each mark in unreachable code the position that the mark would have if the code were
  /// reachable.
  void compile_dead_marks(int block, const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) {
      if (statement.kind == Statement::Kind::kMark)
        append(block, compile_mark(statement.name, statement.at));
      compile_dead_marks(block, statement.body);
      compile_dead_marks(block, statement.otherwise);
    }
  }

  int compile_wait(const WaitText& text) {
    WaitCode wait;
    wait.whole_lane = text.whole_lane;
    for (const ExpressionId argument : text.arguments) {
      const int value = evaluate(argument);
      need_same(value, text.at, "the target of a wait must not depend on the rank");
      wait.arguments.push_back(values_.value(value));
    }
    program_.waits.push_back(std::move(wait));
    waits_.push_back(text);
    return static_cast<int>(program_.waits.size()) - 1;
  }

  /// A wait may precede its mark in the text, so waits are resolved after all lanes have been
  /// compiled.
  void resolve_waits() {
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const WaitText& text = waits_[i];
      WaitCode& wait = program_.waits[i];
      if (wait.whole_lane) {
        if (text.arguments.size() > 1)
          complain(ProblemCode::kWrongType, text.at, "a lane has one index (got {})",
                   text.arguments.size());
        wait.family = named_lane(text.mark, !text.arguments.empty(), text.at).value_or(-1);
        continue;
      }
      const auto found = std::find_if(program_.marks.begin(), program_.marks.end(),
                                      [&](const MarkCode& mark) { return mark.name == text.mark; });
      if (found == program_.marks.end()) {
        std::vector<std::string> names;
        for (const MarkCode& mark : program_.marks) names.push_back(mark.name);
        complain(ProblemCode::kUnknownName, text.at, "there is no mark \"{}\"{}", text.mark,
                 did_you_mean(text.mark, names));
        continue;
      }
      wait.mark = static_cast<int>(found - program_.marks.begin());
      check_rounds(text, *found);
    }
  }

  /// Checks that a wait has one index for a numbered lane, and one index for each loop around the
  /// mark.
  void check_rounds(const WaitText& text, const MarkCode& mark) {
    const LaneText& lane = syntax_.lanes[mark.family];
    const auto loops = loops_around(lane.body, mark.at);
    const std::size_t wanted = loops.value_or(0) + (lane.variable.empty() ? 0 : 1);
    if (text.arguments.size() == wanted) return;
    complain(ProblemCode::kWrongType, text.at,
             "mark \"{}\" needs {} index{} in [ ]: the index of the lane, if the lanes are "
             "numbered, and the variable of every loop around the mark (got {})",
             mark.name, wanted, wanted == 1 ? "" : "s", text.arguments.size());
  }

  static std::optional<std::size_t> loops_around(const std::vector<Statement>& statements,
                                                 Position at) {
    for (const Statement& statement : statements) {
      if (statement.kind == Statement::Kind::kMark && statement.at.line == at.line &&
          statement.at.column == at.column)
        return 0;
      for (const auto* inside : {&statement.body, &statement.otherwise}) {
        const auto loops = loops_around(*inside, at);
        if (loops) return *loops + (statement.kind == Statement::Kind::kFor ? 1 : 0);
      }
    }
    return std::nullopt;
  }

  // --- actions ---

  int add_action(ActionCode action, std::uint32_t ways, std::uint32_t like) {
    const int id = new_node(NodeCode::Kind::kAction);
    node(id).count = 1;
    node(id).action = static_cast<int>(program_.actions.size());
    facts_of(id) = {1, 1, 0, ways, ways | like, action.wait >= 0};
    program_.actions.push_back(std::move(action));
    return id;
  }

  int compile_nop(int wait) {
    ActionCode nop;
    nop.wait = wait;
    return add_action(std::move(nop), 0, 0);
  }

  int compile_action(const ActionText& text, int wait) {
    ActionCode action;
    action.at = text.at;
    action.wait = wait;
    ways_ = 0;
    like_ = 0;
    action.source = compile_place(text.place);
    if (text.has_other) {
      action.one_place = false;
      action.target = compile_place(text.other);
    }
    Area written = text.place.area;
    switch (text.verb) {
      case Verb::kSend:
        action.kind = StepKind::kSend;
        written = Area::kData;
        break;
      case Verb::kReceive:
        action.kind = text.then == Then::kNothing ? StepKind::kReceive : StepKind::kReceiveSend;
        break;
      case Verb::kReduce:
        action.kind = text.then == Then::kNothing    ? StepKind::kReceiveReduce
                      : text.then == Then::kOnlySend ? StepKind::kReceiveReduceSend
                                                     : StepKind::kReceiveReduceCopySend;
        if (text.then == Then::kOnlySend) written = Area::kData;
        // The sum is stored in the first operand, and the data of the second operand is added.
        if (text.has_other) std::swap(action.source, action.target);
        break;
      case Verb::kCopy:
      case Verb::kAdd:
        action.kind = text.verb == Verb::kCopy ? StepKind::kCopy : StepKind::kReduce;
        written = text.other.area;
        break;
      case Verb::kMulticast:
        action.kind = StepKind::kMulticast;
        written = Area::kData;
        break;
      case Verb::kReduceAcross:
        action.kind = StepKind::kSwitchReduce;
        if (text.has_other) std::swap(action.source, action.target);
        break;
    }
    check_nothing(text);
    if (written == Area::kInput)
      complain(ProblemCode::kInvalid, text.at,
               "the input is read-only; write to output[…] or scratch[…]");
    if (text.from.rank >= 0) action.from = compile_peer(text.from);
    if (text.to.rank >= 0) action.to = compile_peer(text.to);
    if (text.group.first >= 0) {
      action.group = compile_group(text.group);
      compile_lane_of(text.to, action.to);
    }
    return add_action(std::move(action), ways_, like_);
  }

  void check_nothing(const ActionText& text) {
    const bool named =
        text.place.area == Area::kNothing || (text.has_other && text.other.area == Area::kNothing);
    const bool message =
        text.verb == Verb::kSend || text.verb == Verb::kReceive || text.verb == Verb::kMulticast;
    if (named && (!message || text.then != Then::kNothing))
      complain(ProblemCode::kInvalid, text.at,
               "\"nothing\" can only be sent, received or multicast; write data or scratch here");
  }

  PlaceCode compile_place(const Place& text) {
    PlaceCode place;
    place.area = text.area;
    if (text.area == Area::kNothing) return place;
    if (text.area == Area::kScratch && program_.scratch == 0)
      complain(ProblemCode::kMissing, text.at,
               "scratch is not declared; declare its number of chunks, such as scratch chunks");
    const int first = evaluate(text.first);
    place.first = values_.value(first);
    if (text.last >= 0 || text.count >= 0) {
      const int one = values_.constant(1);
      const int count =
          text.count >= 0
              ? evaluate(text.count)
              : apply(ValueOp::kAdd,
                      {apply(ValueOp::kSubtract, {evaluate(text.last), first}, text.at), one},
                      text.at);
      place.one = values_.facts(count).constant() && values_.facts(count).low == 1;
      place.count = values_.value(count);
      size_depends_on(count, text.at);
    }
    if (text.like >= 0) {
      const int like = evaluate(text.like);
      place.has_like = true;
      place.like = values_.value(like);
    }
    if (text.parts >= 0) compile_piece(text, place);
    return place;
  }

  void compile_piece(const Place& text, PlaceCode& place) {
    const int parts = evaluate(text.parts);
    const Facts facts = values_.facts(parts);
    if (facts.low < 1) {
      return complain(ProblemCode::kTooSmall, text.at,
                      "the number of pieces can become {}; it must be at least 1", facts.low);
    }
    place.in_pieces = true;
    place.part = values_.value(evaluate(text.part));
    place.parts = values_.value(parts);
    size_depends_on(parts, text.at);
    if (facts.constant())
      program_.piece_counts.push_back(facts.low);
    else
      program_.pieces_vary = true;
  }

  void size_depends_on(int value, Position at) {
    like_ |= values_.facts(value).uses;
    need_same(value, at, "a size must not depend on the rank");
  }

  PeerCode compile_peer(const PeerText& text) {
    PeerCode peer;
    const int rank = evaluate(text.rank);
    const std::int64_t ranks = program_.shape.ranks;
    peer.relative = values_.is_rank_plus(rank);
    peer.rank = peer.relative ? values_.value_without_rank(rank) : values_.value(rank);
    if (ranks > 1 && peer.relative && peer.rank.count == 0 &&
        floor_modulo(peer.rank.base, ranks) == 0)
      complain(ProblemCode::kInvalid, text.at,
               "a rank cannot send to or receive from itself; use copy");
    ways_ |= peer.relative ? values_.facts(rank).uses & ~1U : values_.facts(rank).uses;
    need_moving(rank, text.at);
    compile_lane_of(text, peer);
    return peer;
  }

  void compile_lane_of(const PeerText& text, PeerCode& peer) {
    if (text.lane.empty()) return;
    const std::optional<int> family = named_lane(text.lane, text.lane_index >= 0, text.lane_at);
    peer.own_lane = false;
    peer.family = family.value_or(0);
    if (text.lane_index < 0 || !family) return;
    const int number = evaluate(text.lane_index);
    ways_ |= values_.facts(number).uses;
    need_same(number, text.lane_at, "the index of a lane must not depend on the rank");
    peer.lane_number = values_.value(number);
  }

  GroupCode compile_group(const GroupText& text) {
    GroupCode group;
    const int first = evaluate(text.first);
    const int count = evaluate(text.count);
    const int stride = text.stride < 0 ? values_.constant(1) : evaluate(text.stride);
    if (values_.facts(stride).low < 1)
      complain(ProblemCode::kTooSmall, text.at, "the step can become {}; it must be at least 1",
               values_.facts(stride).low);
    group.first = values_.value(first);
    group.count = values_.value(count);
    group.stride = values_.value(stride);
    for (const int value : {first, count, stride}) ways_ |= values_.facts(value).uses;
    need_moving(first, text.at);
    need_same(count, text.at, "the size of a group must not depend on the rank");
    need_same(stride, text.at, "the step of a group must not depend on the rank");
    // IdenticalSteps can only describe messages to a single rank, so steps for a group are computed
    // one by one.
    like_ = ~0U;
    return group;
  }

  // --- symmetry ---

  static void note(Obstacle& obstacle, Position at, std::string what) {
    if (obstacle.what.empty()) obstacle = {at, std::move(what)};
  }
  void need_same(int value, Position at, const std::string& what) {
    const Facts& facts = values_.facts(value);
    if (!facts.shift.same()) note(program_.to_shift, at, what);
    if (!facts.exchange.same()) note(program_.to_exchange, at, what);
  }
  /// Requires that a peer is symmetric: if workers are renumbered, the peer is renumbered in the
  /// same way.
  void need_moving(int peer, Position at) {
    const Facts& facts = values_.facts(peer);
    const std::int64_t ranks = program_.shape.ranks;
    const std::int64_t per_node = program_.shape.per_node;
    const bool shifts = facts.shift.known && facts.shift.modulus > 0 &&
                        facts.shift.modulus % ranks == 0 &&
                        (facts.shift.step - per_node) % ranks == 0;
    if (!shifts)
      note(program_.to_shift, at,
           "the rank of this peer is not computed relative to the rank's own node");
    const bool exchanges = facts.exchange.known && facts.exchange.scale == per_node &&
                           facts.low >= 0 && facts.high < ranks;
    if (!exchanges)
      note(program_.to_exchange, at,
           "the rank of this peer is not computed relative to the rank's own node");
  }

  /// Checks the declared symmetry. A single worker is always symmetric.
  void keep_promises() {
    if (program_.shape.ranks == program_.shape.per_node) return;
    const auto keep = [&](bool promised, const Obstacle& obstacle, const char* name) {
      if (!promised || obstacle.what.empty()) return;
      complain(ProblemCode::kConflict, obstacle.at,
               "{}, so the algorithm differs between workers, which contradicts {} (line {}); "
               "compute the rank from node + …, or remove symmetry",
               obstacle.what, name, syntax_.symmetry_at.line);
    };
    keep(syntax_.shift_promised, program_.to_shift, "symmetry shift");
    keep(syntax_.exchange_promised, program_.to_exchange, "symmetry exchange");
  }

  const Syntax& syntax_;
  Problems& problems_;
  std::size_t before_;  ///< number of problems that were found before this algorithm, such as
                        ///< problems of the scenario
  ValueBuilder values_;
  Program program_;
  std::vector<NodeFacts> node_facts_;
  std::vector<std::pair<std::string, Binding>> scope_;
  std::size_t hidden_from_ = 0;  ///< index of the first hidden name; the names `hidden_from_` to
                                 ///< `hidden_to_` - 1 are hidden
  std::size_t hidden_to_ = 0;
  std::vector<WaitText> waits_;
  std::vector<int> path_;
  int family_ = 0;
  int loops_ = 0;
  int calls_ = 0;
  int terms_ = 0;
  std::int64_t counted_ = 0;
  std::uint32_t ways_ = 0;
  std::uint32_t like_ = 0;
};

}  // namespace

std::shared_ptr<const Program> compile(const Syntax& syntax, const AlgorithmShape& shape,
                                       const std::vector<AlgorithmParameter>& set,
                                       Problems& problems) {
  return Compiler(syntax, shape, problems).run(set);
}

}  // namespace tutti::core::custom
