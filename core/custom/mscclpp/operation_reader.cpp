// Reads operations. An operation gives an index into a list of its thread block, and the entry of
// the list is an index into a list of the GPU; both levels are resolved here. The sources and
// targets that an operation may have depend on its kind (Operands). They are checked here, so that
// lanes.cpp needs no checks.

#include "core/custom/mscclpp/operation_reader.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tutti::core::custom {
namespace {

constexpr std::size_t kMaxPlanOps = 2'000'000;
constexpr std::int64_t kMaxPipelined = 1 << 14;
constexpr std::int64_t kMaxPipelinedInRounds = 1 << 18;
constexpr std::int64_t kMaxSwitchEdges = 1 << 20;
constexpr std::int64_t kMaxPacketOps = 1 << 15;
constexpr std::size_t kMaxFollowed = std::size_t{1} << 27;

constexpr std::array kOpFields{
    "name",         "channel_type", "channel_ids", "src_buff",         "dst_buff",
    "reduce_op",    "tbg_info",     "barrier_id",  "num_threadblocks", "semaphore_ids",
    "iter_context", "ops",          "tutti_fused"};

}  // namespace

std::vector<PlanOp> OperationReader::read(const JsonValue& block, Rank rank,
                                          const BlockLists& lists,
                                          const std::vector<RemoteBuffer>& remote) {
  rank_ = rank;
  lists_ = lists;
  remote_ = remote;
  std::vector<PlanOp> ops;
  for (const JsonValue& op : list(block, "ops")) {
    if (problems_.full()) break;
    read_op(op, false, ops);
  }
  return ops;
}

void OperationReader::check_totals(Position at) {
  if (followed_ * ways_.size() > kMaxFollowed)
    add(ProblemCode::kTooLarge, "ops", at,
        "the plan has too many signals and waits ({}) for its {} pairs of sending thread block "
        "and receiving GPU",
        followed_, ways_.size());
  if (pipelined_ > 0)
    plan_.max_rounds =
        std::clamp<std::int64_t>(kMaxPipelinedInRounds / pipelined_, 1, plan_.max_rounds);
}

void OperationReader::read_op(const JsonValue& of, bool in_pipeline, std::vector<PlanOp>& into) {
  if (!message(of, "ops")) return;
  if (++ops_ > kMaxPlanOps)
    return add(ProblemCode::kTooLarge, "ops", of.at, "more than {} operations", kMaxPlanOps);
  refuse_unknown(of, kOpFields);
  const std::string name = text(of, "name");
  const PlanName* const found = plan_operation(name);
  if (found == nullptr)
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
        "the plan has more operations with packets than the limit of {}", kMaxPacketOps);
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

void OperationReader::count_pipelined(const JsonValue& of, const PlanOp& op,
                                      const std::string& name) {
  const std::int64_t before = pipelined_;
  pipelined_ += 1 + static_cast<std::int64_t>(op.source.size() + op.target.size() +
                                              op.channels.size() + op.semaphores.size());
  for (const PlanPlace& place : op.target) {
    if (place.channel >= 0) pipelined_ += gpu().switches[place.channel].group.count;
  }
  if (before <= kMaxPipelined && pipelined_ > kMaxPipelined)
    add(ProblemCode::kTooLarge, "ops", of.at,
        "the operations in pipelines, together with their sources, targets, channels and "
        "semaphores, are more than the limit of {}; use fewer",
        kMaxPipelined);
  if (op.packets_in || op.packets_out)
    add(ProblemCode::kUnsupported, "name", of.at,
        "operation \"{}\" cannot be in a pipeline: a pipeline executes its operations in rounds, "
        "and MSCCL++ does not divide operations with packets into rounds",
        name);
}

// Counts the pairs of a thread block and an inbox. lanes.cpp keeps two counts
// for each pair.
void OperationReader::count_followed(const PlanOp& op) {
  const auto block = static_cast<std::int64_t>(gpu().blocks.size());
  for (const PlanPlace& place : op.target) {
    if (place.rank >= 0) ways_.insert({rank_, block, place.rank});
    if (place.channel < 0) continue;
    const RankSet& group = gpu().switches[place.channel].group;
    for (std::int32_t i = 0; i < group.count; ++i) ways_.insert({rank_, block, group.at(i)});
  }
  if (op.verb == PlanVerb::kSignal || op.verb == PlanVerb::kWait || op.verb == PlanVerb::kBarrier ||
      op.verb == PlanVerb::kAcquire || op.verb == PlanVerb::kRelease || op.signals)
    followed_ += std::max<std::size_t>(1, op.channels.size() + op.semaphores.size());
}

void OperationReader::read_pipeline(const JsonValue& of, PlanOp op, bool in_pipeline,
                                    std::vector<PlanOp>& into) {
  if (in_pipeline)
    return add(ProblemCode::kUnsupported, "name", of.at, "pipelines cannot be nested");
  plan_.has_pipelines = true;
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

void OperationReader::read_transfer(const JsonValue& of, const PlanName& name, PlanOp& op) {
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

void OperationReader::read_place(const JsonValue& of, const PlanOp& op,
                                 std::vector<PlanPlace>& into) {
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
    const RemoteBuffer& remote = remote_[known[id]];
    if (remote.rank == rank_)
      return add(ProblemCode::kConflict, "buffer_id", of.at,
                 "the remote buffer belongs to GPU {} itself; use a buffer of another GPU", rank_);
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

std::int64_t OperationReader::chunks_of(PlanMemory memory, Rank rank) const {
  if (memory == PlanMemory::kScratch) return plan_.gpus[rank].scratch;
  const bool block =
      (memory == PlanMemory::kInput && plan_.kind == CollectiveKind::kAllGather) ||
      (memory == PlanMemory::kOutput && plan_.kind == CollectiveKind::kReduceScatter);
  return block ? plan_.chunks / ranks_ : plan_.chunks;
}

void OperationReader::check_operands(const JsonValue& of, const PlanName& name, PlanOp& op) {
  const auto wrong = [&](const char* expected) {
    add(ProblemCode::kConflict, "src_buff", of.at, "\"{}\" needs {}", name.name, expected);
  };
  const auto local = [](const PlanPlace& p) { return p.rank < 0 && p.channel < 0; };
  const auto remote = [](const PlanPlace& p) { return p.rank >= 0; };
  const auto in_switch = [](const PlanPlace& p) { return p.channel >= 0; };
  const auto all = [](const std::vector<PlanPlace>& places, std::size_t from, auto is) {
    return std::all_of(places.begin() + std::min(from, places.size()), places.end(), is);
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

// Checks that every member of a switch channel has the chunks of the place. Also limits the
// total number of edges of multicasts.
void OperationReader::check_group(const JsonValue& of, const PlanSwitch& used,
                                  const PlanPlace& place) {
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

}  // namespace tutti::core::custom
