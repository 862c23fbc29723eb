// A recursive descent parser. Every statement begins with a keyword, so lines need no terminators.
// After an error, the parser skips to the next keyword.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/ranges.h>

#include "core/custom/syntax.h"
#include "core/custom/tokens.h"
#include "core/text/limits.h"

namespace tutti::core::custom {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 23;
constexpr std::size_t kMaxExpressions = std::size_t{1} << 20;

constexpr std::array kHeaderWords{"algorithm", "collective", "parameter", "let",
                                  "require",   "chunks",     "scratch",   "slots",
                                  "symmetry",  "engine",     "lane"};
constexpr std::array kStatementWords{"let",  "for", "if",   "send", "receive",  "reduce",
                                     "copy", "add", "mark", "wait", "multicast"};

/// Reserved words of the language, which cannot be used as names.
constexpr std::array kReserved{
    "algorithm", "collective", "parameter", "let",    "require", "symmetry", "lane",
    "for",       "from",       "to",        "down",   "if",      "then",     "else",
    "send",      "receive",    "reduce",    "copy",   "add",     "mark",     "wait",
    "only",      "with",       "and",       "or",     "not",     "piece",    "of",
    "like",      "data",       "input",     "output", "count",   "nothing",  "multicast"};

template <class Words>
bool is_one_of(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class AlgorithmParser {
 public:
  AlgorithmParser(std::string_view text, const std::string& file, Problems& problems)
      : problems_(problems), before_(problems.size()), tokens_(tokens_of(text, file, problems)) {
    syntax_.file = file;
  }

  Syntax parse() {
    while (!ended() && !problems_.full()) {
      parse_header_item();
      if (failed_) recover(kHeaderWords, false);
    }
    if (problems_.size() == before_) check_whole();
    return std::move(syntax_);
  }

 private:
  using Kind = Token::Kind;

  // --- words ---

  [[nodiscard]] const Token& token() const { return tokens_[next_]; }
  [[nodiscard]] bool ended() const { return token().kind == Kind::kEnd; }
  [[nodiscard]] bool is(std::string_view text) const {
    return token().text == text && (token().kind == Kind::kName || token().kind == Kind::kSymbol);
  }
  void advance() {
    if (!ended()) ++next_;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }
  [[nodiscard]] std::string shown() const {
    if (ended()) return "the end of the file";
    return "'" + token().text.substr(0, 40) + "'";
  }

  template <class... Args>
  void complain(ProblemCode code, Position at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code}, {syntax_.file, at.line, at.column}, format, std::forward<Args>(args)...);
  }
  /// Reports a syntax error. Skips the rest of the current item after an error.
  void fail(const std::string& expected) {
    if (!failed_)
      complain(ProblemCode::kSyntax, token().at, "expected {}, found {}", expected, shown());
    failed_ = true;
  }
  void expect(std::string_view text) {
    if (!failed_ && !accept(text)) fail("'" + std::string(text) + "'");
  }

  /// Skips to the next word that is in `words`, or to the bracket that closes the block.
  template <class Words>
  void recover(const Words& words, bool in_block) {
    int open = 0;
    while (!ended()) {
      if (open == 0 && is_one_of(token().text, words) && token().kind == Kind::kName) break;
      if (is("{")) ++open;
      if (is("}")) {
        if (open == 0 && in_block) break;
        if (open > 0) --open;
      }
      advance();
    }
    failed_ = false;
  }

  std::string parse_name(const std::string& what) {
    if (token().kind != Kind::kName) return fail(what), "";
    std::string name = token().text;
    advance();
    return name;
  }
  /// Parses a new name, which this statement defines.
  std::string parse_new_name(const std::string& what) {
    const Position at = token().at;
    std::string name = parse_name(what);
    if (!failed_ && is_one_of(name, kReserved))
      complain(ProblemCode::kInvalid, at, "\"{}\" is a reserved word; choose another name", name);
    return name;
  }

  // --- header ---

