#include "tests/digests/generator.h"

#include <string>

#include <fmt/format.h>

#include "tests/digests/draft.h"

namespace tutti::test {

std::string Draft::maybe(int percent, const std::string& axis, const std::vector<std::string>& of) {
  if (!chance(percent)) return "";
  const std::string text = one_of(of);
  // For the axis "launch", the value of "launch: SERIAL" is "SERIAL".
  note(axis, text.starts_with(axis + ": ") ? text.substr(axis.size() + 2) : text);
  return " " + text;
}

void Draft::note(const std::string& axis, const std::string& value) {
  std::string word;
  for (const char c : value) {
    if (c != ' ' && c != '"') word += c;
  }
  axes += (axes.empty() ? "" : " ") + axis + "=" + word;
}

std::string in_order(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

DigestCase generate(std::int32_t number) {
  Draft draft(static_cast<std::uint64_t>(number) + 1);
  draw_family(draft, number);
  std::string text = draw_cluster(draft);
  const std::string strategy = draw_strategy(draft);
  text += draw_workload(draft) + strategy;
  const std::string run = draw_run(draft);
  text += draw_conditions(draft);
  text += draw_communicator(draft) + run;
  const std::string name = fmt::format("{:03}", number);
  return {name, draft.axes, text, name + ".textproto"};
}

}  // namespace tutti::test
