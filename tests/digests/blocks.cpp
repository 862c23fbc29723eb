#include "tests/digests/blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace tutti::test {

namespace {

constexpr std::size_t kCasesOfBlock = 50;
constexpr const char* kHeading =
    "# Digests of predicted values, by case, mode and section. TUTTI_UPDATE_EXPECTED=1 ctest "
    "--preset ci -R Digests\n"
    "# writes them anew; CONTRIBUTING.md tells how to see which values changed.\n";

/// Returns the digest of each subject. In the line "042 whole packs 0123456789abcdef", the subject
/// is "042 whole packs".
std::map<std::string, std::string> by_subject(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> digests;
  for (const std::string& line : lines) {
    const std::size_t begin = line.find(' ') + 1;
    const std::size_t end = line.rfind(' ');
    // In a line about the ending of a run, everything after the mode counts as the digest.
    const bool section = end > begin && line.size() - end == 17;
    const std::size_t cut = section ? end : std::min(line.find(' ', begin), line.size());
    digests[line.substr(begin, cut - begin)] = line.substr(std::min(cut + 1, line.size()));
  }
  return digests;
}

}  // namespace

std::vector<Block> blocks() {
  std::vector<Block> all;
  for (DigestCase& one : corpus_cases()) {
    if (all.empty() || all.back().cases.size() == kCasesOfBlock) all.push_back({one.name, {}});
    all.back().cases.push_back(std::move(one));
  }
  all.push_back({"shipped", shipped_cases()});
  all.push_back({"algorithms", algorithm_cases()});
  return all;
}

std::vector<std::vector<std::string>> read_digests(const Block& block) {
  std::map<std::string, std::vector<std::string>> by_case;
  std::istringstream lines(content_of(block.path()));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) by_case[line.substr(0, line.find(' '))].push_back(line);
  }
  std::vector<std::vector<std::string>> digests;
  for (const DigestCase& one : block.cases) digests.push_back(by_case[one.name]);
  return digests;
}

void write_digests(const Block& block, const std::vector<std::vector<std::string>>& lines) {
  std::string text(kHeading);
  for (const std::vector<std::string>& of_case : lines) {
    for (const std::string& line : of_case) text += line + "\n";
  }
  write_file(block.path(), text);
}

std::vector<std::string> differences(const std::vector<std::string>& was,
                                     const std::vector<std::string>& is) {
  const std::map<std::string, std::string> before = by_subject(was), now = by_subject(is);
  std::set<std::string> subjects;
  for (const auto& digests : {before, now}) {
    for (const auto& [subject, digest] : digests) subjects.insert(subject);
  }
  const auto show = [](const std::map<std::string, std::string>& digests,
                       const std::string& subject) {
    const auto found = digests.find(subject);
    return found == digests.end() ? "absent" : found->second.empty() ? "there" : found->second;
  };
  std::vector<std::string> all;
  for (const std::string& subject : subjects) {
    const std::string a = show(before, subject), b = show(now, subject);
    if (a != b) all.push_back(fmt::format("{}: was {}, is {}", subject, a, b));
  }
  return all;
}

std::string first_differences(const std::vector<std::string>& was,
                              const std::vector<std::string>& is) {
  const auto by_section = [](const std::vector<std::string>& lines) {
    std::map<std::string, std::vector<std::string>> sections;
    for (const std::string& line : lines) {
      const std::size_t mode = std::min(line.find(' '), line.size());
      sections[line.substr(0, line.find(' ', mode + 1))].push_back(line);
    }
    return sections;
  };
  auto before = by_section(was), now = by_section(is);
  std::set<std::string> names;
  for (const auto& sections : {before, now}) {
    for (const auto& [name, lines] : sections) names.insert(name);
  }
  std::string text;
  for (const std::string& name : names) {
    const std::vector<std::string>&a = before[name], &b = now[name];
    const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (at == a.end() && other == b.end()) continue;
    text += fmt::format("{}, record {} of {} (now {}):\n  was: {}\n  is:  {}\n", name,
                        at - a.begin() + 1, a.size(), b.size(), at == a.end() ? "absent" : *at,
                        other == b.end() ? "absent" : *other);
  }
  return text;
}

std::string coverage(const std::vector<DigestCase>& cases) {
  std::map<std::string, std::map<std::string, int>> axes;
  for (const DigestCase& one : cases) {
    std::istringstream words(one.axes);
    for (std::string word; words >> word;) {
      const std::size_t equals = std::min(word.find('='), word.size());
      ++axes[word.substr(0, equals)][word.substr(std::min(equals + 1, word.size()))];
    }
  }
  std::string text;
  for (const auto& [axis, values] : axes) {
    text += axis + ":";
    for (const auto& [value, count] : values) text += fmt::format(" {} {},", value, count);
    text.back() = '\n';
  }
  return text;
}

}  // namespace tutti::test
