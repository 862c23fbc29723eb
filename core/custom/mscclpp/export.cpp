// Writes a schedule as an execution plan. export_layout.h decides where messages go. A message
// becomes a put into the receiver's memory, followed by a signal; the receiver waits for the
// signal. The put writes directly to the message's final place if nothing else uses this place
// before the message arrives. If something else uses the final place, the put writes to a part of
// the scratch buffer that is reserved for this message, and the receiver copies or adds the data.
// Ranks of one node use memory channels; ranks of different nodes use port channels.
//
// At the start of a launch, each rank signals every rank from which it receives. A rank that has
// started therefore cannot write into the memory of a rank that is still executing the previous
// launch.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/custom/mscclpp/export_layout.h"
#include "core/custom/mscclpp/mscclpp.h"
#include "core/schedule/print.h"

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxExportedOps = 1'000'000;
/// The maximum number of chunk ranges that MSCCL++'s executor adds in one operation
/// (MAX_LOCAL_BUFFER_PER_OPERATION + MAX_CHANNEL_PER_OPERATION of
/// src/core/include/execution_common.hpp).
constexpr std::int32_t kMaxInputs = 10;

/// The list of a thread block, whose entries are indices into a list of the GPU.
class LocalList {
 public:
  int number(int of) {
    const auto found = std::find(numbers_.begin(), numbers_.end(), of);
    if (found != numbers_.end()) return static_cast<int>(found - numbers_.begin());
    numbers_.push_back(of);
    return static_cast<int>(numbers_.size()) - 1;
  }
  [[nodiscard]] bool empty() const { return numbers_.empty(); }
  [[nodiscard]] std::string text() const { return fmt::format("[{}]", fmt::join(numbers_, ", ")); }

 private:
  std::vector<int> numbers_;
};

class PlanWriter {
 public:
  PlanWriter(const Schedule& schedule, const Contract& contract, std::string name,
             std::int32_t per_node)
      : schedule_(schedule), contract_(contract), name_(std::move(name)), per_node_(per_node) {}

