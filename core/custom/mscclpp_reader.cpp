// Reads the JSON of an execution plan. Each thread block has lists of the channels and remote
// buffers that its operations use. An operation gives an index into such a list. An entry of the
// list is in turn an index into a list of the GPU. This reader resolves both levels of indices.

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/custom/mscclpp_plan.h"

namespace tutti::core::custom {
namespace {

using JsonValue = tutti::core::Value;  // not the value of an expression (values.h)

constexpr std::int64_t kMaxPlanGpus = 1 << 12;
constexpr std::int64_t kMaxPlanChunks = std::int64_t{1} << 30;
constexpr std::size_t kMaxPlanBlocks = 1024;
constexpr std::size_t kMaxPlanOps = 2'000'000;
constexpr std::int64_t kMaxPipelined = 1 << 14;
constexpr std::int64_t kMaxPipelinedInRounds = 1 << 18;
constexpr std::int64_t kMaxSwitchEdges = 1 << 20;
constexpr std::int64_t kMaxPacketOps = 1 << 15;
constexpr std::size_t kMaxFollowed = std::size_t{1} << 27;

struct PlanKind {
  const char* name;
  CollectiveKind kind;
};
constexpr std::array kPlanKinds{PlanKind{"allreduce", CollectiveKind::kAllReduce},
                                PlanKind{"allgather", CollectiveKind::kAllGather},
                                PlanKind{"reducescatter", CollectiveKind::kReduceScatter},
                                PlanKind{"alltoall", CollectiveKind::kAllToAll},
                                PlanKind{"sendrecv", CollectiveKind::kSendReceive}};

/// Says which operands of an operation are on its own rank (local), on other ranks (remote), or in
/// a switch.
enum class Operands : std::uint8_t {
  kNone,
  kPut,          ///< one local source and one remote target
  kGet,          ///< one remote source and one local target
  kLocal,        ///< one local source and one local target
  kReduce,       ///< local sources; the first target is local, all other targets are remote
  kReduceKeep,   ///< like kReduce, but the second target is local too
  kReadReduce,   ///< like kReduce, but only the first source is local
  kStore,        ///< a local source and a target in the switch
  kReduceStore,  ///< a source and a target in the switch
  kReadPut,      ///< one local source, any number of remote targets
};

struct PlanName {
  const char* name;
  PlanVerb verb;
  Operands operands;
  bool packets_in;
  bool packets_out;
  bool sends;  ///< true if the operation can write to other ranks
};
constexpr std::array kPlanNames{
    PlanName{"nop", PlanVerb::kNop, Operands::kNone, false, false, false},
    PlanName{"barrier", PlanVerb::kBarrier, Operands::kNone, false, false, false},
    PlanName{"signal", PlanVerb::kSignal, Operands::kNone, false, false, false},
    PlanName{"rlxsignal", PlanVerb::kSignal, Operands::kNone, false, false, false},
    PlanName{"wait", PlanVerb::kWait, Operands::kNone, false, false, false},
    PlanName{"rlxwait", PlanVerb::kWait, Operands::kNone, false, false, false},
    PlanName{"flush", PlanVerb::kFlush, Operands::kNone, false, false, false},
    PlanName{"put", PlanVerb::kPut, Operands::kPut, false, false, true},
    PlanName{"pws", PlanVerb::kPut, Operands::kPut, false, false, true},
    PlanName{"pwsf", PlanVerb::kPut, Operands::kPut, false, false, true},
    PlanName{"ppkt", PlanVerb::kPut, Operands::kPut, false, true, true},
    PlanName{"rppkt", PlanVerb::kPut, Operands::kReadPut, true, true, true},
    PlanName{"get", PlanVerb::kGet, Operands::kGet, false, false, false},
    PlanName{"copy", PlanVerb::kCopy, Operands::kLocal, false, false, false},
    PlanName{"cpkt", PlanVerb::kCopy, Operands::kLocal, false, true, false},
    PlanName{"upkt", PlanVerb::kCopy, Operands::kLocal, true, false, false},
    PlanName{"re", PlanVerb::kReduce, Operands::kReduce, false, false, false},
    PlanName{"res", PlanVerb::kReduce, Operands::kReduce, false, false, true},
    PlanName{"rre", PlanVerb::kReduce, Operands::kReadReduce, false, false, false},
    PlanName{"rres", PlanVerb::kReduce, Operands::kReadReduce, false, false, true},
    PlanName{"repkt", PlanVerb::kReduce, Operands::kReduce, true, false, false},
    PlanName{"respkt", PlanVerb::kReduce, Operands::kReduce, true, true, true},
    PlanName{"recpkt", PlanVerb::kReduce, Operands::kReduceKeep, true, true, false},
    PlanName{"recspkt", PlanVerb::kReduce, Operands::kReduceKeep, true, true, true},
    PlanName{"glres", PlanVerb::kReduceStore, Operands::kReduceStore, false, false, false},
    PlanName{"gstore", PlanVerb::kStore, Operands::kStore, false, false, false},
    PlanName{"gstorepkt", PlanVerb::kStore, Operands::kStore, true, true, false},
    PlanName{"sem_acquire", PlanVerb::kAcquire, Operands::kNone, false, false, false},
    PlanName{"sem_release", PlanVerb::kRelease, Operands::kNone, false, false, false},
    PlanName{"pipeline", PlanVerb::kPipeline, Operands::kNone, false, false, false}};

constexpr std::array kPlanFields{"name",
                                 "collective",
                                 "protocol",
                                 "inplace",
                                 "reuse_resources",
                                 "num_threads_per_block",
                                 "gpus",
                                 "use_double_scratch_buffer",
                                 "buffer_alignment",
                                 "min_message_size",
                                 "max_message_size",
                                 "tutti"};
constexpr std::array kOpFields{
    "name",         "channel_type", "channel_ids", "src_buff",         "dst_buff",
    "reduce_op",    "tbg_info",     "barrier_id",  "num_threadblocks", "semaphore_ids",
    "iter_context", "ops",          "tutti_fused"};

class PlanReader {
 public:
  PlanReader(std::string file, Problems& problems) : problems_(problems) {
    plan_->file = std::move(file);
  }