  void parse_header_item() {
    const Position at = token().at;
    if (accept("algorithm")) {
      if (token().kind != Kind::kName && token().kind != Kind::kText)
        return fail("the algorithm's name");
      syntax_.name = token().text;
      return advance();
    }
    if (accept("collective")) return parse_collective_name();
    if (accept("parameter")) return parse_parameter(at);
    if (accept("let")) {
      syntax_.order.push_back({HeaderItem::Kind::kLet, syntax_.definitions.size()});
      syntax_.definitions.push_back(parse_definition());
      return;
    }
    if (accept("require")) {
      Requirement requirement{at, parse_expression(), ""};
      if (token().kind != Kind::kText) return fail("a string that names the requirement");
      requirement.why = token().text;
      advance();
      syntax_.order.push_back({HeaderItem::Kind::kRequire, syntax_.requirements.size()});
      syntax_.requirements.push_back(std::move(requirement));
      return;
    }
    if (accept("chunks"))
      return parse_once(syntax_.chunks, HeaderItem::Kind::kChunks, "chunks", at);
    if (accept("scratch"))
      return parse_once(syntax_.scratch, HeaderItem::Kind::kScratch, "scratch", at);
    if (accept("slots")) return parse_once(syntax_.slots, HeaderItem::Kind::kSlots, "slots", at);
    if (accept("symmetry")) {
      syntax_.symmetry_at = at;
      if (accept("shift"))
        syntax_.shift_promised = true;
      else if (accept("exchange"))
        syntax_.exchange_promised = true;
      else
        fail("shift or exchange");
      return;
    }
    if (accept("engine")) {
      if (accept("kernel"))
        syntax_.by_kernel = true;
      else
        fail("kernel");
      return;
    }
    if (accept("lane")) return parse_lane(at);
    fail(fmt::format("one of {}", fmt::join(kHeaderWords, ", ")));
    if (!ended() && !is_one_of(token().text, kHeaderWords)) advance();
  }

  void parse_collective_name() {
    const Position at = token().at;
    const std::string name = parse_name("a collective such as all_reduce");
    if (failed_) return;
    if (const auto kind = parse_collective(name)) {
      syntax_.collective = *kind;
      collective_known_ = true;
      return;
    }
    std::vector<std::string> names;
    for (const CollectiveKind kind : collective_kinds()) names.emplace_back(to_string(kind));
    complain(ProblemCode::kUnknownName, at, "\"{}\" is not a collective; expected one of {}", name,
             fmt::join(names, ", "));
    collective_known_ = true;
  }

  void parse_parameter(Position at) {
    ParameterText parameter{at, parse_new_name("the parameter's name"), 0};
    expect("=");
    const bool negative = accept("-");
    if (failed_ || token().kind != Kind::kNumber) return fail("a number (the parameter's default)");
    parameter.value = negative ? -token().number : token().number;
    advance();
    syntax_.order.push_back({HeaderItem::Kind::kParameter, syntax_.parameters.size()});
    syntax_.parameters.push_back(std::move(parameter));
  }

  void parse_once(ExpressionId& where, HeaderItem::Kind kind, const char* what, Position at) {
    if (where >= 0) complain(ProblemCode::kDuplicate, at, "\"{}\" is set twice; keep one", what);
    where = parse_expression();
    syntax_.order.push_back({kind, 0});
  }

  Definition parse_definition() {
    Definition definition;
    definition.at = token().at;
    definition.name = parse_new_name("a name");
    if (accept("(")) {
      do {
        definition.parameters.push_back(parse_new_name("a parameter's name"));
      } while (!failed_ && accept(","));
      expect(")");
    }
    expect("=");
    definition.value = parse_expression();
    return definition;
  }

  void check_whole() {
    const Position begin{1, 1};
    if (!collective_known_)
      complain(ProblemCode::kMissing, begin,
               "collective is missing; add a line such as collective all_reduce");
    if (syntax_.chunks < 0)
      complain(ProblemCode::kMissing, begin,
               "chunks is missing; set the number of parts of the buffer, such as chunks ranks");
    if (syntax_.lanes.empty())
      complain(ProblemCode::kMissing, begin,
               "lane is missing; describe each rank's steps in lane {{ … }}");
  }

  // --- lanes and statements ---