  Expected<std::string> write() {
    const char* coll = name_of(contract_.kind);
    if (coll == nullptr)
      return refuse(fmt::format(
          "MSCCL++ supports allreduce, allgather, reducescatter and alltoall, but not {}",
          to_string(contract_.kind)));
    std::int64_t steps = 0;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (Lane lane = 0; lane < schedule_.lanes(rank); ++lane)
        steps += schedule_.steps(rank, lane);
    }
    if (steps > kMaxExportedOps)
      return refuse(fmt::format("{} steps over {} ranks exceed the limit of {}; use fewer workers",
                                steps, ranks(), kMaxExportedOps));
    layout_.emplace(schedule_, per_node_);
    std::string text = fmt::format(
        "{{\n\"name\": \"{}\",\n\"collective\": \"{}\",\n\"protocol\": \"Simple\",\n\"inplace\": "
        "{},\n\"reuse_resources\": false,\n\"tutti\": {{\"begins_with_handshake\": "
        "true}},\n\"gpus\": [",
        escaped(name_), coll, in_place());
    for (rank_ = 0; rank_ < ranks() && why_not_.empty(); ++rank_) {
      text += rank_ == 0 ? "\n" : ",\n";
      write_gpu(text);
    }
    if (!why_not_.empty()) return refuse(why_not_);
    text +=
        "\n],\n\"num_threads_per_block\": 1024,\n\"use_double_scratch_buffer\": "
        "false,\n\"buffer_alignment\": 16,\n\"min_message_size\": 0,\n\"max_message_size\": "
        "18446744073709551615\n}\n";
    return text;
  }

 private:
  static tl::unexpected<Error> refuse(const std::string& why) {
    return tl::make_unexpected(Error::request({ProblemCode::kUnsupported, "--to"}, why));
  }
  void fail(Rank rank, Lane lane, std::int64_t index, const std::string& why) {
    if (why_not_.empty())
      why_not_ = fmt::format("rank {} lane {} step {}: {}", rank, lane, index, why);
  }

  static const char* name_of(CollectiveKind kind) {
    switch (kind) {
      case CollectiveKind::kAllReduce: return "allreduce";
      case CollectiveKind::kAllGather: return "allgather";
      case CollectiveKind::kReduceScatter: return "reducescatter";
      case CollectiveKind::kAllToAll: return "alltoall";
      default: return nullptr;
    }
  }

  static std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '"' || c == '\\') safe += '\\';
      if (static_cast<unsigned char>(c) < 0x20) {
        safe += fmt::format("\\u{:04x}", static_cast<int>(c));
      } else {
        safe += c;
      }
    }
    return safe;
  }

  [[nodiscard]] Rank ranks() const { return schedule_.ranks(); }
  [[nodiscard]] bool in_place() const { return contract_.input_shift == 0; }
  [[nodiscard]] bool port(Rank a, Rank b) const { return layout_->port(a, b); }

  // --- one GPU ---

  void write_gpu(std::string& text) {
    const std::int64_t block = contract_.block();
    const bool gathers = contract_.kind == CollectiveKind::kAllGather;
    const bool scatters = contract_.kind == CollectiveKind::kReduceScatter;
    buffers_ = {};
    std::string blocks;
    for (Lane lane = 0; lane < schedule_.lanes(rank_); ++lane) {
      blocks += lane == 0 ? "\n" : ",\n";
      write_block(blocks, lane);
    }
    text += fmt::format(
        "{{\"id\": {}, \"input_chunks\": {}, \"output_chunks\": {}, \"scratch_chunks\": {}, "
        "\"threadblocks\": [{}],\n\"channels\": [{}],\n\"remote_buffers\": [{}],\n\"semaphores\": "
        "[{}]}}",
        rank_, gathers ? block : contract_.elements, scatters ? block : contract_.elements,
        layout_->scratch[rank_], blocks, channel_lists(), fmt::join(buffer_texts(), ", "),
        fmt::join(std::vector<std::string>(layout_->semaphore_counts[rank_], "{\"init_value\": 0}"),
                  ", "));
  }

  std::string channel_lists() {
    std::string text;
    for (const bool ports : {false, true}) {
      std::map<int, Rank> peers;
      for (const auto& [ends, number] : layout_->channels) {
        if (ends.first.rank == rank_ && port(rank_, ends.second.rank) == ports)
          peers[number] = ends.second.rank;
      }
      if (peers.empty()) continue;
      std::vector<Rank> list;
      for (const auto& [number, peer] : peers) list.push_back(peer);
      text +=
          fmt::format("{}{{\"channel_type\": \"{}\", \"connected_to\": [{}]}}",
                      text.empty() ? "" : ", ", ports ? "port" : "memory", fmt::join(list, ", "));
    }
    return text;
  }

  int remote_buffer(Rank rank, char memory) {
    const std::pair<Rank, char> wanted{rank, memory};
    const auto found = std::find(buffers_.begin(), buffers_.end(), wanted);
    if (found != buffers_.end()) return static_cast<int>(found - buffers_.begin());
    buffers_.push_back(wanted);
    return static_cast<int>(buffers_.size()) - 1;
  }

  std::vector<std::string> buffer_texts() {
    std::vector<std::string> texts;
    for (const auto& [rank, memory] : buffers_)
      texts.push_back(
          fmt::format("{{\"rank\": {}, \"type\": \"{}\", \"access_channel_types\": [\"{}\"]}}",
                      rank, memory, port(rank_, rank) ? "port" : "memory"));
    return texts;
  }

  // --- one thread block ---

  void op(const std::string& text) { ops_.push_back("{" + text + "}"); }
  /// Adds a nop, which synchronizes the threads of the block before the next operation.
  void nop() {
    if (!ops_.empty() && ops_.back() != kNop) ops_.push_back(kNop);
  }

  int channel(const LaneEnd& own, const LaneEnd& peer) {
    auto& list = port(own.rank, peer.rank) ? port_list_ : memory_list_;
    return list.number(layout_->channels.at({own, peer}));
  }

  void signal(const char* name, const LaneEnd& own, const LaneEnd& peer) {
    op(fmt::format("\"name\": \"{}\", \"channel_ids\": [{}], \"channel_type\": \"{}\"", name,
                   channel(own, peer), port(own.rank, peer.rank) ? "port" : "memory"));
  }

  /// Returns a range in the format of the plan: a buffer ("i", "o" or "s") and the index of a
  /// chunk.
  std::pair<char, std::int64_t> place(Rank rank, const Range& range, Lane lane,
                                      std::int64_t index) {
    if (range.buffer == Buffer::kScratch) return {'s', range.offset};
    const std::int64_t own = rank * contract_.block();
    std::int64_t offset = range.offset;
    const bool input = !in_place() && offset >= contract_.elements;
    if (input) offset -= contract_.elements;
    const char buffer =
        input || (in_place() && contract_.kind != CollectiveKind::kAllGather) ? 'i' : 'o';
    if ((contract_.kind == CollectiveKind::kAllGather && buffer == 'i') ||
        (contract_.kind == CollectiveKind::kReduceScatter && buffer == 'o')) {
      if (offset < own || offset + range.count > own + contract_.block())
        fail(rank, lane, index,
             "the step uses output chunks of other ranks, for which MSCCL++ has no memory in an "
             "out-of-place collective");
      offset -= own;
    }
    return {buffer, offset};
  }

  std::string local(const Range& range, Lane lane, std::int64_t index) {
    const auto [buffer, offset] = place(rank_, range, lane, index);
    return fmt::format("{{\"type\": \"{}\", \"index\": {}, \"size\": {}}}", buffer, offset,
                       range.count);
  }

  void write_block(std::string& text, Lane lane) {
    ops_.clear();
    memory_list_ = port_list_ = memory_buffers_ = port_buffers_ = {};
    landed_.clear();
    sent_.clear();
    const LaneEnd own{rank_, lane};
    for (const auto& [from, to] : layout_->receivers) {
      if (to == own) signal("rlxsignal", own, from);
    }
    for (const auto& [from, to] : layout_->receivers) {
      if (from == own) signal("rlxwait", own, to);
    }
    const std::int64_t count = schedule_.steps(rank_, lane);
    for (std::int64_t i = 0; i < count && why_not_.empty(); ++i) write_step(own, i);
    std::string lists;
    const auto add = [&](const char* type, const LocalList& list) {
      if (!list.empty())
        lists += fmt::format("{}{{\"channel_type\": \"{}\", \"channel_ids\": {}}}",
                             lists.empty() ? "" : ", ", type, list.text());
    };
    add("memory", memory_list_);
    add("port", port_list_);
    std::string refs;
    const auto add_buffers = [&](const char* type, const LocalList& list) {
      if (!list.empty())
        refs += fmt::format("{}{{\"access_channel_type\": \"{}\", \"remote_buffer_ids\": {}}}",
                            refs.empty() ? "" : ", ", type, list.text());
    };
    add_buffers("memory", memory_buffers_);
    add_buffers("port", port_buffers_);
    text += fmt::format(
        "{{\"id\": {}, \"ops\": [\n{}],\n\"channels\": [{}], \"remote_buffer_refs\": [{}]}}", lane,
        fmt::join(ops_, ",\n"), lists, refs);
  }

  void write_step(const LaneEnd& own, std::int64_t index) {
    const Step step = schedule_.step(own.rank, own.lane, index);
    const auto acquire = layout_->acquires.find({own, index});
    if (acquire != layout_->acquires.end()) {
      op(fmt::format("\"name\": \"sem_acquire\", \"semaphore_ids\": [{}]", acquire->second));
      nop();
    }
    write_action(own, index, step);
    const auto release = layout_->releases.find({own, index});
    if (release == layout_->releases.end()) return;
    nop();
    op(fmt::format("\"name\": \"sem_release\", \"semaphore_ids\": [{}]",
                   fmt::join(release->second, ", ")));
  }

  void write_action(const LaneEnd& own, std::int64_t index, const Step& step) {
    const auto here = [&](const Range& range) { return local(range, own.lane, index); };
    switch (step.kind) {
      case StepKind::kNop: return;
      case StepKind::kSend: return send(own, index, step, step.source, false);
      case StepKind::kReceive: return receive(own, index, step);
      case StepKind::kReceiveSend:
        receive(own, index, step);
        return send(own, index, step, step.target, true);
      case StepKind::kReceiveReduce: return receive_sum(own, index, step, step.target);
      case StepKind::kReceiveReduceCopySend: return receive_sum(own, index, step, step.target);
      case StepKind::kReceiveReduceSend: return receive_sum(own, index, step, {});
      case StepKind::kCopy:
        nop();
        return op(fmt::format("\"name\": \"copy\", \"src_buff\": [{}], \"dst_buff\": [{}]",
                              here(step.source), here(step.target)));
      case StepKind::kReduce: return reduce(own, index, step);
      case StepKind::kReceiveAny:
      case StepKind::kScale:
      case StepKind::kUpdate:
      case StepKind::kMulticast:
      case StepKind::kSwitchReduce: break;
    }
    fail(own.rank, own.lane, index,
         fmt::format("{} is not exported to MSCCL++", to_string(step.kind)));
  }

  void reduce(const LaneEnd& own, std::int64_t index, const Step& step) {
    std::vector<std::string> sources;
    const auto here = [&](const Range& range) { return local(range, own.lane, index); };
    if (step.accumulate) sources.push_back(here(step.target));
    for (std::int32_t i = 0; i < step.inputs; ++i)
      sources.push_back(
          here({step.source.buffer, step.source.offset + i * step.stride, step.target.count}));
    if (static_cast<std::int32_t>(sources.size()) > kMaxInputs)
      return fail(
          own.rank, own.lane, index,
          fmt::format(
              "an operation of MSCCL++ sums at most {} buffers, but this step sums {} buffers",
              kMaxInputs, sources.size()));
    nop();
    op(
        fmt::format("\"name\": \"re\", \"src_buff\": [{}], \"dst_buff\": [{}], \"reduce_op\": "
                    "\"sum\"",
                    fmt::join(sources, ", "), here(step.target)));
  }

  /// Waits for the next message of a connection, and returns the range that holds the message.
  Landing take(const LaneEnd& own, const Step& step) {
    const LaneEnd from{step.from.rank(rank_, ranks()), step.from.lane};
    signal("wait", own, from);
    return layout_->landings.at({from, own})[landed_[from]++];
  }

  void receive(const LaneEnd& own, std::int64_t index, const Step& step) {
    const Landing landing = take(own, step);
    if (!landing.in_scratch) return;
    nop();
    op(fmt::format("\"name\": \"copy\", \"src_buff\": [{}], \"dst_buff\": [{}]",
                   local(landing.range, own.lane, index), local(step.target, own.lane, index)));
  }

  /// If `target` is empty, the sum is forwarded to the next rank but not stored.
  void receive_sum(const LaneEnd& own, std::int64_t index, const Step& step, Range target) {
    const Landing landing = take(own, step);
    if (step.kind == StepKind::kReceiveReduceSend) target = landing.range;
    const std::string sources = fmt::format("{}, {}", local(step.source, own.lane, index),
                                            local(landing.range, own.lane, index));
    nop();
    if (!sends(step.kind) || port(own.rank, step.to.rank(rank_, ranks()))) {
      op(
          fmt::format("\"name\": \"re\", \"src_buff\": [{}], \"dst_buff\": [{}], \"reduce_op\": "
                      "\"sum\"",
                      sources, local(target, own.lane, index)));
      if (sends(step.kind)) send(own, index, step, target, true);
      return;
    }
    const LaneEnd to{step.to.rank(rank_, ranks()), step.to.lane};
    op(fmt::format(
        "\"name\": \"res\", \"src_buff\": [{}], \"dst_buff\": [{}, {}], \"channel_type\": "
        "\"memory\", \"reduce_op\": \"sum\"",
        sources, local(target, own.lane, index), remote(own, to, index)));
    nop();
    signal("signal", own, to);
  }

  /// Returns the range to which the next message for a lane is written.
  std::string remote(const LaneEnd& own, const LaneEnd& to, std::int64_t index) {
    const auto found = layout_->landings.find({own, to});
    const std::size_t number = sent_[to]++;
    if (found == layout_->landings.end() || number >= found->second.size()) {
      fail(own.rank, own.lane, index, "nobody receives the message");
      return "";
    }
    const Range& range = found->second[number].range;
    const auto [buffer, offset] = place(to.rank, range, to.lane, -1);
    auto& list = port(own.rank, to.rank) ? port_buffers_ : memory_buffers_;
    return fmt::format("{{\"buffer_id\": {}, \"index\": {}, \"size\": {}}}",
                       list.number(remote_buffer(to.rank, buffer)), offset, range.count);
  }

  void send(const LaneEnd& own, std::int64_t index, const Step& step, const Range& source,
            bool fused) {
    const LaneEnd to{step.to.rank(rank_, ranks()), step.to.lane};
    nop();
    const bool by_port = port(own.rank, to.rank);
    op(fmt::format(
        "\"name\": \"{}\", \"src_buff\": [{}], \"dst_buff\": [{}], \"channel_ids\": [{}], "
        "\"channel_type\": \"{}\"{}",
        by_port ? "pwsf" : "put", local(source, own.lane, index), remote(own, to, index),
        channel(own, to), by_port ? "port" : "memory", fused ? ", \"tutti_fused\": true" : ""));
    if (by_port) return;
    nop();
    signal("signal", own, to);
  }

  static constexpr const char* kNop = "{\"name\": \"nop\"}";

  const Schedule& schedule_;
  const Contract& contract_;
  std::string name_;
  std::int32_t per_node_;
  std::string why_not_;
  std::optional<ExportLayout> layout_;
  Rank rank_ = 0;
  std::vector<std::pair<Rank, char>> buffers_;  ///< buffers of other ranks that this GPU accesses
  std::vector<std::string> ops_;
  LocalList memory_list_, port_list_, memory_buffers_, port_buffers_;
  std::map<LaneEnd, std::size_t> landed_, sent_;
};

}  // namespace

Expected<std::string> to_mscclpp(const Schedule& schedule, const Contract& contract,
                                 const std::string& name, std::int32_t per_node) {
  return PlanWriter(schedule, contract, name, per_node).write();
}

}  // namespace tutti::core::custom
