// An IndexedSlices gradient has some rows of a variable and their indices. Replicas usually have
// different rows, so the rows cannot be added element by element. One all-gather collects the
// values, and another all-gather collects the indices. The dense gradients are planned first, on a
// copy of the workload without the sparse gradients. The packs' indices of variables are then
// converted to indices in the whole workload.
//
// The framework determines the order of a gradient's packs (SparseRules). Lengths may be gathered
// first, indices may wait for values, and all of these packs may wait for the last dense pack. The
// gathers use the strategy's algorithm or, if this algorithm has no all-gather, a ring. Some
// frameworks gather sparse gradients on one device instead of using an all-gather. Sparse gradients
// on servers are planned in server_plan.cpp.

#include "core/lowering/sparse_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/algorithm/star_tree.h"
#include "core/algorithm/tree_blocks.h"
#include "core/schedule/stages.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

/// A workload of only the dense gradients, and the index of each dense gradient in the whole
/// workload.
struct Dense {
  Workload workload;
  std::vector<int> was;
};

Dense dense_of(const Workload& all) {
  std::vector<int> kept;
  for (int v = 0; v < static_cast<int>(all.gradients.size()); ++v) {
    if (!all.gradients[v].slices) kept.push_back(v);
  }
  return {all.with_gradients(kept), kept};
}

class SparsePlanner {
 public:
  SparsePlanner(const Workload& workload, const Strategy& strategy, const Cluster& cluster)
      : workload_(workload), strategy_(strategy), cluster_(cluster), gathering_(strategy) {
    gathering_.reduction = Reduction::kSum;
    gathering_.collective = CollectiveKind::kAllGather;
    // TensorFlow's all-gather uses one ring, whatever the settings of the all-reduce are.
    gathering_.tf_runtime.subdiv_offsets.clear();
    gathering_.tf_runtime.max_subdivs_per_device.reset();
    if (traits(strategy_.algorithm).in_tf_runtime) gathering_.shards = 1;
  }

  tl::expected<Plan, StrategyProblem> make(const std::vector<Communicator>& communicators) {
    const SparseRules& rules = strategy_.sparse;
    if (rules.refused) return tl::make_unexpected(*rules.refused);
    if (rules.refused_if_rows_differ && any_differ())
      return tl::make_unexpected(*rules.refused_if_rows_differ);
    Plan plan;
    Dense dense = dense_of(workload_);
    if (dense.was.empty()) {
      plan.notes = strategy_.notes;
      plan.update = strategy_.update;
    } else {
      auto made = make_plan(dense.workload, strategy_, cluster_, communicators);
      if (!made) return made;
      plan = std::move(*made);
      for (Pack& pack : plan.packs) {
        for (Member& member : pack.payload.members) member.variable = dense.was[member.variable];
        if (pack.also_needs >= 0) pack.also_needs = dense.was[pack.also_needs];
      }
    }
    plan_ = &plan;
    const bool splits =
        strategy_.independent || std::any_of(communicators.begin(), communicators.end(),
                                             [](const Communicator& c) { return c.splits_model; });
    if (plan.partition || splits)
      return wrong("",
                   "sparse gradients are not modelled for groups of replicas (splits_model, "
                   "INDEPENDENT); remove sparse_gradient");
    choose_gathering();
    // Variables are in reverse order of creation, because the gradients of the last variables
    // become ready first.
    for (int v = static_cast<int>(workload_.gradients.size()) - 1; v >= 0; --v) {
      if (const Variable& gradient = workload_.gradients[v]; gradient.slices) add(v, gradient);
    }
    return plan;
  }

 private:
  static tl::unexpected<StrategyProblem> wrong(const char* field, const char* text) {
    return tl::make_unexpected(StrategyProblem{field, text});
  }
  [[nodiscard]] bool any_differ() const {
    return std::any_of(workload_.gradients.begin(), workload_.gradients.end(),
                       [](const Variable& g) { return g.slices && g.slices->differ; });
  }
  [[nodiscard]] std::int64_t replicas() const { return cluster_.replicas(); }
  /// True if one device collects each tensor from all replicas and sends the result back to all
  /// replicas.
  [[nodiscard]] bool over_one_device() const {
    const AlgorithmTraits& t = traits(strategy_.algorithm);
    return t.sums_on == SumsOn::kOneDevice ||
           (t.nccl == NcclPart::kAll && strategy_.sparse.over_first_device);
  }

  /// Chooses the algorithm that gathers sparse gradients.
  void choose_gathering() {
    if (over_one_device()) {
      if (!traits(strategy_.algorithm).chooses_device)
        plan_->notes.add("sparse.gathered-on-first-device",
                         "Efficient allreduce is not supported for {} IndexedSlices: each is "
                         "gathered on the first device, and copied from there",
                         std::count_if(workload_.gradients.begin(), workload_.gradients.end(),
                                       [](const Variable& g) { return g.slices.has_value(); }));
      return;
    }
    const auto take = [this](AlgorithmChoice algorithm) {
      const Strategy usual = Strategy::for_algorithm(algorithm);
      gathering_.algorithm = algorithm;
      if (!strategy_.requested_staging) gathering_.staging = usual.staging;
      gathering_.shards = 1;
    };
    if (strategy_.sparse.gathered_by) return take(*strategy_.sparse.gathered_by);
    const bool on_gpus = cluster_.part(cluster_.replica(0)).kind == PartKind::kGpu;
    const AlgorithmTraits& t = traits(strategy_.algorithm);
    if (t.supports(CollectiveKind::kAllGather, on_gpus)) return;
    plan_->notes.add("sparse.gathered-by-ring",
                     "{} has no all-gather, so a ring gathers the sparse gradients", t.name);
    take(BaseAlgorithm::kRing);
  }