  std::shared_ptr<const Plan> read(std::string_view text) {
    const std::size_t before = problems_.size();
    const Document document = parse_json(text, plan_->file, problems_);
    if (problems_.size() != before) return nullptr;
    const JsonValue& root = document.root;
    if (root.kind != JsonValue::Kind::kMessage) {
      add(ProblemCode::kWrongType, "gpus", root.at,
          "expected an execution plan (a JSON object), found {}", describe(root));
      return nullptr;
    }
    read_head(root);
    if (problems_.size() == before) read_gpus(root);
    return problems_.size() == before ? plan_ : nullptr;
  }

 private:
  template <class... Args>
  void add(ProblemCode code, const char* field, Position at, fmt::format_string<Args...> format,
           Args&&... args) {
    problems_.add({code, field}, {plan_->file, at.line, at.column}, format,
                  std::forward<Args>(args)...);
  }

  // --- JSON ---

  const JsonValue* find(const JsonValue& of, std::string_view name, JsonValue::Kind kind,
                        bool required) {
    const JsonValue* found = nullptr;
    for (const JsonValue::Field& field : of.fields) {
      if (field.name != name) continue;
      if (found != nullptr) {
        add(ProblemCode::kDuplicate, field.name.c_str(), field.at, "\"{}\" is given twice", name);
        return nullptr;
      }
      found = &field.value;
    }
    const std::string field(name);
    if (found == nullptr) {
      if (required) add(ProblemCode::kMissing, field.c_str(), of.at, "\"{}\" is missing", name);
      return nullptr;
    }
    if (found->kind == kind) return found;
    add(ProblemCode::kWrongType, field.c_str(), found->at, "\"{}\" is {}", name, describe(*found));
    return nullptr;
  }

  std::int64_t number(const JsonValue& of, std::string_view name, std::int64_t least,
                      std::int64_t most, std::optional<std::int64_t> missing = std::nullopt) {
    const JsonValue* value = find(of, name, JsonValue::Kind::kNumber, !missing);
    return value == nullptr ? missing.value_or(least) : whole(*value, name, least, most);
  }

  std::int64_t whole(const JsonValue& value, std::string_view name, std::int64_t least,
                     std::int64_t most) {
    std::int64_t number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [stop, error] = std::from_chars(value.text.data(), end, number);
    if (value.kind == JsonValue::Kind::kNumber && error == std::errc() && stop == end &&
        number >= least && number <= most)
      return number;
    add(ProblemCode::kInvalid, std::string(name).c_str(), value.at,
        "\"{}\" is {}: expected a whole number from {} to {}", name, describe(value), least, most);
    return least;
  }

  std::string text(const JsonValue& of, std::string_view name, bool required = true) {
    const JsonValue* value = find(of, name, JsonValue::Kind::kString, required);
    return value == nullptr ? "" : value->text;
  }

  bool flag(const JsonValue& of, std::string_view name, bool required = false) {
    const JsonValue* value = find(of, name, JsonValue::Kind::kIdentifier, required);
    if (value == nullptr) return false;
    if (value->text != "true" && value->text != "false")
      add(ProblemCode::kWrongType, std::string(name).c_str(), value->at, "\"{}\" is {}", name,
          describe(*value));
    return value->text == "true";
  }

  const std::vector<JsonValue>& list(const JsonValue& of, std::string_view name,
                                     bool required = true) {
    static const std::vector<JsonValue> kNothing;
    const JsonValue* value = find(of, name, JsonValue::Kind::kList, required);
    return value == nullptr ? kNothing : value->items;
  }

