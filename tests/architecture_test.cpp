// Checks which folders may include each other (docs/architecture.md). The build's library targets
// enforce the same rules. This test reads the sources, so it also finds a forbidden include that
// happens to compile.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/clusters.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;
  std::string folder;    ///< folder of the including file: core, sim, …
  std::string included;  ///< name between the quotes or brackets
};

/// Returns the name that a line includes, or an empty text if it is no include directive.
std::string included(const std::string& line) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#' ||
      line.find("include", hash) == std::string::npos)
    return {};
  const auto open = line.find_first_of("\"<", hash);
  const auto close = line.find_first_of("\">", open + 1);
  if (open == std::string::npos || close == std::string::npos) return {};
  return line.substr(open + 1, close - open - 1);
}

std::vector<Include> includes() {
  std::vector<Include> all;
  for (const char* folder : {"core", "sim", "real", "gui", "tools"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(test::source_folder()) / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".h" && ending != ".cpp" && ending != ".cu") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        const std::string name = included(line);
        if (!name.empty()) all.push_back({entry.path().string(), folder, name});
      }
    }
  }
  return all;
}

bool begins_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& b) { return text.starts_with(b); });
}

TEST(Architecture, FoldersIncludeOnlyAllowedFolders) {
  const std::map<std::string, std::set<std::string>> allowed{
      {"core", {"core"}},
      {"sim", {"core", "sim"}},
      {"real", {"core", "real"}},
      {"gui", {"core", "gui"}},
      {"tools", {"core", "sim", "real", "gui", "tools"}}};
  const std::set<std::string> ours{"core", "sim", "real", "gui", "tools", "tests"};
  std::size_t seen = 0;
  for (const Include& include : includes()) {
    const std::string top = include.included.substr(0, include.included.find('/'));
    if (!ours.contains(top)) continue;
    ++seen;
    // Only gui/executors.cpp, which assembles the program, may include simulators and real runs.
    // All other parts of the window know the Executor interface alone.
    if (include.file.ends_with("/gui/executors.cpp") && top != "tests") continue;
    EXPECT_TRUE(allowed.at(include.folder).contains(top))
        << include.file << " includes " << include.included;
  }
  EXPECT_GT(seen, 200u);
}

TEST(Architecture, TaskGraphsDoNotDependOnGradientsPacksOrClusters) {
  int seen = 0;
  for (const Include& include : includes()) {
    if (include.file.find("/core/plan/") == std::string::npos ||
        !include.included.starts_with("core/"))
      continue;
    ++seen;
    EXPECT_TRUE(begins_with_any(include.included, {"core/plan/", "core/base/"}))
        << include.file << " includes " << include.included;
  }
  EXPECT_GE(seen, 7);
}

/// Returns the names of a list such as "base, text" as a set.
std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  std::string name;
  for (const char c : list + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
    } else if (!name.empty()) {
      names.insert(std::exchange(name, {}));
    }
  }
  return names;
}

/// Returns the folders of core in the order of docs/source-folders.md, with the folders that each
/// one includes.
std::vector<std::pair<std::string, std::set<std::string>>> rooms_of_the_page() {
  std::ifstream page(fs::path(test::source_folder()) / "docs/source-folders.md");
  const std::regex row(R"re(^\| `(\w+)` \|.*\| ([\w, ]*)\|$)re");
  std::vector<std::pair<std::string, std::set<std::string>>> rooms;
  bool in_core = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) in_core = line == "## core";
    std::smatch found;
    if (in_core && std::regex_match(line, found, row))
      rooms.emplace_back(found[1], names_in(found[2]));
  }
  return rooms;
}

/// The build refuses includes that are missing from its lists of folders (cmake/room.cmake). This
/// test compares the documentation page with the folders and their includes, and checks that no
/// folder includes one that the page lists below it.
TEST(Architecture, TheDocumentedRoomsOfCoreMatchTheBuild) {
  const auto rooms = rooms_of_the_page();
  std::map<std::string, std::set<std::string>> included_by;
  std::set<std::string> folders;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(test::source_folder()) / "core")) {
    if (entry.is_directory()) folders.insert(entry.path().filename().string());
  }
  for (const Include& include : includes()) {
    if (include.folder != "core" || !include.included.starts_with("core/")) continue;
    const fs::path from = fs::relative(include.file, test::source_folder());
    const std::string room = std::next(from.begin())->string();
    const std::string other = std::next(fs::path(include.included).begin())->string();
    if (room != other) included_by[room].insert(other);
  }
  std::set<std::string> above;
  for (const auto& [room, known] : rooms) {
    EXPECT_EQ(known, included_by[room]) << "docs/source-folders.md, `" << room << "`";
    for (const std::string& other : known)
      EXPECT_TRUE(above.contains(other)) << room << " knows " << other;
    above.insert(room);
  }
  EXPECT_EQ(above, folders);
}

/// The include graph of the folders inside sim, real and gui must have no cycles.
TEST(Architecture, FoldersHaveNoCyclicIncludes) {
  for (const std::string top : {"sim", "real", "gui"}) {
    std::map<std::string, std::map<std::string, std::string>>
        included_by;  // and one include that is such an edge, as evidence
    for (const Include& include : includes()) {
      if (include.folder != top || !include.included.starts_with(top + "/")) continue;
      const auto folder_of = [](const fs::path& inside) {
        return std::next(inside.begin())->string();
      };
      const std::string from = folder_of(fs::relative(include.file, test::source_folder()));
      const std::string to = folder_of(include.included);
      if (from != to) included_by[from].emplace(to, include.file + " includes " + include.included);
    }
    // Repeatedly removes a folder that includes none of the remaining folders. A cycle remains.
    for (bool found = true; found;) {
      found = false;
      for (auto folder = included_by.begin(); folder != included_by.end();) {
        const bool free =
            std::none_of(folder->second.begin(), folder->second.end(),
                         [&](const auto& other) { return included_by.contains(other.first); });
        found = found || free;
        folder = free ? included_by.erase(folder) : std::next(folder);
      }
    }
    for (const auto& [folder, others] : included_by) {
      for (const auto& [other, where] : others)
        EXPECT_FALSE(included_by.contains(other))
            << top << "/" << folder << " and " << other << " are in a circle: " << where;
    }
  }
}

