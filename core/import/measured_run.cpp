#include "core/import/measured_run.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/number.h"

namespace tutti::core {

std::string_view to_string(MeasuredKind kind) {
  switch (kind) {
    case MeasuredKind::kAllReduce: return "all_reduce";
    case MeasuredKind::kReduceScatter: return "reduce_scatter";
    case MeasuredKind::kAllGather: return "all_gather";
    case MeasuredKind::kBroadcast: return "broadcast";
    case MeasuredKind::kReduce: return "reduce";
    case MeasuredKind::kAllToAll: return "alltoall";
    case MeasuredKind::kGather: return "gather";
    case MeasuredKind::kScatter: return "scatter";
    case MeasuredKind::kSend: return "send";
    case MeasuredKind::kReceive: return "recv";
    case MeasuredKind::kBarrier: return "barrier";
    case MeasuredKind::kOther: break;
  }
  return "other";
}

MeasuredKind measured_kind_of(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 200)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  // The first match counts, so a longer name must come before any name that it contains.
  constexpr std::array<std::pair<std::string_view, MeasuredKind>, 14> kNames{{
      {"allreduce", MeasuredKind::kAllReduce},
      {"reducescatter", MeasuredKind::kReduceScatter},
      {"allgather", MeasuredKind::kAllGather},
      {"alltoall", MeasuredKind::kAllToAll},
      {"all2all", MeasuredKind::kAllToAll},
      {"sendrecv", MeasuredKind::kOther},
      {"broadcast", MeasuredKind::kBroadcast},
      {"gather", MeasuredKind::kGather},
      {"scatter", MeasuredKind::kScatter},
      {"reduce", MeasuredKind::kReduce},
      {"send", MeasuredKind::kSend},
      {"recv", MeasuredKind::kReceive},
      {"barrier", MeasuredKind::kBarrier},
      {"bcast", MeasuredKind::kBroadcast},
  }};
  for (const auto& [part, kind] : kNames) {
    if (plain.find(part) != std::string::npos) return kind;
  }
  return MeasuredKind::kOther;
}

ElementType element_type_of(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 64)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view prefix : {"c10", "torch", "nccl", "at", "dt_"}) {
    if (plain.starts_with(prefix)) plain.erase(0, prefix.size());
  }
  struct Known {
    std::string_view written, name;
    std::int64_t bytes;
  };
  constexpr std::array<Known, 38> kTypes{{
      {"float", "float32", 4},
      {"float32", "float32", 4},
      {"fp32", "float32", 4},
      {"f32", "float32", 4},
      {"double", "float64", 8},
      {"float64", "float64", 8},
      {"half", "float16", 2},
      {"float16", "float16", 2},
      {"fp16", "float16", 2},
      {"f16", "float16", 2},
      {"bfloat16", "bfloat16", 2},
      {"bf16", "bfloat16", 2},
      {"long", "int64", 8},
      {"longint", "int64", 8},
      {"int64", "int64", 8},
      {"int64_t", "int64", 8},
      {"uint64", "uint64", 8},
      {"int", "int32", 4},
      {"int32", "int32", 4},
      {"uint32", "uint32", 4},
      {"short", "int16", 2},
      {"int16", "int16", 2},
      {"byte", "uint8", 1},
      {"uint8", "uint8", 1},
      {"unsignedchar", "uint8", 1},
      {"char", "int8", 1},
      {"signedchar", "int8", 1},
      {"int8", "int8", 1},
      {"bool", "bool", 1},
      {"float8_e4m3fn", "float8", 1},
      {"float8_e5m2", "float8", 1},
      {"float8e4m3", "float8", 1},
      {"float8e5m2", "float8", 1},
      {"fp8e4m3", "float8", 1},
      {"fp8e5m2", "float8", 1},
      {"complexfloat", "complex64", 8},
      {"float8_e4m3fnuz", "float8", 1},
      {"float8_e5m2fnuz", "float8", 1},
  }};
  for (const Known& type : kTypes) {
    if (type.written == plain) return {std::string(type.name), type.bytes};
  }
  return {};
}

std::int32_t group_index(MeasuredRun& run, const MeasuredGroup& group) {
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    MeasuredGroup& known = run.groups[g];
    if (known.name != group.name || known.size != group.size) continue;
    // Group names are unique only within a process. For example, the group "1" of tensor
    // parallelism may consist of ranks 0 and 1 in one process and of ranks 2 and 3 in another.
    if (!known.ranks.empty() && !group.ranks.empty() && known.ranks != group.ranks) continue;
    if (known.ranks.empty()) known.ranks = group.ranks;
    return static_cast<std::int32_t>(g);
  }
  constexpr std::size_t kMaxGroups = 4096;
  if (run.groups.size() >= kMaxGroups) return -1;
  run.groups.push_back(group);
  return static_cast<std::int32_t>(run.groups.size() - 1);
}

MeasuredRank& rank_of(MeasuredRun& run, const std::string& host, std::int64_t pid,
                      std::int64_t rank) {
  // Search from the last rank backwards. The last rank nearly always matches, because most files
  // contain only one process.
  for (auto known = run.ranks.rbegin(); known != run.ranks.rend(); ++known) {
    if (known->host == host && known->pid == pid && known->rank == rank) return *known;
  }
  constexpr std::size_t kMaxRanks = 1 << 16;
  if (run.ranks.size() >= kMaxRanks) return run.ranks.back();
  MeasuredRank& made = run.ranks.emplace_back();
  made.host = host;
  made.pid = pid;
  made.rank = rank;
  return made;
}

std::int64_t size_of_argument(MeasuredKind kind, std::int64_t argument_bytes, std::int64_t ranks) {
  const bool is_part = kind == MeasuredKind::kAllGather || kind == MeasuredKind::kReduceScatter ||
                       kind == MeasuredKind::kAllToAll || kind == MeasuredKind::kGather ||
                       kind == MeasuredKind::kScatter;
  if (!is_part || argument_bytes < 0) return argument_bytes;
  if (ranks < 1 || argument_bytes > (std::int64_t{1} << 60) / ranks) return -1;
  return argument_bytes * ranks;
}

std::vector<std::int64_t> rank_list(std::string_view text) {
  std::vector<std::int64_t> ranks;
  while (!text.empty() && (text.front() == '[' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ']' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    const auto rank = whole_number<std::int64_t>(one);
    if (!rank) return {};
    ranks.push_back(*rank);
  }
  return ranks;
}

}  // namespace tutti::core
