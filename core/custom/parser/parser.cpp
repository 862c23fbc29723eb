// A recursive descent parser. Every item begins with a keyword, so lines need no terminators. After
// an error, the parser skips to the next keyword. The parser has layers, each of which is a class
// that derives from the one above it:
//
//     TokenReader        the current token, errors, names
//     ExpressionParser   expressions
//     StatementParser    lanes and their statements
//     AlgorithmParser    the header and the whole text (this file)

#include <array>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "core/custom/parser/statement_parser.h"

namespace tutti::core::custom {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 23;

constexpr std::array kHeaderWords{"algorithm", "collective", "parameter", "let",
                                  "require",   "chunks",     "scratch",   "slots",
                                  "symmetry",  "engine",     "lane"};

class AlgorithmParser : public StatementParser {
 public:
  AlgorithmParser(std::string_view text, const std::string& file, Problems& problems)
      : StatementParser(text, file, problems) {}

  Syntax parse() {
    while (!ended() && !problems_.full()) {
      parse_header_item();
      if (failed_) recover(kHeaderWords, false);
    }
    if (problems_.size() == before_) check_whole();
    return std::move(syntax_);
  }

 private:
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
      if (token().kind != Kind::kText) return fail("a string that explains the requirement");
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

  void check_whole() {
    const Position begin{1, 1};
    if (!collective_known_)
      complain(ProblemCode::kMissing, begin,
               "\"collective\" is missing; add a line such as \"collective all_reduce\"");
    if (syntax_.chunks < 0)
      complain(ProblemCode::kMissing, begin,
               "\"chunks\" is missing; add a line with the number of chunks of the buffer, such as "
               "\"chunks ranks\"");
    if (syntax_.lanes.empty())
      complain(ProblemCode::kMissing, begin,
               "\"lane\" is missing; describe the steps of each rank in \"lane {{ … }}\"");
  }

  bool collective_known_ = false;
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
