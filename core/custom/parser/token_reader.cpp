#include "core/custom/parser/token_reader.h"

#include <array>

namespace tutti::core::custom {
namespace {

constexpr std::array kReserved{
    "algorithm", "collective", "parameter", "let",    "require", "symmetry", "lane",
    "for",       "from",       "to",        "down",   "if",      "then",     "else",
    "send",      "receive",    "reduce",    "copy",   "add",     "mark",     "wait",
    "only",      "with",       "and",       "or",     "not",     "piece",    "of",
    "like",      "data",       "input",     "output", "count",   "nothing",  "multicast"};

}  // namespace

bool is_reserved(const std::string& word) { return is_one_of(word, kReserved); }

std::string TokenReader::found() const {
  if (ended()) return "the end of the file";
  return "'" + token().text.substr(0, 40) + "'";
}

void TokenReader::fail(const std::string& expected) {
  if (!failed_)
    complain(ProblemCode::kSyntax, token().at, "expected {}, found {}", expected, found());
  failed_ = true;
}

void TokenReader::expect(std::string_view text) {
  if (!failed_ && !accept(text)) fail("'" + std::string(text) + "'");
}

std::string TokenReader::parse_name(const std::string& what) {
  if (token().kind != Kind::kName) return fail(what), "";
  std::string name = token().text;
  advance();
  return name;
}

std::string TokenReader::parse_new_name(const std::string& what) {
  const Position at = token().at;
  std::string name = parse_name(what);
  if (!failed_ && is_reserved(name))
    complain(ProblemCode::kInvalid, at, "\"{}\" is a reserved word; choose another name", name);
  return name;
}

}  // namespace tutti::core::custom
