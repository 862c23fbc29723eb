#include "core/replay/graph_reader.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/formats/goal.h"

namespace tutti::core {
namespace {

/// Removes the rank and the extension from the name of a trace file: "a/b.3.et" becomes "a/b".
/// If the name does not have the form of the example, returns nullopt.
std::optional<std::string> without_rank(const std::string& path) {
  if (!path.ends_with(".et")) return std::nullopt;
  const std::string stem = path.substr(0, path.size() - 3);
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot + 1 == stem.size() ||
      stem.find_first_not_of("0123456789", dot + 1) != std::string::npos)
    return std::nullopt;
  return stem.substr(0, dot);
}

Expected<ExecutionGraph> read_chakra(const GraphFiles& files) {
  const std::string prefix = without_rank(files.path).value_or(files.path);
  ChakraFiles all;
  all.path = files.path;
  all.groups = files.groups;
  all.file = [&](std::int64_t rank) { return fmt::format("{}.{}.et", prefix, rank); };
  all.open = [](const std::string& file) { return open_byte_input(file); };
  std::error_code ignored;  // errors for names that no file can have
  while (std::filesystem::exists(all.file(all.ranks), ignored)) ++all.ranks;
  if (all.ranks == 0)
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing, "ExecutionTrace.path"},
                       fmt::format("{} does not exist; hint: give the path of a GOAL file, or of a "
                                   "Chakra trace without \".<rank>.et\"",
                                   all.file(0)),
                       {files.path, 0, 0}));
  return read_chakra_graph(all);
}

Expected<ExecutionGraph> read_goal_file(const std::string& path) {
  auto input = open_byte_input(path);
  if (!input) return tl::make_unexpected(input.error());
  return read_goal_graph(**input, path);
}

}  // namespace

Expected<std::shared_ptr<const ExecutionGraph>> read_graph(const GraphFiles& files) {
  bool goal = false;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(files.path, ignored) && !files.path.ends_with(".et")) {
    const auto first = first_bytes(files.path, std::size_t{64} << 10);
    if (!first) return tl::make_unexpected(first.error());
    goal = is_goal_binary(*first) || is_goal_text(*first);
    if (!goal)
      return tl::make_unexpected(
          Error::request({ProblemCode::kInvalid, "ExecutionTrace.path"},
                         "this file is neither a GOAL schedule nor a Chakra trace; hint: the files "
                         "of a Chakra trace are named <path>.<rank>.et",
                         {files.path, 0, 0}));
  }
  if (goal && !files.groups.empty())
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnused, "ExecutionTrace.groups"},
        "groups has no effect, because GOAL has no collectives; remove it", {files.path, 0, 0}));
  auto graph = goal ? read_goal_file(files.path) : read_chakra(files);
  if (!graph) return tl::make_unexpected(graph.error());
  if (auto problems = problems_of(*graph); !problems.empty())
    return tl::make_unexpected(Error(ErrorKind::kRequest, std::move(problems)));
  return std::make_shared<const ExecutionGraph>(std::move(*graph));
}

}  // namespace tutti::core