/// Returns the library that a file belongs to: "core/nccl", or the top folder.
std::string library_of(const fs::path& file) {
  const fs::path relative = fs::relative(file, test::source_folder());
  const std::string top = relative.begin()->string();
  return top == "core" ? top + "/" + std::next(relative.begin())->string() : top;
}

/// A unity build compiles the sources of a library together. A constant in one source would then
/// hide a header's constant with the same name from all sources after it, without a warning.
TEST(Architecture, NoSourceShadowsAConstantOfAHeader) {
  const std::regex in_header(R"(^inline constexpr .*\b(k[A-Z]\w*) ?[={(\[].*)");
  const std::regex in_source(R"(^constexpr .*\b(k[A-Z]\w*) ?[={(\[].*)");
  std::map<std::string, std::set<std::string>> of_headers;
  std::vector<std::pair<std::string, fs::path>> of_sources;
  for (const char* folder : {"core", "sim", "real", "gui", "tools"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(test::source_folder()) / folder)) {
      const bool header = entry.path().extension() == ".h";
      if (!header && entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      std::smatch found;
      for (std::string line; std::getline(file, line);) {
        // Skips most lines early, because regular expressions are slow.
        if (line.find("constexpr ") == std::string::npos) continue;
        if (!std::regex_match(line, found, header ? in_header : in_source)) continue;
        if (header) {
          of_headers[library_of(entry.path())].insert(found[1]);
        } else {
          of_sources.emplace_back(found[1], entry.path());
        }
      }
    }
  }
  ASSERT_GT(of_sources.size(), 300u);
  for (const auto& [name, file] : of_sources)
    EXPECT_FALSE(of_headers[library_of(file)].contains(name)) << file << ": " << name;
}

TEST(Architecture, CoreUsesNoSocketsThreadsCudaOrQt) {
  const std::set<std::string> forbidden{"thread", "mutex",    "condition_variable",
                                        "future", "unistd.h", "pthread.h"};
  const std::vector<std::string> beginnings{"sys/socket",  "netinet/",     "boost/asio",
                                            "boost/beast", "boost/thread", "boost/process",
                                            "cuda",        "nccl",         "Q"};
  for (const Include& include : includes()) {
    if (include.folder != "core") continue;
    // pread() lets several threads read one file at different offsets. mmap() is for programs that
    // are larger than memory.
    const bool reads_files = include.file.ends_with("/core/timeline/byte_source.cpp") ||
                             include.file.ends_with("/core/plan/program_file.cpp");
    if (reads_files && include.included == "unistd.h") continue;
    EXPECT_FALSE(forbidden.contains(include.included) ||
                 begins_with_any(include.included, beginnings))
        << include.file << " includes " << include.included;
  }
}

TEST(Architecture, SlowHeadersStayOutOfHeaders) {
  for (const Include& include : includes()) {
    // Only one of our headers, asio.h, may include Boost.Asio, and only sources include it.
    if (!include.file.ends_with(".h") || include.file.ends_with("/asio.h")) continue;
    EXPECT_FALSE(begins_with_any(include.included, {"CLI/", "google/protobuf/", "boost/asio"}) ||
                 include.included.ends_with(".pb.h"))
        << include.file << " includes " << include.included;
  }
}

/// The capabilities of an algorithm belong in its row of core/strategy/algorithm_table.cpp. Code
/// that compares algorithm names has its own list of algorithms, which a new algorithm would be
/// missing from.
TEST(Architecture, NoCodeComparesAlgorithmsByName) {
  const std::regex by_name(
      R"re((==|!=)\s*\(?(core::)?(BaseAlgorithm::|AlgorithmChoice\()|case\s+(core::)?BaseAlgorithm::|)re"
      R"re(BaseAlgorithm::k\w+\)*\s*(==|!=)|(\.|->)across\s*(==|!=)|)re"
      R"re(to_string\([\w.]*algorithm\)\s*(==|!=|\.\s*(starts_with|find|ends_with)))re");
  EXPECT_TRUE(std::regex_search("if (s.algorithm == core::BaseAlgorithm::kNccl)", by_name));
  EXPECT_TRUE(std::regex_search("to_string(strategy_.algorithm).starts_with(\"nccl\")", by_name));
  EXPECT_FALSE(std::regex_search("strategy.algorithm = BaseAlgorithm::kRing;", by_name));
  int seen = 0;
  for (const char* folder : {"core", "sim", "real", "gui", "tools"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(test::source_folder()) / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".h" && ending != ".cpp") continue;
      if (entry.path().string().ends_with("core/strategy/algorithm_table.cpp")) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (line.find("lgorithm") == std::string::npos && line.find("across") == std::string::npos)
          continue;
        ++seen;
        EXPECT_FALSE(std::regex_search(line, by_name)) << entry.path() << ": " << line;
      }
    }
  }
  EXPECT_GT(seen, 200);
}

}  // namespace
}  // namespace tutti