  template <std::size_t n>
  void refuse_unknown(const JsonValue& of, const std::array<const char*, n>& known) {
    for (const JsonValue::Field& field : of.fields) {
      if (std::find(known.begin(), known.end(), field.name) == known.end())
        add(ProblemCode::kUnknownField, field.name.c_str(), field.at,
            "\"{}\" is not a known field of this object", field.name);
    }
  }

  bool message(const JsonValue& value, const char* what) {
    if (value.kind == JsonValue::Kind::kMessage) return true;
    add(ProblemCode::kWrongType, what, value.at,
        "every item of \"{}\" must be a JSON object (found {})", what, describe(value));
    return false;
  }

  // --- the plan ---

  void read_head(const JsonValue& root) {
    refuse_unknown(root, kPlanFields);
    plan_->name = text(root, "name", false);
    if (plan_->name.empty()) plan_->name = std::filesystem::path(plan_->file).stem().string();
    const JsonValue* coll = find(root, "collective", JsonValue::Kind::kString, true);
    if (coll == nullptr) return;
    const auto kind = std::find_if(kPlanKinds.begin(), kPlanKinds.end(),
                                   [&](auto& k) { return coll->text == k.name; });
    if (kind == kPlanKinds.end())
      return add(ProblemCode::kUnsupported, "collective", coll->at,
                 "\"collective\" is \"{}\": expected allreduce, allgather, reducescatter, alltoall "
                 "or sendrecv",
                 coll->text);
    plan_->kind = kind->kind;
    const std::string protocol = text(root, "protocol");
    if (protocol != "Simple" && protocol != "LL")
      add(ProblemCode::kUnknownName, "protocol", root.at,
          "\"protocol\" is \"{}\": expected Simple or LL", protocol);
    plan_->packets = protocol == "LL";
    plan_->in_place = flag(root, "inplace", true);
    plan_->reuses_scratch = flag(root, "reuse_resources");
    flag(root, "use_double_scratch_buffer");
    number(root, "num_threads_per_block", 1, 1024, 1024);
    number(root, "buffer_alignment", 1, 1 << 20, 16);
    if (const JsonValue* ours = find(root, "tutti", JsonValue::Kind::kMessage, false))
      plan_->begins_with_handshake = flag(*ours, "begins_with_handshake");
  }

  void read_gpus(const JsonValue& root) {
    const std::vector<JsonValue>& gpus = list(root, "gpus");
    if (gpus.empty()) return add(ProblemCode::kMissing, "gpus", root.at, "the plan has no GPUs");
    if (static_cast<std::int64_t>(gpus.size()) > kMaxPlanGpus)
      return add(ProblemCode::kTooLarge, "gpus", root.at, "{} GPUs exceed the limit of {}",
                 gpus.size(), kMaxPlanGpus);
    ranks_ = static_cast<Rank>(gpus.size());
    plan_->gpus.resize(gpus.size());
    const std::size_t before = problems_.size();
    for (rank_ = 0; rank_ < ranks_ && !problems_.full(); ++rank_) {
      const JsonValue& gpu = gpus[rank_];
      if (!message(gpu, "gpus")) return;
      if (number(gpu, "id", 0, kMaxPlanGpus) != rank_)
        add(ProblemCode::kConflict, "id", gpu.at,
            "GPUs must be listed in ascending order of id: expected {}", rank_);
      read_chunks(gpu);
      read_channels(gpu);
    }
    if (problems_.size() != before) return;
    pair_channels();
    for (rank_ = 0; rank_ < ranks_ && !problems_.full(); ++rank_) read_blocks(gpus[rank_]);
    if (followed_ * ways_.size() > kMaxFollowed)
      add(ProblemCode::kTooLarge, "ops", root.at,
          "the plan has too many signals and waits ({}) for its {} pairs of sending thread block "
          "and receiving GPU",
          followed_, ways_.size());
    if (pipelined_ > 0)
      plan_->max_rounds =
          std::clamp<std::int64_t>(kMaxPipelinedInRounds / pipelined_, 1, plan_->max_rounds);
  }

  PlanGpu& gpu() { return plan_->gpus[rank_]; }

