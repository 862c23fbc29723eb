// A status has no times and no sizes. It shows the communicators of a job and their layout over
// hosts, which a scenario's communicators need, and the ranks that are missing or behind in a hang.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/formats/nccl_ras.h"
#include "core/import/log_imports.h"

namespace tutti::core {
namespace {

class RasImport {
 public:
  explicit RasImport(MeasuredRun& run) : run_(run) {}

  Expected<void> read(ByteInput& input, const std::string& name) {
    const auto take = [this](const RasCommunicator& communicator) { add(communicator); };
    const auto status = read_nccl_ras(input, name, take, run_.counts);
    if (!status) return tl::make_unexpected(status.error());
    run_.format = "NCCL RAS";
    run_.files.push_back(name);
    if (run_.nccl_version.empty()) run_.nccl_version = status->nccl_version;
    if (status->timeouts > 0)
      run_.notes.push_back(
          fmt::format("{}: {} processes did not answer in time, so the status may lack their ranks",
                      name, status->timeouts));
    for (const std::string& warning : status->warnings)
      run_.notes.push_back(fmt::format("{}: {}", name, warning));
    std::size_t most = 0;
    for (const auto& [host, devices] : hosts_) most = std::max(most, devices.size());
    if (most > 0) run_.gpus_per_host = static_cast<std::int64_t>(most);
    note_layouts();
    return {};
  }

 private:
  void add(const RasCommunicator& from) {
    MeasuredGroup group{from.hash, "", from.size, {}, std::max<std::int64_t>(0, from.nodes)};
    run_.world_size = std::max(run_.world_size, from.size);
    std::map<std::string, std::int64_t> hosts;
    for (const RasRank& rank : from.ranks) {
      if (rank.is_missing || !rank.state.empty() || !rank.error.empty()) note_state(from, rank);
      hosts[rank.host] += 1;
      if (rank.device >= 0 && rank.device < 1 << 16) hosts_[rank.host][rank.device] = rank.pid;
    }
    if (!from.ranks.empty()) group.nodes = static_cast<std::int64_t>(hosts.size());
    note_late(from);
    group_index(run_, group);
    Layout layout{from.size, group.nodes, stride_of(from)};
    auto& count = layouts_[layout];
    count += from.communicators;
  }

  void note_state(const RasCommunicator& of, const RasRank& rank) {
    if (!rank.is_missing && rank.error.empty()) {
      for (const std::string_view good :
           {"RUNNING", "running", "INIT_COMPLETE", "success", "0", "ncclSuccess", "complete"}) {
        if (rank.state == good) return;
      }
    }
    constexpr std::size_t kMostNotes = 100;
    if (run_.notes.size() >= kMostNotes) return;
    run_.notes.push_back(fmt::format(
        "communicator {}: rank {} on {} (process {}, GPU {}) {}", of.hash, rank.rank, rank.host,
        rank.pid, rank.device,
        rank.is_missing       ? "is missing" + (rank.state.empty() ? "" : ": it " + rank.state)
        : !rank.error.empty() ? "has the error " + rank.error
                              : "has the state " + rank.state));
  }

  /// Notes the ranks that have called a collective less often than others.
  void note_late(const RasCommunicator& of) {
    std::map<std::int64_t, std::vector<const RasRank*>> by_calls;
    for (const RasRank& rank : of.ranks) {
      if (rank.is_missing) continue;
      std::int64_t calls = 0;
      for (const auto& [name, count] : rank.collectives) calls += count;
      by_calls[calls].push_back(&rank);
    }
    if (by_calls.size() < 2) return;
    const auto& [least, late] = *by_calls.begin();
    const auto& [most, ahead] = *by_calls.rbegin();
    constexpr std::size_t kMaxListed = 8;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(late.size(), kMaxListed); ++i)
      names.push_back(fmt::format("{} on {}", late[i]->rank, late[i]->host));
    std::string missing;
    for (const auto& [name, count] : ahead.front()->collectives) {
      const auto there = late.front()->collectives.find(name);
      const std::int64_t calls = there == late.front()->collectives.end() ? 0 : there->second;
      if (calls < count)
        missing += fmt::format("{}{} {}", missing.empty() ? "" : ", ", count - calls, name);
    }
    run_.notes.push_back(fmt::format(
        "communicator {}: rank{} {}{} {} behind: {} calls of collectives, but other ranks made {} "
        "(missing: {})",
        of.hash, late.size() == 1 ? "" : "s", fmt::join(names, ", "),
        late.size() > kMaxListed ? ", …" : "", late.size() == 1 ? "is" : "are", least, most,
        missing));
  }

  /// Returns the distance between consecutive ranks, in GPUs of the job; 0 if it is unknown or
  /// varies.
  [[nodiscard]] static std::int64_t stride_of(const RasCommunicator& of) {
    std::vector<const RasRank*> ranks;
    for (const RasRank& rank : of.ranks) {
      if (rank.device >= 0) ranks.push_back(&rank);
    }
    std::sort(ranks.begin(), ranks.end(),
              [](const RasRank* a, const RasRank* b) { return a->rank < b->rank; });
    std::int64_t stride = 0;
    for (std::size_t i = 1; i < ranks.size(); ++i) {
      if (ranks[i]->host != ranks[i - 1]->host) continue;
      const std::int64_t step = ranks[i]->device - ranks[i - 1]->device;
      if (step < 1 || (stride > 0 && step != stride)) return 0;
      stride = step;
    }
    return stride;
  }

  /// Suggests the communicators of a scenario.
  void note_layouts() {
    for (const auto& [layout, count] : layouts_) {
      if (layout.size < 2 || layout.size == run_.world_size) continue;
      // With one rank per host, the next rank is one host further.
      const std::int64_t stride = layout.nodes == layout.size ? run_.gpus_per_host : layout.stride;
      run_.notes.push_back(fmt::format(
          "{} communicator{} of {} ranks on {} host{}: a scenario describes {} by communicator "
          "{{ name: \"…\" size: {}{} … }}",
          count, count == 1 ? "" : "s", layout.size, layout.nodes, layout.nodes == 1 ? "" : "s",
          count == 1 ? "this communicator" : "these communicators", layout.size,
          stride > 1 ? fmt::format(" stride: {}", stride) : ""));
    }
  }

  struct Layout {
    std::int64_t size, nodes, stride;
    auto operator<=>(const Layout&) const = default;
  };

  MeasuredRun& run_;
  std::map<Layout, std::int64_t> layouts_;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> hosts_;  ///< processes, by host, GPU
};

}  // namespace

Expected<void> import_nccl_ras(ByteInput& input, const std::string& name, MeasuredRun& run) {
  return RasImport(run).read(input, name);
}

}  // namespace tutti::core
