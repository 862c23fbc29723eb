#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/formats/nccl_log.h"
#include "core/import/log_imports.h"

namespace tutti::core {
namespace {

/// Converts NCCL's number of a data type (ncclDataType_t) to the type. SOURCE: NVIDIA/nccl
/// src/nccl.h.in.
ElementType nccl_type(std::int64_t number) {
  switch (number) {
    case 0: return {"int8", 1};
    case 1: return {"uint8", 1};
    case 2: return {"int32", 4};
    case 3: return {"uint32", 4};
    case 4: return {"int64", 8};
    case 5: return {"uint64", 8};
    case 6: return {"float16", 2};
    case 7: return {"float32", 4};
    case 8: return {"float64", 8};
    case 9: return {"bfloat16", 2};
    case 10:
    case 11: return {"float8", 1};
    default: return {};
  }
}

class NcclLogImport {
 public:
  NcclLogImport(MeasuredRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  Expected<void> read(ByteInput& input, const std::function<void(double)>& progress) {
    const auto take = [this](const NcclLogLine& line) { this->take(line); };
    if (auto read = read_nccl_log(input, name_, take, run_.counts, progress); !read) return read;
    run_.format = "NCCL log";
    run_.files.push_back(name_);
    name_members();
    // Ranks whose calls are not in the log count, too.
    constexpr std::size_t kMaxIdleRanks = 1 << 12;
    for (const auto& [gpu, largest] : largest_) {
      if (run_.ranks.size() >= kMaxIdleRanks) break;
      rank_of(run_, std::get<0>(gpu), std::get<1>(gpu), largest.second);
    }
    for (auto& [key, choice] : choices_) run_.choices.push_back(choice);
    if (test_table_ > 0)
      run_.notes.push_back(
          fmt::format("{}:{}: this log has results of nccl-tests, which tutti calibrate --log and "
                      "tutti perf --against read",
                      name_, test_table_));
    if (choices_.empty())
      run_.notes.push_back(
          fmt::format("{}: this log does not contain NCCL's choices of algorithms; NCCL 2.21 and "
                      "later logs them with NCCL_DEBUG_SUBSYS=TUNING",
                      name_));
    if (calls_ == 0)
      run_.notes.push_back(
          fmt::format("{}: this log does not contain the calls of collectives; NCCL logs them with "
                      "NCCL_DEBUG_SUBSYS=COLL",
                      name_));
    return {};
  }

 private:
  using Process = std::tuple<std::string, std::int64_t>;
  /// A GPU of a process, which may call NCCL for several GPUs.
  using Gpu = std::tuple<std::string, std::int64_t, std::int64_t>;
  struct Communicator {
    std::int64_t rank = -1, ranks = -1, device = -1;
    std::int32_t group = -1;
    std::string id;
  };

  void take(const NcclLogLine& line) {
    using Kind = NcclLogLine::Kind;
    const Process process{line.host, line.pid};
    switch (line.kind) {
      case Kind::kVersion:
        if (run_.nccl_version.empty()) run_.nccl_version = line.text;
        run_.is_rocm = run_.is_rocm || line.is_rccl;
        return run_.counts.use("version");
      case Kind::kCommunicator: return take_communicator(line, process);
      case Kind::kCollective: return take_collective(line, process);
      case Kind::kChoice: return take_choice(line, process);
      case Kind::kTransport:
        if (run_.transports.size() < kMaxNames || run_.transports.contains(line.text))
          ++run_.transports[line.text];
        return run_.counts.use("transport");
      case Kind::kNetwork: return add_once(run_.networks, line.text, "network");
      case Kind::kVariable: return add_once(run_.variables, line.text, "variable");
      case Kind::kChannels: return run_.counts.use("channels");
      case Kind::kTestTable:
        if (test_table_ == 0) test_table_ = line.line;
        return;  // the reader counts the line
    }
  }
  static constexpr std::size_t kMaxNames = 256;

  void add_once(std::vector<std::string>& list, const std::string& text, const char* what) {
    if (list.size() < kMaxNames && std::find(list.begin(), list.end(), text) == list.end())
      list.push_back(text);
    run_.counts.use(what);
  }

  void take_communicator(const NcclLogLine& line, const Process& process) {
    run_.counts.use("communicator");
    if (communicators_.size() >= kMaxRecords) return;
    const auto [place, is_new] = communicators_.try_emplace({process, line.communicator});
    Communicator& made = place->second;
    const Gpu gpu{line.host, line.pid, line.device};
    // The memory of a communicator that was destroyed may become that of another one.
    if (is_new || made.ranks != line.ranks || made.id != line.id) {
      made = {line.rank, line.ranks, line.device, -1, line.id};
      made.group = group_index(run_, {name_of(line, gpu), "", line.ranks, {}});
    }
    if (!line.id.empty() && made.group >= 0 && line.ranks <= kMaxMembers)
      members_[made.group].try_emplace(line.rank, gpu);
    auto& [ranks, rank] = largest_[gpu];
    if (line.ranks >= ranks) ranks = line.ranks, rank = line.rank;
    run_.world_size = std::max(run_.world_size, line.ranks);
  }

  /// Returns a name that all ranks of a communicator have in common. NCCL's number of a
  /// communicator is such a name. Older releases log only a pointer, which differs between
  /// processes. Then the first communicators of a size in all processes form one group, the second
  /// ones another group.
  std::string name_of(const NcclLogLine& line, const Gpu& gpu) {
    if (!line.id.empty()) return line.id;
    const std::int64_t number = ++of_size_[{gpu, line.ranks}];
    return number == 1 ? fmt::format("communicator of {}", line.ranks)
                       : fmt::format("communicator {} of {}", number, line.ranks);
  }

  /// States the ranks of each communicator all of whose members are in the log.
  void name_members() {
    for (const auto& [group, members] : members_) {
      MeasuredGroup& of = run_.groups[static_cast<std::size_t>(group)];
      if (std::ssize(members) != of.size || !of.ranks.empty()) continue;
      std::vector<std::int64_t> ranks;
      for (const auto& [unused, gpu] : members) {
        const auto& [world, rank] = largest_[gpu];
        if (world == run_.world_size) ranks.push_back(rank);
      }
      if (std::ssize(ranks) == of.size) of.ranks = std::move(ranks);
    }
  }

  void take_collective(const NcclLogLine& line, const Process& process) {
    ++calls_;
    const auto communicator = communicators_.find({process, line.communicator});
    MeasuredCollective c;
    c.kind = measured_kind_of(line.name);
    c.type = nccl_type(line.data_type);
    std::int64_t ranks = line.ranks;
    std::int64_t rank = -1, device = line.device;
    if (communicator != communicators_.end()) {
      c.group = communicator->second.group;
      ranks = communicator->second.ranks;
      device = communicator->second.device;
    } else if (ranks > 0) {
      c.group = group_index(run_, {fmt::format("communicator of {}", ranks), "", ranks, {}});
    }
    if (const auto known = largest_.find({line.host, line.pid, device}); known != largest_.end())
      rank = known->second.second;
    if (c.type.bytes > 0) c.bytes = size_of_argument(c.kind, line.elements * c.type.bytes, ranks);
    if (c.bytes < 0)
      run_.counts.incomplete("call of unknown size");
    else
      run_.counts.use("call of a collective");
    if (collectives_ >= kMaxRecords) return;
    ++collectives_;
    const auto [place, added] = place_.try_emplace({process, rank}, 0);
    if (added)
      place->second = static_cast<std::size_t>(
          &rank_of(run_, std::get<0>(process), std::get<1>(process), rank) - run_.ranks.data());
    MeasuredRank& of = run_.ranks[place->second];
    of.collectives.push_back(std::move(c));
    last_[{process, line.thread}] = {place->second, of.collectives.size() - 1, ranks};
  }

  void take_choice(const NcclLogLine& line, const Process& process) {
    run_.counts.use("choice");
    MeasuredChoice choice;
    choice.kind = measured_kind_of(line.name);
    choice.algorithm = line.algorithm;
    choice.protocol = line.protocol;
    choice.channels = static_cast<std::int32_t>(line.channels);
    choice.predicted_us = line.predicted_us;
    // If the log has the calls, NCCL's choice for a call is logged after the call, on the same
    // thread.
    const auto call = last_.find({process, line.thread});
    if (call != last_.end()) {
      MeasuredCollective& c = run_.ranks[call->second.rank].collectives[call->second.index];
      const std::int64_t bytes = size_of_argument(c.kind, line.bytes, call->second.ranks);
      if (c.algorithm.empty() && (bytes == c.bytes || line.name.empty())) {
        c.algorithm = choice.algorithm;
        c.protocol = choice.protocol;
        c.channels = choice.channels;
        choice.kind = c.kind;
        choice.ranks = call->second.ranks;
        choice.bytes = c.bytes;
      }
    }
    if (choice.ranks < 0) {
      if (const auto known = largest_.find({line.host, line.pid, line.device});
          known != largest_.end())
        choice.ranks = known->second.first;
      choice.bytes = size_of_argument(choice.kind, line.bytes, choice.ranks);
      if (choice.bytes < 0) choice.bytes = line.bytes;
    }
    if (choices_.size() >= kMaxRecords) return;
    const auto key = std::tuple(choice.kind, choice.ranks, choice.bytes, choice.algorithm,
                                choice.protocol, choice.channels);
    choices_.try_emplace(key, choice).first->second.times += 1;
  }

  static constexpr std::size_t kMaxRecords = 20'000'000;
  static constexpr std::int64_t kMaxMembers = 1 << 16;

  struct LastCall {
    std::size_t rank = 0, index = 0;
    std::int64_t ranks = -1;
  };

  MeasuredRun& run_;
  std::string name_;
  std::map<std::pair<Process, std::string>, Communicator> communicators_;
  std::map<Gpu, std::pair<std::int64_t, std::int64_t>>
      largest_;  ///< for each GPU, the number of ranks of its largest communicator and its rank
                 ///< there
  std::map<std::int32_t, std::map<std::int64_t, Gpu>>
      members_;  ///< the members of each group, by rank
  std::map<std::pair<Gpu, std::int64_t>, std::int64_t>
      of_size_;  ///< the number of communicators of a GPU that have this size
  std::map<std::pair<Process, std::int64_t>, LastCall> last_;
  std::map<std::pair<Process, std::int64_t>, std::size_t>
      place_;  ///< for each process and rank, the index into the run's ranks
  std::map<
      std::tuple<MeasuredKind, std::int64_t, std::int64_t, std::string, std::string, std::int32_t>,
      MeasuredChoice>
      choices_;
  std::int64_t calls_ = 0;
  int test_table_ = 0;  ///< the line of the first table of nccl-tests
  std::size_t collectives_ = 0;
};

}  // namespace

Expected<void> import_nccl_log(ByteInput& input, const std::string& name, MeasuredRun& run,
                               const std::function<void(double)>& progress) {
  return NcclLogImport(run, name).read(input, progress);
}

}  // namespace tutti::core