  void read_chunks(const JsonValue& of) {
    const std::int64_t inputs = number(of, "input_chunks", 0, kMaxPlanChunks);
    const std::int64_t outputs = number(of, "output_chunks", 0, kMaxPlanChunks);
    gpu().scratch = number(of, "scratch_chunks", 0, kMaxPlanChunks);
    const bool gathers = plan_->kind == CollectiveKind::kAllGather;
    const bool scatters = plan_->kind == CollectiveKind::kReduceScatter;
    std::int64_t whole = gathers ? outputs : inputs;
    if (whole == 0) whole = gathers ? inputs * ranks_ : scatters ? outputs * ranks_ : outputs;
    if (whole == 0)
      return add(ProblemCode::kTooSmall, "input_chunks", of.at, "the GPU has no chunks");
    if (rank_ == 0) plan_->chunks = whole;
    const std::int64_t input = gathers ? whole / ranks_ : whole;
    const std::int64_t output = scatters ? whole / ranks_ : whole;
    if ((gathers || scatters || plan_->kind == CollectiveKind::kAllToAll) && whole % ranks_ != 0)
      return add(ProblemCode::kConflict, "input_chunks", of.at,
                 "{} chunks cannot be divided into {} equal blocks, one per GPU", whole, ranks_);
    if (whole != plan_->chunks)
      return add(ProblemCode::kConflict, "input_chunks", of.at,
                 "the buffer has {} chunks, but the buffer of GPU 0 has {}", whole, plan_->chunks);
    if ((inputs != 0 && inputs != input) || (outputs != 0 && outputs != output))
      add(ProblemCode::kConflict, "input_chunks", of.at,
          "input_chunks is {} and output_chunks is {}: expected {} and {}", inputs, outputs, input,
          output);
  }

  PlanMemory memory(const JsonValue& of, std::string_view field) {
    const std::string name = text(of, field);
    if (name == "i") return PlanMemory::kInput;
    if (name == "o") return PlanMemory::kOutput;
    if (name != "s" && !name.empty())
      add(ProblemCode::kUnknownName, std::string(field).c_str(), of.at,
          "\"{}\" is \"{}\": expected i, o or s", field, name);
    return PlanMemory::kScratch;
  }

  enum class ChannelKind : std::uint8_t { kNone, kMemory, kPort, kSwitch };
  std::optional<ChannelKind> channel_kind(const std::string& name, Position at) {
    if (name == "memory") return ChannelKind::kMemory;
    if (name == "port") return ChannelKind::kPort;
    if (name == "switch") return ChannelKind::kSwitch;
    if (name == "none") return ChannelKind::kNone;
    add(ProblemCode::kUnknownName, "channel_type", at,
        "channel type \"{}\": expected memory, port or switch", name);
    return std::nullopt;
  }

  Rank peer(const JsonValue& value) {
    const auto rank = static_cast<Rank>(whole(value, "connected_to", 0, ranks_ - 1));
    if (rank == rank_)
      add(ProblemCode::kConflict, "connected_to", value.at, "GPU {} is connected to itself", rank);
    return rank;
  }

  void read_channels(const JsonValue& of) {
    for (const JsonValue& channel : list(of, "channels")) {
      if (!message(channel, "channels")) return;
      const auto kind = channel_kind(text(channel, "channel_type"), channel.at);
      if (!kind) continue;
      if (*kind == ChannelKind::kSwitch) {
        const PlanMemory of_group = memory(channel, "buffer_type");
        for (const JsonValue& group : list(channel, "rank_groups")) {
          if (message(group, "rank_groups")) read_group(group, of_group);
        }
        continue;
      }
      for (const JsonValue& to : list(channel, "connected_to"))
        (*kind == ChannelKind::kPort ? gpu().port_channels : gpu().memory_channels)
            .push_back({peer(to), -1});
    }
    for (const JsonValue& semaphore : list(of, "semaphores", false)) {
      if (message(semaphore, "semaphores"))
        gpu().semaphores.push_back(number(semaphore, "init_value", 0, kMaxPlanChunks));
    }
    for (const JsonValue& buffer : list(of, "remote_buffers", false)) {
      if (!message(buffer, "remote_buffers")) return;
      RemoteBuffer remote;
      remote.rank = static_cast<Rank>(number(buffer, "rank", 0, ranks_ - 1));
      remote.memory = memory(buffer, "type");
      remote_[rank_].push_back(remote);
    }
  }

  void read_group(const JsonValue& of, PlanMemory of_group) {
    PlanSwitch made;
    made.memory = of_group;
    std::vector<Rank> ranks;
    for (const JsonValue& rank : list(of, "ranks"))
      ranks.push_back(static_cast<Rank>(whole(rank, "ranks", 0, ranks_ - 1)));
    std::sort(ranks.begin(), ranks.end());
    const Rank stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
    bool regular = !ranks.empty() && stride > 0;
    for (std::size_t i = 1; i < ranks.size(); ++i)
      regular = regular && ranks[i] - ranks[i - 1] == stride;
    if (!regular)
      return add(ProblemCode::kUnsupported, "ranks", of.at,
                 "the ranks of a switch channel must be distinct and evenly spaced");
    made.group = {ranks.front(), static_cast<std::int32_t>(ranks.size()), stride};
    if (!made.group.contains(rank_))
      return add(ProblemCode::kConflict, "ranks", of.at,
                 "GPU {} has a switch channel whose ranks do not include this GPU", rank_);
    gpu().switches.push_back(made);
  }

