// Reads the JSON of an execution plan: its head, and the channels, buffers and thread blocks of
// each GPU. Each thread block has lists of the channels and remote buffers that its operations use;
// the entries of these lists are indices into lists of the GPU. operation_reader.h reads the
// operations themselves.

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "core/custom/mscclpp/operation_reader.h"

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxPlanGpus = 1 << 12;

struct PlanKind {
  const char* name;
  CollectiveKind kind;
};
constexpr std::array kPlanKinds{PlanKind{"allreduce", CollectiveKind::kAllReduce},
                                PlanKind{"allgather", CollectiveKind::kAllGather},
                                PlanKind{"reducescatter", CollectiveKind::kReduceScatter},
                                PlanKind{"alltoall", CollectiveKind::kAllToAll},
                                PlanKind{"sendrecv", CollectiveKind::kSendReceive}};

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

class PlanReader : public PlanFields {
 public:
  PlanReader(const std::string& file, Problems& problems) : PlanFields(file, problems) {
    plan_->file = file;
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
    OperationReader operations(*plan_, problems_);
    for (rank_ = 0; rank_ < ranks_ && !problems_.full(); ++rank_)
      read_blocks(gpus[rank_], operations);
    operations.check_totals(root.at);
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

  void read_blocks(const JsonValue& of, OperationReader& operations) {
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
      const BlockLists lists = read_lists(block);
      std::vector<PlanOp> ops = operations.read(block, rank_, lists, remote_[rank_]);
      if (problems_.full()) return;
      if (plan_->begins_with_handshake) drop_handshake(ops);
      gpu().blocks.push_back(std::move(ops));
    }
  }

  static void drop_handshake(std::vector<PlanOp>& ops) {
    const auto end =
        std::find_if(ops.begin(), ops.end(), [](const PlanOp& op) { return !op.relaxed; });
    ops.erase(ops.begin(), end);
  }

  BlockLists read_lists(const JsonValue& block) {
    BlockLists lists;
    for (const JsonValue& channel : list(block, "channels", false)) {
      if (!message(channel, "channels")) return lists;
      const auto kind = channel_kind(text(channel, "channel_type"), channel.at);
      if (!kind || *kind == ChannelKind::kNone) continue;
      auto& into = *kind == ChannelKind::kMemory ? lists.memory
                   : *kind == ChannelKind::kPort ? lists.port
                                                 : lists.switches;
      const std::size_t have = *kind == ChannelKind::kMemory ? gpu().memory_channels.size()
                               : *kind == ChannelKind::kPort ? gpu().port_channels.size()
                                                             : gpu().switches.size();
      read_numbers(channel, "channel_ids", have, into);
    }
    for (const JsonValue& refs : list(block, "remote_buffer_refs", false)) {
      if (!message(refs, "remote_buffer_refs")) return lists;
      const auto kind = channel_kind(text(refs, "access_channel_type"), refs.at);
      if (!kind) continue;
      read_numbers(refs, "remote_buffer_ids", remote_[rank_].size(),
                   *kind == ChannelKind::kPort ? lists.port_buffers : lists.memory_buffers);
    }
    return lists;
  }

  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  Rank ranks_ = 0;
  Rank rank_ = 0;
  std::map<Rank, std::vector<RemoteBuffer>> remote_;
};

}  // namespace

std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& file,
                                      Problems& problems) {
  return PlanReader(file, problems).read(text);
}

}  // namespace tutti::core::custom