  void parse_lane(Position at) {
    LaneText lane;
    lane.at = at;
    if (token().kind == Kind::kName && !is("for")) lane.name = parse_new_name("the lane's name");
    if (accept("for")) {
      lane.variable = parse_new_name("the name of the lanes' index");
      expect("from");
      lane.first = parse_expression();
      expect("to");
      lane.last = parse_expression();
    }
    if (!failed_) lane.body = parse_block(1);
    syntax_.lanes.push_back(std::move(lane));
  }

  std::vector<Statement> parse_block(int depth) {
    std::vector<Statement> statements;
    const Position opened = token().at;
    expect("{");
    if (failed_) return statements;
    if (depth > kDeepestNesting) {
      complain(ProblemCode::kSyntax, opened, "blocks are nested deeper than {} levels",
               kDeepestNesting);
      next_ = tokens_.size() - 1;
      return statements;
    }
    while (!is("}")) {
      if (ended() || problems_.full()) {
        if (problems_.size() == before_)
          complain(ProblemCode::kSyntax, opened, "a '}}' is missing: this block is never closed");
        return statements;
      }
      parse_statement(statements, depth);
      if (failed_) recover(kStatementWords, true);
    }
    advance();
    return statements;
  }

  void parse_statement(std::vector<Statement>& statements, int depth) {
    Statement statement;
    statement.at = token().at;
    if (accept("let")) {
      statement.kind = Statement::Kind::kLet;
      statement.definition = parse_definition();
    } else if (accept("for")) {
      parse_for(statement, depth);
    } else if (accept("if")) {
      parse_if(statement, depth);
    } else if (accept("mark")) {
      statement.kind = Statement::Kind::kMark;
      statement.name = parse_new_name("the mark's name");
    } else if (accept("wait")) {
      parse_wait(statement);
    } else if (is_one_of(token().text, kStatementWords)) {
      parse_action(statement);
    } else {
      fail(fmt::format("a statement ({})", fmt::join(kStatementWords, ", ")));
      if (!is("}")) advance();
    }
    if (!failed_) statements.push_back(std::move(statement));
  }

  void parse_for(Statement& statement, int depth) {
    statement.kind = Statement::Kind::kFor;
    statement.name = parse_new_name("the loop's variable");
    expect("from");
    statement.first = parse_expression();
    statement.downwards = !failed_ && accept("down");
    expect("to");
    statement.last = parse_expression();
    if (!failed_) statement.body = parse_block(depth + 1);
  }

  void parse_if(Statement& statement, int depth) {
    statement.kind = Statement::Kind::kIf;
    statement.first = parse_expression();
    if (!failed_) statement.body = parse_block(depth + 1);
    if (failed_ || !accept("else")) return;
    if (!is("if")) {
      statement.otherwise = parse_block(depth + 1);
    } else if (depth >= kDeepestNesting) {
      complain(ProblemCode::kSyntax, token().at, "blocks are nested deeper than {} levels",
               kDeepestNesting);
      next_ = tokens_.size() - 1;
    } else {
      parse_statement(statement.otherwise, depth + 1);
    }
  }

  void parse_wait(Statement& statement) {
    statement.kind = Statement::Kind::kWait;
    WaitText& wait = statement.wait;
    wait.at = statement.at;
    expect("for");
    wait.whole_lane = !failed_ && accept("lane");
    wait.mark =
        parse_name(wait.whole_lane ? "a lane's name"
                                   : "the name of a mark, or \"lane\" and the name of a lane");
    if (failed_ || !accept("[")) return;
    do {
      wait.arguments.push_back(parse_expression());
    } while (!failed_ && accept(","));
    expect("]");
  }

  void parse_action(Statement& statement) {
    ActionText& action = statement.action;
    action.at = statement.at;
    if (accept("send")) {
      action.verb = Verb::kSend;
      action.place = parse_place();
      expect("to");
      action.to = parse_peer();
    } else if (accept("receive") || is("reduce")) {
      if (accept("reduce"))
        action.verb = Verb::kReduce;
      else
        action.verb = Verb::kReceive;
      action.place = parse_place();
      if (!failed_ && action.verb == Verb::kReduce && accept("with")) {
        action.other = parse_place();
        action.has_other = true;
      }
      if (!failed_ && action.verb == Verb::kReduce && accept("across")) {
        action.verb = Verb::kReduceAcross;
        action.group = parse_group();
        return;
      }
      expect("from");
      action.from = parse_peer();
      parse_then(action);
    } else if (accept("multicast")) {
      action.verb = Verb::kMulticast;
      action.place = parse_place();
      expect("to");
      action.group = parse_group();
      parse_lane_of(action.to);
    } else if (accept("copy") || is("add")) {
      if (accept("add"))
        action.verb = Verb::kAdd;
      else
        action.verb = Verb::kCopy;
      action.place = parse_place();
      expect("to");
      action.other = parse_place();
      action.has_other = true;
    }
  }