  /// Pairs the channels. For each channel type, the k-th channel from GPU a to GPU b and the k-th
  /// channel from b to a are the two ends of one channel.
  void pair_channels() {
    for (const bool port : {false, true}) {
      std::map<std::pair<Rank, Rank>, std::vector<int>> ends;
      const auto channels = [port](PlanGpu& of) -> std::vector<PlanChannel>& {
        return port ? of.port_channels : of.memory_channels;
      };
      for (Rank rank = 0; rank < ranks_; ++rank) {
        const auto& of = channels(plan_->gpus[rank]);
        for (std::size_t i = 0; i < of.size(); ++i)
          ends[{rank, of[i].peer}].push_back(static_cast<int>(i));
      }
      for (const auto& [between, here] : ends) {
        const auto there = ends.find({between.second, between.first});
        if (there == ends.end()) continue;
        auto& of = channels(plan_->gpus[between.first]);
        for (std::size_t k = 0; k < std::min(here.size(), there->second.size()); ++k)
          of[here[k]].other_end = there->second[k];
      }
    }
  }

  // --- thread blocks ---

  struct RemoteBuffer {
    Rank rank = 0;
    PlanMemory memory = PlanMemory::kScratch;
  };

  struct BlockLists {
    std::vector<int> memory, port, switches;
    std::vector<int> memory_buffers, port_buffers;
  };

  void read_blocks(const JsonValue& of) {
    const std::vector<JsonValue>& blocks = list(of, "threadblocks");
    if (blocks.size() > kMaxPlanBlocks)
      return add(ProblemCode::kTooLarge, "threadblocks", of.at,
                 "{} thread blocks exceed the limit of {}", blocks.size(), kMaxPlanBlocks);
    for (const JsonValue& block : blocks) {
      if (problems_.full() || !message(block, "threadblocks")) return;
      const auto expected = static_cast<std::int64_t>(gpu().blocks.size());
      if (number(block, "id", 0, kMaxPlanChunks) != expected)
        add(ProblemCode::kConflict, "id", block.at,
            "thread blocks must be listed in ascending order of id: expected {}", expected);
      lists_ = {};
      read_lists(block);
      std::vector<PlanOp> ops;
      for (const JsonValue& op : list(block, "ops")) {
        if (problems_.full()) return;
        read_op(op, false, ops);
      }
      if (plan_->begins_with_handshake) drop_handshake(ops);
      gpu().blocks.push_back(std::move(ops));
    }
  }

  static void drop_handshake(std::vector<PlanOp>& ops) {
    const auto end =
        std::find_if(ops.begin(), ops.end(), [](const PlanOp& op) { return !op.relaxed; });
    ops.erase(ops.begin(), end);
  }

  void read_lists(const JsonValue& block) {
    for (const JsonValue& channel : list(block, "channels", false)) {
      if (!message(channel, "channels")) return;
      const auto kind = channel_kind(text(channel, "channel_type"), channel.at);
      if (!kind || *kind == ChannelKind::kNone) continue;
      auto& into = *kind == ChannelKind::kMemory ? lists_.memory
                   : *kind == ChannelKind::kPort ? lists_.port
                                                 : lists_.switches;
      const std::size_t have = *kind == ChannelKind::kMemory ? gpu().memory_channels.size()
                               : *kind == ChannelKind::kPort ? gpu().port_channels.size()
                                                             : gpu().switches.size();
      read_numbers(channel, "channel_ids", have, into);
    }
    for (const JsonValue& refs : list(block, "remote_buffer_refs", false)) {
      if (!message(refs, "remote_buffer_refs")) return;
      const auto kind = channel_kind(text(refs, "access_channel_type"), refs.at);
      if (!kind) continue;
      read_numbers(refs, "remote_buffer_ids", remote_[rank_].size(),
                   *kind == ChannelKind::kPort ? lists_.port_buffers : lists_.memory_buffers);
    }
  }

  /// Reads a list of indices, each of which must be less than `have`.
  void read_numbers(const JsonValue& of, const char* field, std::size_t have,
                    std::vector<int>& into) {
    for (const JsonValue& id : list(of, field)) {
      if (have == 0)
        return add(ProblemCode::kUnknownName, field, id.at,
                   "\"{}\" lists an index, but the list to which it refers is empty", field);
      into.push_back(static_cast<int>(whole(id, field, 0, static_cast<std::int64_t>(have) - 1)));
    }
  }