  [[nodiscard]] Collective gather(DataType type, std::int64_t of_each) const {
    const std::int64_t elements = of_each * replicas();
    if (!over_one_device()) return make_collective(cluster_, gathering_, type, elements, 0);
    const auto n = static_cast<std::int32_t>(replicas());
    const auto g = static_cast<std::int32_t>(cluster_.replicas_per_worker());
    const bool on_gpus = cluster_.part(cluster_.replica(0)).kind == PartKind::kGpu;
    const bool host = sums_on_hosts(strategy_) && on_gpus;
    const Rank root =
        traits(strategy_.algorithm).chooses_device ? strategy_.reduce_to.value_or(host ? n : 0) : 0;
    const Engine engine = on_gpus ? Engine::kCopyEngine : Engine::kCpu;
    const StageGroup group{n / g, g, host};
    const StarTree tree{group.ranks(), n, n, 1, root};
    Collective made{
        Group::of_cluster(cluster_, host), nullptr, type, elements, strategy_.staging, n,
        CollectiveKind::kAllGather};
    made.schedule =
        in_stages(group, elements,
                  {{StageScope::kEveryone, tree_gather(tree, of_each, engine, Engine::kCpu)},
                   {StageScope::kEveryone, tree_broadcast(tree, elements, engine, Engine::kCpu)}});
    return made;
  }

  void add(int v, const Variable& gradient) {
    if (gradient.elements == 0 || gradient.slices->rows == 0) return;
    const Slices& slices = *gradient.slices;
    const std::int64_t values = slices.rows * gradient.row_elements();
    const SparseRules& rules = strategy_.sparse;
    const bool ordered = strategy_.launch == Launch::kSerial && !plan_->fuses();
    int before = rules.after_last_pack && ordered ? static_cast<int>(plan_->packs.size()) - 1 : -1;
    if (rules.lengths_first) {
      Pack lengths = pack_of({{v, 0, 0, 0}}, gather(DataType::kInt32, 1));
      lengths.payload.content = PackContent::kLengths;
      before = put(std::move(lengths), before);
    }
    if (slices.differ && !rules.whole_if_rows_differ.empty()) return add_whole(v, gradient, before);
    Pack of_values = pack_of({{v, 0, 0, 0}}, gather(gradient.type, values));
    // For a mean, a replica divides the values after all values have arrived.
    if (strategy_.reduction == Reduction::kMean && replicas() > 1)
      of_values.copied_out = plan_->collective(of_values).bytes();
    // A variable is updated once its values and indices have arrived. The last pack of a gradient
    // is the pack of indices.
    const int first = put(std::move(of_values), before);
    Pack indices = pack_of({{v, 0, values, 0}}, gather(slices.index_type, slices.rows));
    indices.payload.content = PackContent::kIndices;
    put(std::move(indices),
        ordered || (!rules.indices_beside_values && !plan_->fuses()) ? first : before);
  }

  /// Adds a sparse gradient in its dense form, as a separate pack.
  void add_whole(int v, const Variable& gradient, int before) {
    plan_->notes.add("sparse.rows-differ",
                     "replicas have different numbers of gradient rows of \"{}\", so {} reduces "
                     "the gradient of the whole variable",
                     gradient.name, strategy_.sparse.whole_if_rows_differ);
    Pack pack = pack_of({{v, 0, gradient.elements, 0}},
                        make_collective(cluster_, strategy_, gradient.type, gradient.elements, 0));
    pack.copied_in = gradient.bytes();
    put(std::move(pack), before);
  }

  Pack pack_of(std::vector<Member> members, Collective collective) {
    return plan_->pack_of(std::move(members), std::move(collective), strategy_.launch_overhead);
  }
  /// Adds the pack and returns its index.
  int put(Pack pack, int after) {
    pack.after = after;
    pack.turn = static_cast<int>(plan_->packs.size());
    pack.payload.reduction = plan_->collective(pack).kind == CollectiveKind::kAllGather
                                 ? std::optional(Reduction::kSum)
                                 : std::nullopt;
    plan_->packs.push_back(std::move(pack));
    return static_cast<int>(plan_->packs.size()) - 1;
  }

  const Workload& workload_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  Strategy gathering_;  ///< the strategy for the collectives that gather sparse gradients
  Plan* plan_ = nullptr;
};

}  // namespace

bool has_slices(const Workload& workload) {
  return std::any_of(workload.gradients.begin(), workload.gradients.end(),
                     [](const Variable& g) { return g.slices.has_value(); });
}

tl::expected<Plan, StrategyProblem> plan_with_slices(
    const Workload& workload, const Strategy& strategy, const Cluster& cluster,
    const std::vector<Communicator>& communicators) {
  return SparsePlanner(workload, strategy, cluster).make(communicators);
}

}  // namespace tutti::core
