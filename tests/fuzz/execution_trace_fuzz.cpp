// libFuzzer target: reads any bytes as a GOAL schedule, as a workload of SimAI and of AICB, and as
// the trace of each of two ranks by Chakra (binary and JSON) and PyTorch. The bytes must be read
// and checked, or rejected with a message that names a place. A schedule that was read must be
// unchanged after writing and reading it.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "core/formats/chakra.h"
#include "core/formats/goal.h"
#include "core/replay/graph_reader.h"

namespace {

using namespace tutti::core;

void must_hold(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void must_have_places(const Error& error) {
  must_hold(!error.problems().empty(), "an error has a problem");
  for (const Problem& problem : error.problems())
    must_hold(!problem.where.file.empty() && !problem.text.empty(),
              "a problem has a place and a text");
}

struct Schedule {
  std::int64_t ranks = 0;
  std::vector<GoalRank> all;
};

Expected<Schedule> schedule_of(std::string_view bytes) {
  Schedule schedule;
  const auto input = byte_input_of(bytes, "fuzz");
  const auto begin = [&](std::int64_t ranks) { schedule.ranks = ranks; };
  const auto take = [&](GoalRank&& rank) -> Expected<void> {
    for (GoalOperation& one : rank.operations) one.line = 0;
    schedule.all.push_back(std::move(rank));
    return {};
  };
  if (auto read = read_goal(*input, "fuzz", begin, take); !read)
    return tl::make_unexpected(read.error());
  return schedule;
}

void goal(std::string_view bytes) {
  const auto read = schedule_of(bytes);
  if (!read) return must_have_places(read.error());
  std::ostringstream text;
  GoalTextWriter writer(text, read->ranks, "fuzz");
  for (const GoalRank& rank : read->all) writer.add(rank);
  const auto again = schedule_of(text.str());
  must_hold(again && again->all == read->all, "a schedule is read again as it was written");
  const auto input = byte_input_of(bytes, "fuzz");
  const auto graph = read_goal_graph(*input, "fuzz");
  if (!graph) return must_have_places(graph.error());
  static_cast<void>(problems_of(*graph));
}

void simai(std::string_view bytes) {
  const auto input = byte_input_of(bytes, "fuzz");
  const auto graph = read_simai_graph(*input, "fuzz");
  if (!graph) return must_have_places(graph.error());
  static_cast<void>(problems_of(*graph));
}

void aicb(std::string_view bytes) {
  const auto input = byte_input_of(bytes, "fuzz");
  const auto graph = read_aicb_graph(*input, "fuzz");
  if (!graph) return must_have_places(graph.error());
  static_cast<void>(problems_of(*graph));
}

void per_rank(std::string_view bytes, GraphFormat format, std::int64_t ranks) {
  RankFiles files;
  files.path = "fuzz";
  files.ranks = ranks;
  files.is_json = format == GraphFormat::kChakraJson;
  files.file = [](std::int64_t) { return std::string("fuzz"); };
  files.open = [&](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
    return byte_input_of(bytes, name);
  };
  const auto graph =
      format == GraphFormat::kPytorch ? read_pytorch_graph(files) : read_chakra_graph(files);
  if (!graph) return must_have_places(graph.error());
  static_cast<void>(problems_of(*graph));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  goal(bytes);
  simai(bytes);
  aicb(bytes);
  static_cast<void>(recognise_graph(bytes));
  per_rank(bytes, GraphFormat::kChakra, 2);
  per_rank(bytes, GraphFormat::kChakraJson, 2);
  per_rank(bytes, GraphFormat::kPytorch, 1);
  per_rank(bytes, GraphFormat::kPytorch, 2);
  return 0;
}