  void read_op(const JsonValue& of, bool in_pipeline, std::vector<PlanOp>& into) {
    if (!message(of, "ops")) return;
    if (++ops_ > kMaxPlanOps)
      return add(ProblemCode::kTooLarge, "ops", of.at, "more than {} operations", kMaxPlanOps);
    refuse_unknown(of, kOpFields);
    const std::string name = text(of, "name");
    const auto found =
        std::find_if(kPlanNames.begin(), kPlanNames.end(), [&](auto& n) { return name == n.name; });
    if (found == kPlanNames.end())
      return add(ProblemCode::kUnknownName, "name", of.at, "\"{}\" is not an operation of MSCCL++",
                 name);
    PlanOp op;
    op.verb = found->verb;
    op.at = of.at;
    op.packets_in = found->packets_in;
    op.packets_out = found->packets_out;
    op.signals = name == "pws" || name == "pwsf";
    op.flushes = name == "pwsf";
    op.relaxed = name == "rlxsignal" || name == "rlxwait";
    op.fused = flag(of, "tutti_fused");
    if (op.verb == PlanVerb::kNop) return;  // the steps of a lane are in order anyway
    if (const std::string reduction = text(of, "reduce_op", false);
        !reduction.empty() && reduction != "sum")
      add(ProblemCode::kUnsupported, "reduce_op", of.at,
          "\"reduce_op\" is \"{}\": the scenario sets the reduction, strategy {{ reduction: … }}; "
          "use a plan whose reduce_op is sum",
          reduction);
    if ((op.packets_in || op.packets_out) && ++packet_ops_ == kMaxPacketOps + 1)
      add(ProblemCode::kTooLarge, "ops", of.at,
          "the plan has more than {} operations with packets, which is the limit", kMaxPacketOps);
    switch (op.verb) {
      case PlanVerb::kBarrier:
        op.barrier = static_cast<int>(number(of, "barrier_id", 0, kMaxPlanChunks));
        op.barrier_blocks = static_cast<int>(number(of, "num_threadblocks", 1, kMaxPlanBlocks));
        break;
      case PlanVerb::kAcquire:
      case PlanVerb::kRelease:
        read_numbers(of, "semaphore_ids", gpu().semaphores.size(), op.semaphores);
        break;
      case PlanVerb::kPipeline: return read_pipeline(of, std::move(op), in_pipeline, into);
      default: read_transfer(of, *found, op); break;
    }
    count_followed(op);
    if (in_pipeline) count_pipelined(of, op, name);
    into.push_back(std::move(op));
  }

  void count_pipelined(const JsonValue& of, const PlanOp& op, const std::string& name) {
    const std::int64_t before = pipelined_;
    pipelined_ += 1 + static_cast<std::int64_t>(op.source.size() + op.target.size() +
                                                op.channels.size() + op.semaphores.size());
    for (const PlanPlace& place : op.target) {
      if (place.channel >= 0) pipelined_ += gpu().switches[place.channel].group.count;
    }
    if (before <= kMaxPipelined && pipelined_ > kMaxPipelined)
      add(ProblemCode::kTooLarge, "ops", of.at,
          "the operations in pipelines have more than {} operands, which is the limit",
          kMaxPipelined);
    if (op.packets_in || op.packets_out)
      add(ProblemCode::kUnsupported, "name", of.at,
          "\"{}\" cannot be in a pipeline, because MSCCL++ does not divide packets into rounds",
          name);
  }

  /// Returns the number of pairs of a thread block and an inbox. mscclpp_lanes.cpp keeps two counts
  /// for each pair.
  void count_followed(const PlanOp& op) {
    const auto block = static_cast<std::int64_t>(gpu().blocks.size());
    for (const PlanPlace& place : op.target) {
      if (place.rank >= 0) ways_.insert({rank_, block, place.rank});
      if (place.channel < 0) continue;
      const RankSet& group = gpu().switches[place.channel].group;
      for (std::int32_t i = 0; i < group.count; ++i) ways_.insert({rank_, block, group.at(i)});
    }
    if (op.verb == PlanVerb::kSignal || op.verb == PlanVerb::kWait ||
        op.verb == PlanVerb::kBarrier || op.verb == PlanVerb::kAcquire ||
        op.verb == PlanVerb::kRelease || op.signals)
      followed_ += std::max<std::size_t>(1, op.channels.size() + op.semaphores.size());
  }

  void read_pipeline(const JsonValue& of, PlanOp op, bool in_pipeline, std::vector<PlanOp>& into) {
    if (in_pipeline)
      return add(ProblemCode::kUnsupported, "name", of.at, "pipelines cannot be nested");
    plan_->has_pipelines = true;
    if (const JsonValue* context = find(of, "iter_context", JsonValue::Kind::kMessage, true)) {
      op.unit_bytes = number(*context, "unit_size", 1, kMaxPlanChunks);
      op.chunks = number(*context, "num_chunks", 1, kMaxPlanChunks);
    }
    for (const JsonValue& inner : list(of, "ops")) {
      if (problems_.full()) return;
      read_op(inner, true, op.body);
    }
    into.push_back(std::move(op));
  }

