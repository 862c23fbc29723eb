// Writes the lanes of a schedule as thread blocks. A thread block of MSCCL sends to one GPU and
// receives from one GPU. A lane with several peers becomes several thread blocks. Waits between the
// steps of these thread blocks preserve the order of the lane.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/custom/msccl.h"
#include "core/schedule/print.h"

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxExportedSteps = 4'000'000;

struct StepId {
  int block = -1;
  int step = -1;
};

struct OutStep {
  std::string type;
  std::string source;  ///< attributes such as "srcbuf=\"i\" srcoff=\"0\""
  std::string target;
  std::int64_t count = 0;
  StepId after;
  Wait wait;  ///< wait of the schedule; converted to `after` once all lanes have been written
  bool awaited = false;
};

struct OutBlock {
  std::int32_t send = -1;
  std::int32_t receive = -1;
  Lane channel = 0;
  std::vector<OutStep> steps;
};

class MscclWriter {
 public:
  MscclWriter(const Schedule& schedule, const Contract& contract, std::string name)
      : schedule_(schedule), contract_(contract), name_(std::move(name)) {}

  Expected<std::string> write() {
    const char* coll = name_of(contract_.kind);
    if (coll == nullptr)
      return refuse(fmt::format(
          "MSCCL's XML supports allreduce, allgather, reduce_scatter and alltoall, but not {}",
          to_string(contract_.kind)));
    std::int64_t steps = 0;
    Lane channels = 1;
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank) {
      channels = std::max(channels, schedule_.lanes(rank));
      for (Lane lane = 0; lane < schedule_.lanes(rank); ++lane)
        steps += schedule_.steps(rank, lane);
    }
    if (steps > kMaxExportedSteps)
      return refuse(fmt::format("{} steps over {} ranks exceed the limit of {}; use fewer workers",
                                steps, schedule_.ranks(), kMaxExportedSteps));
    std::string text = fmt::format(
        "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
        "coll=\"{}\" "
        "inplace=\"{}\">\n",
        escaped(name_), channels, contract_.elements, schedule_.ranks(), coll, in_place() ? 1 : 0);
    for (rank_ = 0; rank_ < schedule_.ranks() && why_not_.empty(); ++rank_) write_gpu(text);
    if (!why_not_.empty()) return refuse(why_not_);
    return text + "</algo>\n";
  }

 private:
  static tl::unexpected<Error> refuse(const std::string& why) {
    return tl::make_unexpected(Error::request({ProblemCode::kUnsupported, "--to"}, why));
  }

  static const char* name_of(CollectiveKind kind) {
    switch (kind) {
      case CollectiveKind::kAllReduce: return "allreduce";
      case CollectiveKind::kAllGather: return "allgather";
      case CollectiveKind::kReduceScatter: return "reduce_scatter";
      case CollectiveKind::kAllToAll: return "alltoall";
      default: return nullptr;
    }
  }

  static std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '&')
        safe += "&amp;";
      else if (c == '<')
        safe += "&lt;";
      else if (c == '"')
        safe += "&quot;";
      else
        safe += c;
    }
    return safe;
  }

  [[nodiscard]] bool in_place() const { return contract_.input_shift == 0; }

  void fail(Lane lane, std::int64_t index, const std::string& why) {
    if (why_not_.empty())
      why_not_ = fmt::format("rank {} lane {} step {}: {}", rank_, lane, index, why);
  }

  // --- one GPU ---

  void write_gpu(std::string& text) {
    blocks_.clear();
    places_.assign(schedule_.lanes(rank_), {});
    for (Lane lane = 0; lane < schedule_.lanes(rank_); ++lane) write_lane(lane);
    resolve_waits();
    const std::int64_t block = contract_.block();
    const bool gathers = contract_.kind == CollectiveKind::kAllGather;
    const bool scatters = contract_.kind == CollectiveKind::kReduceScatter;
    const std::int64_t inputs = gathers ? (in_place() ? 0 : block) : contract_.elements;
    const std::int64_t outputs = in_place() && !gathers ? 0 : scatters ? block : contract_.elements;
    text += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n",
                        rank_, inputs, outputs, schedule_.scratch(rank_));
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const OutBlock& one = blocks_[i];
      text += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", i, one.send,
                          one.receive, one.channel);
      for (std::size_t s = 0; s < one.steps.size(); ++s) {
        const OutStep& step = one.steps[s];
        text += fmt::format(
            "      <step s=\"{}\" type=\"{}\" {} {} cnt=\"{}\" depid=\"{}\" deps=\"{}\" "
            "hasdep=\"{}\"/>\n",
            s, step.type, step.source, step.target, step.count, step.after.block, step.after.step,
            step.awaited ? 1 : 0);
      }
      text += "    </tb>\n";
    }
    text += "  </gpu>\n";
  }

  /// The thread blocks that were made from one lane; the key is the peer.
  struct LaneBlocks {
    std::map<Rank, int> sending;
    std::map<Rank, int> receiving;
    std::vector<int> all;
    int last = -1;
  };

  void write_lane(Lane lane) {
    LaneBlocks mine;
    const std::int64_t count = schedule_.steps(rank_, lane);
    // A step that receives and sends needs one thread block with both peers.
    for (std::int64_t i = 0; i < count; ++i) {
      const Step step = schedule_.step(rank_, lane, i);
      if (!receives(step.kind) || !sends(step.kind)) continue;
      const int from = block_with(mine.receiving, step.from.rank(rank_, schedule_.ranks()));
      const int to = block_with(mine.sending, step.to.rank(rank_, schedule_.ranks()));
      if (from >= 0 && from == to) continue;
      if (from >= 0 || to >= 0)
        return fail(lane, i,
                    "this step receives from one GPU and sends to another, but an earlier step of "
                    "the lane combines one of the two GPUs with a third one; an MSCCL thread block "
                    "receives from only one GPU and sends to only one GPU");
      take(mine, lane, new_block(mine, lane), step, true, true);
    }
    StepId last;
    for (std::int64_t i = 0; i < count && why_not_.empty(); ++i) {
      last = write_step(mine, lane, i, last);
      places_[lane].push_back(last);
    }
  }

  static int block_with(const std::map<Rank, int>& blocks, Rank rank) {
    const auto found = blocks.find(rank);
    return found == blocks.end() ? -1 : found->second;
  }

  int new_block(LaneBlocks& mine, Lane lane) {
    blocks_.push_back({-1, -1, lane, {}});
    mine.all.push_back(static_cast<int>(blocks_.size()) - 1);
    return mine.all.back();
  }

  void take(LaneBlocks& mine, Lane lane, int block, const Step& step, bool sends_there,
            bool receives_there) {
    OutBlock& one = blocks_[block];
    if (sends_there) {
      one.send = step.to.rank(rank_, schedule_.ranks());
      mine.sending[one.send] = block;
    }
    if (receives_there) {
      one.receive = step.from.rank(rank_, schedule_.ranks());
      mine.receiving[one.receive] = block;
    }
    static_cast<void>(lane);
  }

  /// Returns the index of the thread block that executes a step.
  int block_of(LaneBlocks& mine, Lane lane, const Step& step) {
    const bool out = sends(step.kind);
    const bool in = receives(step.kind);
    if (out || in) {
      const Rank peer = (out ? step.to : step.from).rank(rank_, schedule_.ranks());
      const int known = block_with(out ? mine.sending : mine.receiving, peer);
      if (known >= 0) return known;
      const auto is_free = [&](int block) {
        const OutBlock& one = blocks_[block];
        return (out ? one.send : one.receive) < 0;
      };
      int block = mine.last >= 0 && is_free(mine.last) ? mine.last : -1;
      for (const int other : mine.all) {
        if (block < 0 && is_free(other)) block = other;
      }
      if (block < 0) block = new_block(mine, lane);
      take(mine, lane, block, step, out, in);
      return block;
    }
    if (mine.last >= 0) return mine.last;
    return mine.all.empty() ? new_block(mine, lane) : mine.all.front();
  }

  StepId write_step(LaneBlocks& mine, Lane lane, std::int64_t index, StepId last) {
    const Step step = schedule_.step(rank_, lane, index);
    if (step.kind == StepKind::kNop && step.wait.lane < 0) return last;
    const bool multicasts = step.kind == StepKind::kMulticast;  // refused by its kind below
    if ((sends(step.kind) && !multicasts && step.to.lane != lane) ||
        (receives(step.kind) && step.from.lane != lane)) {
      fail(lane, index,
           "the step communicates with a lane whose number differs from its own, but MSCCL thread "
           "blocks that communicate must be on the same channel");
      return last;
    }
    std::vector<OutStep> written = steps_of(step, lane, index);
    if (written.empty()) return last;
    const int block = block_of(mine, lane, step);
    std::vector<OutStep>& steps = blocks_[block].steps;
    const bool chained = last.block >= 0 && last.block != block;
    if (chained && step.wait.lane >= 0) {
      OutStep nop = nothing();
      nop.wait = step.wait;
      steps.push_back(std::move(nop));
      written.front().after = last;
    } else if (chained) {
      written.front().after = last;
    } else {
      written.front().wait = step.wait;
    }
    for (OutStep& one : written) steps.push_back(std::move(one));
    mine.last = block;
    return {block, static_cast<int>(steps.size()) - 1};
  }

  static OutStep nothing() {
    OutStep nop;
    nop.type = "nop";
    nop.source = "srcbuf=\"i\" srcoff=\"-1\"";
    nop.target = "dstbuf=\"o\" dstoff=\"-1\"";
    return nop;
  }

  std::vector<OutStep> steps_of(const Step& step, Lane lane, std::int64_t index) {
    const auto one = [&](const char* type, const Range& source, const Range& target) {
      OutStep out;
      out.type = type;
      out.source = place(source, "src", lane, index);
      out.target = place(target, "dst", lane, index);
      out.count = source.count;
      return out;
    };
    switch (step.kind) {
      case StepKind::kNop: return {nothing()};
      case StepKind::kSend: return {one("s", step.source, step.source)};
      case StepKind::kReceive: return {one("r", step.target, step.target)};
      case StepKind::kReceiveSend: return {one("rcs", step.target, step.target)};
      case StepKind::kReceiveReduce: return {one("rrc", step.source, step.target)};
      case StepKind::kReceiveReduceSend: return {one("rrs", step.source, step.source)};
      case StepKind::kReceiveReduceCopySend: return {one("rrcs", step.source, step.target)};
      case StepKind::kCopy: return {one("cpy", step.source, step.target)};
      case StepKind::kReduce: {
        std::vector<OutStep> all;
        for (std::int32_t i = 0; i < step.inputs; ++i) {
          const Range input{step.source.buffer, step.source.offset + i * step.stride,
                            step.target.count};
          if (i == 0 && !step.accumulate && input == step.target) continue;
          all.push_back(one(i == 0 && !step.accumulate ? "cpy" : "re", input, step.target));
        }
        return all;
      }
      case StepKind::kReceiveAny:
      case StepKind::kScale:
      case StepKind::kUpdate:
      case StepKind::kMulticast:
      case StepKind::kSwitchReduce: break;
    }
    fail(lane, index, fmt::format("MSCCL's XML has no {}", to_string(step.kind)));
    return {};
  }

  /// Returns the name of a range's buffer, and the range's offset in this buffer. In the schedule
  /// of an out-of-place collective, the data buffer holds the outputs and then the inputs.
  std::string place(const Range& range, const char* end, Lane lane, std::int64_t index) {
    char buffer = 's';
    std::int64_t offset = range.offset;
    if (range.buffer == Buffer::kData) {
      const std::int64_t own = rank_ * contract_.block();
      const bool input = !in_place() && offset >= contract_.elements;
      if (input) offset -= contract_.elements;
      buffer = input || (in_place() && contract_.kind != CollectiveKind::kAllGather) ? 'i' : 'o';
      const bool in_blocks = (contract_.kind == CollectiveKind::kAllGather && buffer == 'i') ||
                             (contract_.kind == CollectiveKind::kReduceScatter && buffer == 'o');
      if (in_blocks) {
        if (offset < own || offset + range.count > own + contract_.block())
          fail(lane, index,
               "the step uses output chunks of other ranks, for which MSCCL has no memory in an "
               "out-of-place collective");
        offset -= own;
      }
    }
    return fmt::format("{}buf=\"{}\" {}off=\"{}\"", end, buffer, end, offset);
  }

  void resolve_waits() {
    for (OutBlock& block : blocks_) {
      for (OutStep& step : block.steps) {
        if (step.wait.lane >= 0 && step.wait.count > 0) {
          const auto& places = places_[step.wait.lane];
          if (static_cast<std::size_t>(step.wait.count) <= places.size())
            step.after = places[step.wait.count - 1];
        }
      }
    }
    for (OutBlock& block : blocks_) {
      for (OutStep& step : block.steps) {
        if (step.after.block < 0) continue;
        blocks_[step.after.block].steps[step.after.step].awaited = true;
      }
    }
  }

  const Schedule& schedule_;
  const Contract& contract_;
  std::string name_;
  std::string why_not_;
  Rank rank_ = 0;
  std::vector<OutBlock> blocks_;
  std::vector<std::vector<StepId>> places_;  ///< for each lane and step: the thread block and the
                                             ///< position in it
};

}  // namespace

Expected<std::string> to_msccl(const Schedule& schedule, const Contract& contract,
                               const std::string& name) {
  return MscclWriter(schedule, contract, name).write();
}

}  // namespace tutti::core::custom