  void parse_then(ActionText& action) {
    if (failed_ || !accept("then")) return;
    const Position at = token().at;
    action.then = accept("only") ? Then::kOnlySend : Then::kSend;
    expect("send");
    expect("to");
    action.to = parse_peer();
    if (failed_ || action.then != Then::kOnlySend) return;
    if (action.verb == Verb::kReceive)
      complain(ProblemCode::kInvalid, at,
               "a received value is always stored before it is forwarded; remove \"only\"");
    else if (action.has_other)
      complain(ProblemCode::kInvalid, at,
               "a sum that is only sent is not stored; remove \"with\" and the operand before it");
  }

  PeerText parse_peer() {
    PeerText peer;
    peer.at = token().at;
    peer.rank = parse_expression();
    parse_lane_of(peer);
    return peer;
  }

  void parse_lane_of(PeerText& peer) {
    if (failed_ || !accept("lane")) return;
    peer.lane_at = token().at;
    peer.lane = parse_name("a lane's name");
    if (failed_ || !accept("[")) return;
    peer.lane_index = parse_expression();
    expect("]");
  }

  GroupText parse_group() {
    GroupText group;
    group.at = token().at;
    group.first = parse_expression();
    expect("count");
    group.count = parse_expression();
    if (!failed_ && accept("step")) group.stride = parse_expression();
    return group;
  }

  Place parse_place() {
    Place place;
    place.at = token().at;
    if (failed_) return place;
    if (accept("data") || accept("output")) {
      place.area = Area::kData;
    } else if (accept("input")) {
      place.area = Area::kInput;
      syntax_.names_input = true;
    } else if (accept("scratch")) {
      place.area = Area::kScratch;
    } else if (accept("nothing")) {
      place.area = Area::kNothing;
      return place;
    } else {
      fail("data[…], input[…], output[…], scratch[…] or nothing");
      return place;
    }
    expect("[");
    place.first = parse_expression();
    if (!failed_ && accept("to"))
      place.last = parse_expression();
    else if (!failed_ && accept("count"))
      place.count = parse_expression();
    expect("]");
    if (!failed_ && accept("like")) {
      if (place.area != Area::kScratch)
        complain(ProblemCode::kInvalid, place.at, "\"like\" applies only to scratch; remove it");
      place.like = parse_expression();
    }
    if (!failed_ && accept("piece")) {
      place.part = parse_expression();
      expect("of");
      place.parts = parse_expression();
    }
    return place;
  }

  // --- expressions ---

  ExpressionId add(Expression expression) {
    if (syntax_.expressions.size() >= kMaxExpressions) {
      if (!failed_)
        complain(ProblemCode::kTooLarge, expression.at,
                 "the algorithm has more than {} terms; simplify the algorithm", kMaxExpressions);
      failed_ = true;
      return 0;
    }
    syntax_.expressions.push_back(std::move(expression));
    return static_cast<ExpressionId>(syntax_.expressions.size()) - 1;
  }

  ExpressionId parse_expression() {
    if (failed_) return -1;
    if (++depth_ > kDeepestNesting) {
      complain(ProblemCode::kSyntax, token().at, "expressions are nested deeper than {} levels",
               kDeepestNesting);
      failed_ = true;
      next_ = tokens_.size() - 1;
      --depth_;
      return -1;
    }
    const ExpressionId id = is("if") ? parse_choice() : parse_binary(0);
    --depth_;
    return id;
  }

  ExpressionId parse_choice() {
    const Position at = token().at;
    advance();
    const ExpressionId condition = parse_expression();
    expect("then");
    const ExpressionId yes = parse_expression();
    expect("else");
    const ExpressionId no = parse_expression();
    return failed_ ? -1 : add({Operator::kChoose, at, 0, "", {condition, yes, no}, false});
  }