  void read_transfer(const JsonValue& of, const PlanName& name, PlanOp& op) {
    const std::string type = text(of, "channel_type", false);
    if (!type.empty()) {
      const auto kind = channel_kind(type, of.at);
      op.port = kind == ChannelKind::kPort;
    }
    const std::vector<int>& channels = op.port ? lists_.port : lists_.memory;
    if (op.verb == PlanVerb::kSignal || op.verb == PlanVerb::kWait || op.verb == PlanVerb::kFlush ||
        op.verb == PlanVerb::kPut) {
      std::vector<int> ids;
      if (!list(of, "channel_ids", false).empty()) {
        read_numbers(of, "channel_ids", channels.size(), ids);
        for (const int id : ids) {
          if (static_cast<std::size_t>(id) < channels.size()) op.channels.push_back(channels[id]);
        }
      }
    }
    if (name.operands == Operands::kNone) {
      if (op.channels.empty())
        add(ProblemCode::kMissing, "channel_ids", of.at, "\"{}\" has no channel_ids", name.name);
      return;
    }
    if (const JsonValue* group = find(of, "tbg_info", JsonValue::Kind::kMessage, false)) {
      op.parts = static_cast<std::int32_t>(number(*group, "tbg_size", 1, kMaxPlanBlocks));
      op.part = static_cast<std::int32_t>(number(*group, "tb_id", 0, op.parts - 1));
    }
    const std::size_t before = problems_.size();
    for (const JsonValue& place : list(of, "src_buff")) read_place(place, op, op.source);
    for (const JsonValue& place : list(of, "dst_buff")) read_place(place, op, op.target);
    if (problems_.size() == before) check_operands(of, name, op);
  }

  void read_place(const JsonValue& of, const PlanOp& op, std::vector<PlanPlace>& into) {
    if (!message(of, "src_buff")) return;
    PlanPlace place;
    place.index = number(of, "index", 0, kMaxPlanChunks);
    place.size = number(of, "size", 0, kMaxPlanChunks);
    const auto has = [&](std::string_view name) {
      return std::any_of(of.fields.begin(), of.fields.end(),
                         [&](const JsonValue::Field& field) { return field.name == name; });
    };
    Rank rank = rank_;
    if (has("buffer_id")) {
      const std::vector<int>& known = op.port ? lists_.port_buffers : lists_.memory_buffers;
      if (known.empty())
        return add(ProblemCode::kUnknownName, "buffer_id", of.at,
                   "the thread block has no remote buffers of this channel type");
      const auto id = number(of, "buffer_id", 0, static_cast<std::int64_t>(known.size()) - 1);
      const RemoteBuffer& remote = remote_[rank_][known[id]];
      if (remote.rank == rank_)
        return add(ProblemCode::kConflict, "buffer_id", of.at,
                   "the remote buffer belongs to GPU {} itself; use a buffer of another GPU",
                   rank_);
      place.memory = remote.memory;
      place.rank = rank = remote.rank;
    } else if (has("switch_channel_id")) {
      if (lists_.switches.empty())
        return add(ProblemCode::kUnknownName, "switch_channel_id", of.at,
                   "the thread block has no switch channels");
      const auto id =
          number(of, "switch_channel_id", 0, static_cast<std::int64_t>(lists_.switches.size()) - 1);
      place.channel = lists_.switches[id];
      place.memory = gpu().switches[place.channel].memory;
    } else {
      place.memory = memory(of, "type");
    }
    const std::int64_t chunks = chunks_of(place.memory, rank);
    if (place.index + place.size > chunks)
      return add(ProblemCode::kTooLarge, "index", of.at,
                 "chunks {} to {} are outside the {} chunks of buffer {} of GPU {}", place.index,
                 place.index + place.size - 1, chunks,
                 place.memory == PlanMemory::kInput    ? "i"
                 : place.memory == PlanMemory::kOutput ? "o"
                                                       : "s",
                 rank);
    into.push_back(place);
  }

  std::int64_t chunks_of(PlanMemory memory, Rank rank) {
    if (memory == PlanMemory::kScratch) return plan_->gpus[rank].scratch;
    const bool block =
        (memory == PlanMemory::kInput && plan_->kind == CollectiveKind::kAllGather) ||
        (memory == PlanMemory::kOutput && plan_->kind == CollectiveKind::kReduceScatter);
    return block ? plan_->chunks / ranks_ : plan_->chunks;
  }

