#include "core/replay/graph_reader.h"

#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/formats/aicb.h"
#include "core/formats/chakra.h"
#include "core/formats/goal.h"
#include "core/formats/pytorch_trace.h"
#include "core/formats/simai.h"

namespace tutti::core {
namespace {

/// Removes the rank and the extension from a file name: "a/b.3.et" becomes "a/b.", "b_3.et" becomes
/// "b_". Returns nullopt if the file name has another form.
std::optional<std::string> before_rank(const std::string& path, std::string_view extension) {
  if (!path.ends_with(extension)) return std::nullopt;
  const std::string stem = path.substr(0, path.size() - extension.size());
  const std::size_t digits = stem.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (digits == 0 || digits == stem.size()) return std::nullopt;
  std::string prefix = stem.substr(0, digits);
  const bool is_separated = std::string_view("._-").find(prefix.back()) != std::string_view::npos;
  if (!is_separated && !prefix.ends_with("rank")) return std::nullopt;
  return prefix;
}

/// The endings of files of one rank, after its number.
constexpr std::array<std::string_view, 4> kEndings{".et", ".et.gz", ".json", ".json.gz"};

bool exists(const std::string& path) {
  std::error_code ignored;  // errors for names that no file can have
  return std::filesystem::is_regular_file(path, ignored);
}

tl::unexpected<Error> fail(ProblemKind kind, const std::string& path, const std::string& text) {
  return tl::make_unexpected(Error::request(std::move(kind), text, {path, 0, 0}));
}

/// The files of a trace, and their format.
struct FoundFiles {
  GraphFormat format = GraphFormat::kChakra;
  std::string prefix, ending;  ///< for a file per rank: <prefix><rank><ending>
  [[nodiscard]] bool is_one_file() const { return ending.empty(); }
};

Expected<FoundFiles> find(const std::string& path) {
  FoundFiles found;
  std::string first = path;
  for (const std::string_view ending : kEndings) {
    const std::string prefix = before_rank(path, ending).value_or(exists(path) ? "" : path + ".");
    if (prefix.empty() || !exists(fmt::format("{}0{}", prefix, ending))) continue;
    found.prefix = prefix;
    found.ending = ending;
    first = fmt::format("{}0{}", prefix, ending);
    break;
  }
  if (found.is_one_file() && !exists(path)) {
    const std::string rank_0 = fmt::format("{}0.et", before_rank(path, ".et").value_or(path + "."));
    return fail({ProblemCode::kMissing, "ExecutionTrace.path"}, path,
                fmt::format("{} does not exist; hint: give the path of a GOAL file, or of a Chakra "
                            "trace without \".<rank>.et\"",
                            rank_0));
  }
  const auto bytes = first_bytes(first, std::size_t{64} << 10);
  if (!bytes) return tl::make_unexpected(bytes.error());
  const auto format = recognise_graph(*bytes);
  // The extension .et identifies damaged files, for which the reader has a better message.
  if (!format && first.ends_with(".et")) return found;
  if (!format)
    return fail({ProblemCode::kInvalid, "ExecutionTrace.path"}, path,
                "this file is neither a GOAL schedule, a Chakra trace, an execution trace of "
                "PyTorch, nor a workload of SimAI or AICB; hint: the files of a Chakra trace are "
                "named <path>.<rank>.et");
  found.format = *format;
  return found;
}

std::int64_t number_of_files(const FoundFiles& found) {
  if (found.is_one_file()) return 1;
  std::int64_t ranks = 0;
  while (exists(fmt::format("{}{}{}", found.prefix, ranks, found.ending))) ++ranks;
  return ranks;
}

Expected<ExecutionGraph> read_ranks(const GraphFiles& files, const FoundFiles& found,
                                    RecordCounts* counts) {
  RankFiles all;
  all.path = files.path;
  all.groups = files.groups;
  all.is_json = found.format == GraphFormat::kChakraJson;
  all.open = [](const std::string& file) { return open_byte_input(file); };
  if (found.is_one_file()) {
    all.ranks = 1;
    all.file = [&](std::int64_t) { return files.path; };
  } else {
    all.file = [&](std::int64_t rank) {
      return fmt::format("{}{}{}", found.prefix, rank, found.ending);
    };
    all.ranks = number_of_files(found);
  }
  return found.format == GraphFormat::kPytorch ? read_pytorch_graph(all, counts)
                                               : read_chakra_graph(all, counts);
}

Expected<ExecutionGraph> read_one_file(const GraphFiles& files, GraphFormat format,
                                       RecordCounts* counts) {
  auto input = open_byte_input(files.path);
  if (!input) return tl::make_unexpected(input.error());
  if (format == GraphFormat::kAicb)
    return read_aicb_graph(**input, files.path, counts, files.ranks);
  return format == GraphFormat::kGoal ? read_goal_graph(**input, files.path, counts)
                                      : read_simai_graph(**input, files.path, counts, files.ranks);
}

}  // namespace

std::optional<GraphFormat> recognise_graph(std::string_view first_bytes) {
  if (is_goal_binary(first_bytes) || is_goal_text(first_bytes)) return GraphFormat::kGoal;
  if (is_simai(first_bytes)) return GraphFormat::kSimai;
  if (is_aicb(first_bytes)) return GraphFormat::kAicb;
  if (is_chakra_json(first_bytes)) return GraphFormat::kChakraJson;
  if (is_pytorch_trace(first_bytes)) return GraphFormat::kPytorch;
  if (is_chakra(first_bytes)) return GraphFormat::kChakra;
  return std::nullopt;
}

std::int64_t number_of_graph_files(const std::string& path) {
  const auto found = find(path);
  return found ? number_of_files(*found) : 0;
}

Expected<std::shared_ptr<const ExecutionGraph>> read_graph(const GraphFiles& files,
                                                           RecordCounts* counts) {
  const auto found = find(files.path);
  if (!found) return tl::make_unexpected(found.error());
  const GraphFormat format = found->format;
  const bool is_chakra = format == GraphFormat::kChakra || format == GraphFormat::kChakraJson;
  if (!is_chakra && !files.groups.empty())
    return fail({ProblemCode::kUnused, "ExecutionTrace.groups"}, files.path,
                format == GraphFormat::kGoal
                    ? "groups has no effect, because GOAL has no collectives; remove groups"
                    : "groups has no effect, because the trace itself lists the ranks of its "
                      "groups; remove groups");
  auto graph = is_chakra || format == GraphFormat::kPytorch ? read_ranks(files, *found, counts)
                                                            : read_one_file(files, format, counts);
  if (!graph) return tl::make_unexpected(graph.error());
  if (auto problems = problems_of(*graph); !problems.empty())
    return tl::make_unexpected(Error(ErrorKind::kRequest, std::move(problems)));
  return std::make_shared<const ExecutionGraph>(std::move(*graph));
}

}  // namespace tutti::core
