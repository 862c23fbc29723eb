// The timeline is a list of activities, each of which belongs to a tensor. The k-th reduction of
// each tensor belongs to training step k. The reductions are grouped into steps after the whole
// timeline was read.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/median.h"
#include "core/formats/horovod_timeline.h"
#include "core/import/framework_imports.h"

namespace tutti::core {
namespace {

/// One reduction of a tensor.
struct Reduction {
  std::int64_t negotiated_us = -1;  ///< time at which the first rank was ready to reduce the tensor
  std::int64_t ready_us = -1;       ///< time at which rank 0 was ready to reduce the tensor
  std::int64_t began_us = -1, ended_us = -1;
  std::int64_t transport_start_us = -1, transport_end_us = -1;
  MeasuredKind kind = MeasuredKind::kAllReduce;
};

struct HorovodTensor {
  std::vector<Reduction> reductions;
  ElementType type;
  std::vector<std::int64_t> shape;
  std::int64_t elements = -1;
};

bool is_transport(std::string_view name) {
  for (const std::string_view by : {"NCCL_", "MPI_", "GLOO_", "CCL_", "DDL_", "ADASUM"}) {
    if (name.starts_with(by)) return true;
  }
  return false;
}

class HorovodImport {
 public:
  HorovodImport(MeasuredRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  Expected<void> read(ByteInput& input, const std::function<void(double)>& progress) {
    TakeHorovod take;
    take.activity = [this](const HorovodActivity& a) { this->take(a); };
    take.ready = [this](const std::string& tensor, std::int64_t rank, std::int64_t us) {
      if (rank > max_rank_ && rank < 1 << 24) max_rank_ = rank;
      if (rank != 0) return;
      HorovodTensor& of = tensors_[tensor];
      if (!of.reductions.empty() && of.reductions.back().ready_us < 0 &&
          of.reductions.back().began_us < 0)
        of.reductions.back().ready_us = us;
      else
        pending_ready_[tensor] = us;
    };
    take.cycle = [this](std::int64_t us) {
      if (cycles_.size() < 1'000'000) cycles_.push_back(us);
    };
    const auto header = read_horovod_timeline(input, name_, take, run_.counts, progress);
    if (!header) return tl::make_unexpected(header.error());
    run_.format = "Horovod timeline";
    run_.framework = "Horovod";
    run_.files.push_back(name_);
    run_.world_size = std::max(run_.world_size, max_rank_ + 1);
    start_ns_ = header->start_us * 1000;
    if (header->cut_off)
      run_.notes.push_back(
          fmt::format("{}: the file is truncated; the job may have been killed", name_));
    make_rank();
    return {};
  }

 private:
  void take(const HorovodActivity& a) {
    constexpr std::size_t kMaxTensors = 1 << 20;
    if (tensors_.size() >= kMaxTensors && !tensors_.contains(a.tensor)) return;
    HorovodTensor& tensor = tensors_[a.tensor];
    if (a.depth == 0 && a.name.starts_with("NEGOTIATE_")) {
      Reduction r;
      r.negotiated_us = a.start_us;
      r.kind = measured_kind_of(std::string_view(a.name).substr(10));
      if (const auto ready = pending_ready_.find(a.tensor); ready != pending_ready_.end()) {
        r.ready_us = ready->second;
        pending_ready_.erase(ready);
      }
      tensor.reductions.push_back(r);
      return;
    }
    if (a.depth == 0) {
      // If Horovod's response cache has the tensor, there is no negotiation, so begin a new
      // reduction here.
      if (tensor.reductions.empty() || tensor.reductions.back().ended_us >= 0)
        tensor.reductions.emplace_back();
      Reduction& r = tensor.reductions.back();
      r.began_us = a.start_us;
      r.ended_us = a.end_us;
      r.kind = measured_kind_of(a.name);
      // The activity of the transport is nested in the activity of the collective. The nested
      // activity was reported earlier, because it ends first.
      if (const auto inner = inner_.find(a.tensor); inner != inner_.end()) {
        r.transport_start_us = inner->second.first;
        r.transport_end_us = inner->second.second;
        inner_.erase(inner);
      }
      if (!a.type.empty()) tensor.type = element_type_of(a.type);
      if (!a.shape.empty()) take_shape(a.shape, tensor);
      return;
    }
    if (!is_transport(a.name)) return;
    const auto [known, added] = inner_.try_emplace(a.tensor, a.start_us, a.end_us);
    if (added) return;
    known->second.first = std::min(known->second.first, a.start_us);
    known->second.second = std::max(known->second.second, a.end_us);
  }

  static void take_shape(const std::string& text, HorovodTensor& tensor) {
    const auto shape = rank_list(text);
    if (shape.empty() && text.find_first_of("0123456789") != std::string::npos) return;
    std::int64_t elements = 1;
    for (const std::int64_t side : shape) {
      if (side < 0 || (side > 0 && elements > (std::int64_t{1} << 46) / side)) return;
      elements *= side;
    }
    tensor.shape = shape;
    tensor.elements = elements;
  }

  [[nodiscard]] std::int64_t ns(std::int64_t us) const { return start_ns_ + us * 1000; }

  /// The reductions of one training step.
  struct HorovodStep {
    /// Time at which a tensor was ready, and the tensor's name.
    std::vector<std::pair<std::int64_t, std::string>> ready;
    std::int64_t end_us = -1;
  };

  void make_rank() {
    std::size_t most = 0;
    std::int64_t other = 0;
    for (const auto& [name, tensor] : tensors_) most = std::max(most, tensor.reductions.size());
    // Tensors that are reduced as often as most tensors are gradients. Metrics and the initial
    // broadcasts occur less often.
    std::map<std::size_t, std::size_t> how_often;
    for (const auto& [name, tensor] : tensors_) {
      const bool reduced =
          std::any_of(tensor.reductions.begin(), tensor.reductions.end(),
                      [](const Reduction& r) { return r.kind == MeasuredKind::kAllReduce; });
      if (reduced) ++how_often[tensor.reductions.size()];
    }
    std::size_t steps = 0, tensors = 0;
    for (const auto& [times, number] : how_often) {
      if (number >= tensors) steps = times, tensors = number;
    }
    MeasuredRank rank;
    rank.rank = 0;
    std::int64_t before = -1;
    for (std::size_t s = 0; s < steps; ++s) add_step(s, steps, before, rank);
    for (const auto& [name, tensor] : tensors_) {
      if (tensor.reductions.size() != steps)
        other += static_cast<std::int64_t>(tensor.reductions.size());
    }
    if (other > 0)
      run_.notes.push_back(
          fmt::format("{}: ignored {} collectives of tensors that are not reduced in every step",
                      name_, other));
    std::sort(rank.collectives.begin(), rank.collectives.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    run_.ranks.push_back(std::move(rank));
    run_.notes.push_back(
        fmt::format("{}: a Horovod timeline does not show computation; the forward pass is assumed "
                    "to last until the first gradient of the step is ready",
                    name_));
    if (cycles_.size() > 1) {
      std::vector<std::int64_t> lengths;
      for (std::size_t c = 1; c < cycles_.size(); ++c)
        lengths.push_back(cycles_[c] - cycles_[c - 1]);
      run_.cycle_us = upper_median(std::move(lengths));
    }
  }

  void add_step(std::size_t s, std::size_t steps, std::int64_t& before, MeasuredRank& rank) {
    struct Item {
      std::int64_t ready_us;
      const std::string* name;
      const HorovodTensor* tensor;
      const Reduction* reduction;
    };
    std::vector<Item> items;
    for (const auto& [name, tensor] : tensors_) {
      if (tensor.reductions.size() != steps) continue;
      const Reduction& r = tensor.reductions[s];
      if (r.ended_us < 0 || r.kind != MeasuredKind::kAllReduce) continue;
      const std::int64_t ready = r.ready_us >= 0        ? r.ready_us
                                 : r.negotiated_us >= 0 ? r.negotiated_us
                                                        : r.began_us;
      items.push_back({ready, &name, &tensor, &r});
    }
    if (items.empty()) return;
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.ready_us < b.ready_us; });
    MeasuredStep step;
    step.number = static_cast<std::int64_t>(s);
    std::int64_t end = 0;
    for (const Item& item : items) end = std::max(end, item.reduction->ended_us);
    step.start_ns = ns(before >= 0 ? before : items.front().ready_us);
    step.end_ns = std::max(step.start_ns, ns(end));
    step.host_ns = step.end_ns - step.start_ns;
    step.backward_ns = ns(items.front().ready_us);
    step.backward_end_ns = ns(items.back().ready_us);
    before = end;
    // Packs are numbered in the order in which their transfers began.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> packs;
    for (const Item& item : items) packs[transport_of(*item.reduction)] = 0;
    std::int32_t next = 0;
    for (auto& [when, number] : packs) number = next++;
    std::vector<MeasuredCollective> collectives(packs.size());
    const auto index = static_cast<std::int32_t>(rank.steps.size());
    for (const Item& item : items) {
      const auto when = transport_of(*item.reduction);
      const std::int32_t pack = packs[when];
      MeasuredCollective& c = collectives[pack];
      const std::int64_t bytes = item.tensor->elements > 0 && item.tensor->type.bytes > 0
                                     ? item.tensor->elements * item.tensor->type.bytes
                                     : -1;
      const bool first = c.start_ns < 0;
      c.kind = MeasuredKind::kAllReduce;
      c.step = index;
      c.pack = pack;
      c.start_ns = ns(when.first);
      c.end_ns = ns(when.second);
      c.duration_ns = c.end_ns - c.start_ns;
      c.type = item.tensor->type;
      c.bytes = bytes < 0 || (!first && c.bytes < 0) ? -1 : (first ? bytes : c.bytes + bytes);
      step.layers.push_back(*item.name);
      step.gradients.push_back({*item.name, ns(item.ready_us), item.tensor->elements,
                                item.tensor->type, item.tensor->shape,
                                static_cast<std::int32_t>(step.layers.size()) - 1, pack});
    }
    for (MeasuredCollective& c : collectives) rank.collectives.push_back(std::move(c));
    rank.steps.push_back(std::move(step));
  }
  static std::pair<std::int64_t, std::int64_t> transport_of(const Reduction& r) {
    return r.transport_start_us >= 0 ? std::pair(r.transport_start_us, r.transport_end_us)
                                     : std::pair(r.began_us, r.ended_us);
  }

  MeasuredRun& run_;
  std::string name_;
  std::map<std::string, HorovodTensor> tensors_;
  std::map<std::string, std::int64_t> pending_ready_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> inner_;
  std::vector<std::int64_t> cycles_;
  std::int64_t max_rank_ = 0;
  std::int64_t start_ns_ = 0;
};

}  // namespace

Expected<void> import_horovod(ByteInput& input, const std::string& name, MeasuredRun& run,
                              const std::function<void(double)>& progress) {
  return HorovodImport(run, name).read(input, progress);
}

}  // namespace tutti::core
