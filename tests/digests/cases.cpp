#include "tests/digests/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/support/clusters.h"

namespace tutti::test {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMark = "=== ";
constexpr std::string_view kTableHeading =
    "# Generated scenarios whose predicted values have digests beside this file. They are kept as "
    "texts so that\n"
    "# they outlive changes of the generator; docs/decisions/0047-digests-of-values.md says more.\n"
    "# A line of \"=== NUMBER AXES\" begins each of them.\n";

}  // namespace

std::string digests_folder() { return source_folder() + "/tests/data/digests"; }
std::string corpus_path() { return digests_folder() + "/corpus.txt"; }

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return text.str();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::vector<DigestCase> shipped_cases() {
  std::vector<DigestCase> cases;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_folder() + "/scenarios")) {
    if (entry.path().extension() != ".textproto") continue;
    cases.push_back({entry.path().stem().string(), "", content_of(entry.path().string()),
                     entry.path().string(), true});
  }
  std::sort(cases.begin(), cases.end(),
            [](const DigestCase& a, const DigestCase& b) { return a.name < b.name; });
  return cases;
}

std::vector<DigestCase> algorithm_cases() {
  // The number of elements divides evenly into the chunks of every algorithm, so workers can be
  // folded.
  constexpr const char* kText = R"(cluster {{
  workers {{ machine: "{}" count: 4 replicas: 4 }}
  network {{ kind: RAILS latency_us: 2 }}
}}
workload {{
  variable {{ name: "a" shape: 491520 }}
  variable {{ name: "b" shape: 12336 }}
  forward_ms: 0.1 backward_ms: 0.2
}}
strategy {{ custom {{ file: "{}" }} staging: DIRECT bytes_per_pack: 0 }}
run {{ steps: 2 network_model: {} }}
)";
  std::vector<DigestCase> cases;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(source_folder() + "/scenarios/algorithms")) {
    const std::string file = entry.path().stem().string();
    if (entry.path().extension() != ".tutti-algorithm" || file == "wrong_ring") continue;
    const char* const machine = file == "in_switch" ? "hgx-h100" : "dgx-a100";
    for (const char* model : {"FIFO", "FAIR"}) {
      const std::string name = fmt::format("algorithm_{}_{}", file, model);
      cases.push_back({name, "family=algorithm file=" + file,
                       fmt::format(fmt::runtime(kText), machine, file, model),
                       name + ".textproto"});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const DigestCase& a, const DigestCase& b) { return a.name < b.name; });
  return cases;
}

std::vector<DigestCase> corpus_cases() { return parse_corpus(content_of(corpus_path())); }

DigestCase case_named(const std::string& name) {
  for (const auto& cases : {corpus_cases(), shipped_cases(), algorithm_cases()}) {
    for (const DigestCase& one : cases) {
      if (one.name == name) return one;
    }
  }
  throw std::runtime_error("there is no case \"" + name + "\"; cases are numbers of " +
                           corpus_path() +
                           ", such as 042, names of shipped scenarios, such as 06_resnet50_nccl, "
                           "and of algorithm files, "
                           "such as algorithm_swing_FIFO");
}

std::vector<DigestCase> parse_corpus(const std::string& text) {
  std::vector<DigestCase> cases;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kMark)) {
      const std::size_t space = std::min(line.find(' ', kMark.size()), line.size());
      DigestCase& one = cases.emplace_back();
      one.name = line.substr(kMark.size(), space - kMark.size());
      one.axes = line.substr(std::min(space + 1, line.size()));
      one.path = one.name + ".textproto";
    } else if (!cases.empty()) {
      cases.back().text += line + "\n";
    }
  }
  return cases;
}

std::string format_corpus(const std::vector<DigestCase>& cases) {
  std::string text(kTableHeading);
  for (const DigestCase& one : cases) {
    text += std::string(kMark) + one.name + " " + one.axes + "\n" + one.text;
  }
  return text;
}

}  // namespace tutti::test