  struct Binary {
    std::string_view text;
    Operator op;
    int level;  ///< precedence of the operator; operators with a higher level bind more tightly
  };
  [[nodiscard]] const Binary* binary() const {
    static constexpr std::array kAll{
        Binary{"or", Operator::kOr, 0},        Binary{"and", Operator::kAnd, 1},
        Binary{"==", Operator::kEqual, 3},     Binary{"!=", Operator::kNotEqual, 3},
        Binary{"<=", Operator::kLessEqual, 3}, Binary{">=", Operator::kGreaterEqual, 3},
        Binary{"<", Operator::kLess, 3},       Binary{">", Operator::kGreater, 3},
        Binary{"+", Operator::kAdd, 4},        Binary{"-", Operator::kSubtract, 4},
        Binary{"*", Operator::kMultiply, 5},   Binary{"/", Operator::kDivide, 5},
        Binary{"%", Operator::kModulo, 5}};
    const auto found =
        std::find_if(kAll.begin(), kAll.end(), [&](const Binary& one) { return is(one.text); });
    return found == kAll.end() ? nullptr : &*found;
  }

  ExpressionId parse_binary(int level) {
    if (level > 5) return parse_unary();
    if (level == 2) return parse_not();
    ExpressionId left = parse_binary(level + 1);
    for (const Binary* op = binary(); !failed_ && op && op->level == level; op = binary()) {
      const Position at = token().at;
      advance();
      const ExpressionId right = parse_binary(level + 1);
      if (failed_) return -1;
      left = add({op->op, at, 0, "", {left, right}, false});
      if (level == 3) break;  // comparisons cannot be chained: a < b < c
    }
    return left;
  }

  ExpressionId parse_not() {
    if (!is("not")) return parse_binary(3);
    const Position at = token().at;
    advance();
    const ExpressionId operand = nested([&] { return parse_not(); });
    return failed_ ? -1 : add({Operator::kNot, at, 0, "", {operand}, false});
  }

  ExpressionId parse_unary() {
    if (!is("-")) return parse_primary();
    const Position at = token().at;
    advance();
    const ExpressionId operand = nested([&] { return parse_unary(); });
    return failed_ ? -1 : add({Operator::kNegate, at, 0, "", {operand}, false});
  }

  template <class Parse>
  ExpressionId nested(Parse parse) {
    if (depth_ >= kDeepestNesting) return fail("fewer signs in front of a number"), -1;
    ++depth_;
    const ExpressionId id = parse();
    --depth_;
    return id;
  }

  ExpressionId parse_primary() {
    if (failed_) return -1;
    const Token& word = token();
    if (word.kind == Kind::kNumber) {
      advance();
      return add({Operator::kNumber, word.at, word.number, "", {}, false});
    }
    if (accept("(")) {
      const ExpressionId inside = parse_expression();
      expect(")");
      return inside;
    }
    if (word.kind != Kind::kName || is_one_of(word.text, kReserved))
      return fail("a number, a name or '('"), -1;
    Expression expression{Operator::kName, word.at, 0, word.text, {}, false};
    advance();
    if (accept("(")) {
      expression.is_call = true;
      do {
        expression.operands.push_back(parse_expression());
      } while (!failed_ && accept(","));
      expect(")");
    }
    return failed_ ? -1 : add(std::move(expression));
  }

  Problems& problems_;
  std::size_t before_;  ///< number of problems that were found before this text was parsed, such as
                        ///< problems of the scenario
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  Syntax syntax_;
  bool collective_known_ = false;
  bool failed_ = false;
  int depth_ = 0;
};

}  // namespace

Syntax parse_algorithm_text(std::string_view text, const std::string& file, Problems& problems) {
  Syntax none;
  none.file = file;
  if (text.size() > kMaxTextBytes) {
    problems.add({ProblemCode::kTooLarge}, {file, 0, 0},
                 "the file is longer than the limit of 8 MiB");
    return none;
  }
  const std::optional<std::string_view> content = utf8_content(text, file, problems);
  return content ? AlgorithmParser(*content, file, problems).parse() : none;
}

}  // namespace tutti::core::custom