  void check_operands(const JsonValue& of, const PlanName& name, PlanOp& op) {
    const auto wrong = [&](const char* expected) {
      add(ProblemCode::kConflict, "src_buff", of.at, "\"{}\" needs {}", name.name, expected);
    };
    const auto local = [](const PlanPlace& p) { return p.rank < 0 && p.channel < 0; };
    const auto remote = [](const PlanPlace& p) { return p.rank >= 0; };
    const auto in_switch = [](const PlanPlace& p) { return p.channel >= 0; };
    const auto all = [](const std::vector<PlanPlace>& places, std::size_t from, auto is) {
      return std::all_of(
          places.begin() + static_cast<std::ptrdiff_t>(std::min(from, places.size())), places.end(),
          is);
    };
    auto& source = op.source;
    auto& target = op.target;
    const std::size_t from = source.size();
    const std::size_t to = target.size();
    switch (name.operands) {
      case Operands::kNone: break;
      case Operands::kPut:
        if (from == 0 || from != to || !all(source, 0, local) || !all(target, 0, remote))
          return wrong(
              "sources on the operation's own GPU, and the same number of targets on other GPUs");
        if (op.port && op.channels.size() != to) return wrong("one port channel per target");
        break;
      case Operands::kReadPut:
        if (from != 1 || to == 0 || !local(source[0]) || !all(target, 0, remote))
          return wrong(
              "one source on the operation's own GPU, and one or more targets on other GPUs");
        if (op.port && op.channels.size() != to) return wrong("one port channel per target");
        source.resize(to, source.front());
        break;
      case Operands::kGet:
        if (op.port) return wrong("memory channels; MSCCL++ cannot read through ports");
        if (from == 0 || from != to || !all(source, 0, remote) || !all(target, 0, local))
          return wrong(
              "sources on other GPUs, and the same number of targets on the operation's own GPU");
        break;
      case Operands::kLocal:
        if (from != 1 || to != 1 || !local(source[0]) || !local(target[0]))
          return wrong("one source and one target, both on the operation's own GPU");
        break;
      case Operands::kReduce:
      case Operands::kReduceKeep: {
        const std::size_t kept = name.operands == Operands::kReduceKeep ? 2 : 1;
        if (from == 0 || to < kept || !all(source, 0, local) || !local(target[0]) ||
            !local(target[kept - 1]) || !all(target, kept, remote) || (!name.sends && to > kept))
          return wrong(
              "sources and one target (recpkt and recspkt: two targets) on the operation's own "
              "GPU; only operations that send may have further targets, on other GPUs");
        if (op.port) return wrong("memory channels; MSCCL++ cannot reduce into ports");
        break;
      }
      case Operands::kReadReduce:
        if (from < 2 || to == 0 || !local(source[0]) || !all(source, 1, remote) ||
            !local(target[0]) || !all(target, 1, remote) || (!name.sends && to > 1))
          return wrong(
              "a first source and a first target on the operation's own GPU, and further sources "
              "on other GPUs; only operations that send may have further targets, on other GPUs");
        if (op.port) return wrong("memory channels; MSCCL++ cannot read through ports");
        break;
      case Operands::kStore:
        if (from != 1 || to != 1 || !local(source[0]) || !in_switch(target[0]))
          return wrong("one source on the operation's own GPU, and one target in a switch channel");
        break;
      case Operands::kReduceStore:
        if (from != 1 || to != 1 || !in_switch(source[0]) || !in_switch(target[0]))
          return wrong("one source and one target in switch channels");
        break;
    }
    for (const auto* places : {&source, &target}) {
      for (const PlanPlace& place : *places) {
        if (place.size != source.front().size)
          return add(
              ProblemCode::kConflict, "size", of.at,
              "all operands of an operation must have the same number of chunks (got {} and {})",
              source.front().size, place.size);
        if (!in_switch(place)) continue;
        const PlanSwitch& used = gpu().switches[place.channel];
        check_group(of, used, place);
      }
    }
    if (op.signals && !op.port)
      add(ProblemCode::kUnsupported, "name", of.at, "\"{}\" requires a port channel", name.name);
  }

  /// Checks that every member of a switch channel has the chunks of the place. Also limits the
  /// total number of edges of multicasts.
  void check_group(const JsonValue& of, const PlanSwitch& used, const PlanPlace& place) {
    switch_edges_ += used.group.count;
    if (switch_edges_ > kMaxSwitchEdges)
      add(ProblemCode::kTooLarge, "switch_channel_id", of.at,
          "the switch channels of all operations have more than {} members in total, which is the "
          "limit",
          kMaxSwitchEdges);
    for (std::int32_t i = 0; i < used.group.count; ++i) {
      const std::int64_t chunks = chunks_of(place.memory, used.group.at(i));
      if (place.index + place.size <= chunks) continue;
      return add(
          ProblemCode::kTooLarge, "switch_channel_id", of.at,
          "the buffer of GPU {} in the switch channel has {} chunks, but the operation uses {}",
          used.group.at(i), chunks, place.index + place.size);
    }
  }

  Problems& problems_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  Rank ranks_ = 0;
  Rank rank_ = 0;
  std::map<Rank, std::vector<RemoteBuffer>> remote_;
  BlockLists lists_;
  std::size_t ops_ = 0;
  std::int64_t pipelined_ = 0;
  std::int64_t packet_ops_ = 0;
  std::size_t followed_ = 0;
  std::set<std::tuple<Rank, std::int64_t, Rank>> ways_;
  std::int64_t switch_edges_ = 0;
};

}  // namespace

std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& file,
                                      Problems& problems) {
  return PlanReader(file, problems).read(text);
}

}  // namespace tutti::core::custom
