#include "core/nccl/tuner/table_tuner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/file.h"

namespace tutti::core::nccl {
namespace {

namespace table = core::tuner_table;

constexpr Version kV2{2, 21, 0};  // the first releases with each plugin interface
constexpr Version kV4{2, 24, 0};
constexpr Version kV5{2, 28, 0};
constexpr Version kManyChannels{2, 27, 0};  // 64 channels; 32 before

}  // namespace

Version TableTuner::first_release() const { return is_example() ? kV4 : kV2; }

Tuner::Pick TableTuner::pick(const Communicator& comm, const Operation& operation,
                             const std::vector<Candidate>& all, bool registered) const {
  if (comm.version < first_release()) return {};
  const table::Call call{static_cast<int>(operation.function),
                         static_cast<std::uint64_t>(operation.bytes), operation.pipelined,
                         comm.version >= kV4 ? std::optional(registered) : std::nullopt};
  for (const table::Row& row : table_.rows) {
    if (!is_for(row, static_cast<std::uint64_t>(comm.nodes),
                static_cast<std::uint64_t>(comm.ranks)) ||
        !matches(row, call))
      continue;
    const auto algorithm = static_cast<Algorithm>(row.algorithm);
    const auto protocol = static_cast<Protocol>(row.protocol);
    if (!possible(all, algorithm, protocol)) continue;
    Pick pick{std::pair(algorithm, protocol), std::nullopt};
    const int most = comm.version >= kManyChannels ? table::kMaxChannels : 32;
    if (row.channels > 0) pick.channels = std::min(row.channels, most);
    return pick;
  }
  // NVIDIA's example plugin sets the number of channels to 1 before it searches the table.
  return is_example() ? Pick{std::nullopt, 1} : Pick{};
}

std::vector<std::int64_t> TableTuner::boundaries(const Communicator& comm,
                                                 Function function) const {
  std::vector<std::int64_t> sizes;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  for (const table::Row& row : table_.rows) {
    if (row.collective != static_cast<int>(function) ||
        !is_for(row, static_cast<std::uint64_t>(comm.nodes),
                static_cast<std::uint64_t>(comm.ranks)))
      continue;
    const auto add = [&](std::uint64_t size) {
      if (size <= kLargest) sizes.push_back(static_cast<std::int64_t>(size));
    };
    if (row.min_bytes > 0) add(row.min_bytes - 1);
    add(row.min_bytes);
    add(row.max_bytes);
    if (row.max_bytes < kLargest) add(row.max_bytes + 1);
  }
  return sizes;
}

/// SOURCE: NVIDIA/nccl plugins/tuner/example/plugin.c, pluginInit (v2.28.9 to v2.30.7).
void TableTuner::rewrite(const Communicator& comm, Constants& constants) const {
  if (!is_example() || comm.version < kV5) return;
  constexpr std::size_t kBlackwell = 3, kManyNodes = 2;
  constants.tree_max[kBlackwell][kManyNodes] = 15;
  constants.ring_ll128_max[kBlackwell][kManyNodes] = 20;
  constants.hop[static_cast<std::size_t>(Hardware::kNet)][static_cast<std::size_t>(
      Algorithm::kNvls)][static_cast<std::size_t>(Protocol::kSimple)] = 24;
}

std::string TableTuner::name() const {
  return fmt::format("{} with {}",
                     is_example() ? "NVIDIA's example tuner" : "libnccl-tuner-tutti.so", name_);
}

std::string TableTuner::why_not(const Communicator& comm) const {
  const Version first = first_release();
  if (comm.version < first)
    return fmt::format("NCCL {} cannot load this tuner plugin, which needs NCCL {}.{} or later",
                       to_string(comm.version), first.major, first.minor);
  // NVIDIA's example plugin sets the number of channels for every call, even without a matching
  // row.
  const bool decides =
      is_example() || std::any_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) {
        return is_for(row, static_cast<std::uint64_t>(comm.nodes),
                      static_cast<std::uint64_t>(comm.ranks));
      });
  if (decides) return "";
  return fmt::format("no line of the table matches {} ranks on {} node{}", comm.ranks, comm.nodes,
                     comm.nodes == 1 ? "" : "s");
}

Expected<std::shared_ptr<const TableTuner>> load_table_tuner(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  auto read = table::read_table(*text);
  if (!read) {
    const table::Refusal& why = read.error();
    return tl::make_unexpected(Error::request({ProblemCode::kInvalid, "nccl-tuner table"},
                                              why.text + (why.hint.empty() ? "" : "; " + why.hint),
                                              {path, why.line, why.column}));
  }
  return std::make_shared<const TableTuner>(std::move(*read), path);
}

}  // namespace tutti::core::nccl
