// TensorFlow's all_reduce_spec is a list of entries, each with an algorithm. The size of a gradient
// determines its entry. Each entry is planned by make_plan() as if the model had only the gradients
// of this entry. The plans of all entries are then concatenated, and their indices of variables,
// collectives and packs are adjusted. Packs that are launched serially run one after the other
// across all entries, because a device executes only one NCCL collective at a time. The rest of
// this file checks what TensorFlow's own code would do with the spec. With `validation: LITERAL`, a
// strategy that would fail in TensorFlow is an error. Otherwise, Tutti executes the strategy that
// the user evidently meant, and adds a note.

#include "core/lowering/spec_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class SpecPlanner {
 public:
  SpecPlanner(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
              const std::vector<Communicator>& communicators)
      : workload_(workload),
        strategy_(strategy),
        spec_(*strategy.spec),
        cluster_(cluster),
        communicators_(communicators) {}

  tl::expected<Plan, StrategyProblem> make() {
    plan_.update = strategy_.update;
    plan_.compression = strategy_.compression;
    plan_.entry_of_gradient = core::entries_of(spec_, sizes());
    for (std::size_t v = 0; v < plan_.entry_of_gradient.size(); ++v) {
      if (plan_.entry_of_gradient[v] < 0) return no_entry_error(v);
    }
    for (std::size_t e = 0; e < spec_.entries.size(); ++e) {
      if (auto problem = add_entry(e)) return tl::make_unexpected(std::move(*problem));
    }
    if (plan_.packs.empty())
      return problem("the model has no gradient with elements, so there is nothing to send");
    chain_serial_packs();
    note_limits();
    if (auto problem = order_of_results()) return tl::make_unexpected(std::move(*problem));
    return std::move(plan_);
  }

 private:
  template <class... Args>
  static StrategyProblem about(fmt::format_string<Args...> format, Args&&... args) {
    return {"all_reduce_spec", fmt::format(format, std::forward<Args>(args)...)};
  }
  static tl::unexpected<StrategyProblem> problem(std::string text) {
    return tl::make_unexpected(StrategyProblem{"", std::move(text)});
  }
  [[nodiscard]] const Variable& gradient(int v) const { return workload_.gradients[v]; }
  [[nodiscard]] bool literal() const { return spec_.validation == SpecValidation::kLiteral; }
  [[nodiscard]] bool is_contrib() const { return spec_.api == SpecApi::kMultiWorkerAllReduce; }

  /// Returns the sizes of the gradients in the types in which they are packed.
  [[nodiscard]] std::vector<LimitedGradient> sizes() const {
    const bool converted = strategy_.compression && !strategy_.compression->of_packs;
    std::vector<LimitedGradient> sizes;
    for (const Variable& g : workload_.gradients) {
      const DataType type = converted ? sent_as(strategy_.compression, g.type) : g.type;
      sizes.push_back({g.elements, g.elements * size_of(type)});
    }
    return sizes;
  }

  [[nodiscard]] tl::unexpected<StrategyProblem> no_entry_error(std::size_t v) const {
    if (spec_.entries.empty())
      return tl::make_unexpected(
          about("all_reduce_spec has no entry, so an assertion of TensorFlow fails at the first "
                "gradient; add an entry"));
    return tl::make_unexpected(
        about("no entry covers \"{}\", which has {} elements, so an assertion of TensorFlow fails; "
              "remove the limit of the last entry",
              workload_.gradients[v].name, workload_.gradients[v].elements));
  }

  // --- entries ---

  std::optional<StrategyProblem> add_entry(std::size_t e) {
    std::vector<int> taken;
    for (int v = 0; v < static_cast<int>(workload_.gradients.size()); ++v) {
      if (plan_.entry_of_gradient[v] == static_cast<int>(e)) taken.push_back(v);
    }
    const SpecEntry& entry = spec_.entries[e];
    if (taken.empty()) {
      plan_.notes.add("spec.entry-without-gradients",
                      "entry {} of all_reduce_spec, {}, matches no gradient", e + 1, entry.name);
      return std::nullopt;
    }
    if (literal()) {
      if (const auto problems = problems_on(strategy_, e, cluster_); !problems.empty())
        return about("entry {}: {}", e + 1, problems.front().text);
    }
    const bool any =
        std::any_of(taken.begin(), taken.end(), [this](int v) { return gradient(v).elements > 0; });
    if (!any) return std::nullopt;
    const Workload own = workload_.with_gradients(taken);
    const Strategy strategy = for_entry(strategy_, e);
    // Exchanges belong to the whole model, so only the plan of the first entry contains them. The
    // collectives of exchanges come first in the table of this plan, so their indices stay valid.
    const bool first = plan_.packs.empty();
    auto part =
        make_plan(own, strategy, cluster_, first ? communicators_ : std::vector<Communicator>());
    if (!part) return std::move(part.error());
    plan_.notes.add(part->notes);
    if (auto problem = tensorflow_problem(entry, *part)) return problem;
    const auto collectives = static_cast<CollectiveId>(plan_.collectives.size());
    for (PlannedCollective& collective : part->collectives) plan_.add(std::move(collective));
    if (first) plan_.exchanges = std::move(part->exchanges);
    note_ignored_shards(entry);
    const auto before = static_cast<int>(plan_.packs.size());
    for (Pack& pack : part->packs) {
      for (Member& member : pack.payload.members) member.variable = taken[member.variable];
      if (pack.also_needs >= 0) pack.also_needs = taken[pack.also_needs];
      if (pack.after >= 0) pack.after += before;
      pack.entry = static_cast<int>(e);
      pack.collective += collectives;
      plan_.packs.push_back(std::move(pack));
    }
    return std::nullopt;
  }

  /// Returns the reason why TensorFlow refuses the entry; Tutti may be able to execute it
  /// nevertheless.
  std::optional<StrategyProblem> tensorflow_problem(const SpecEntry& entry, const Plan& part) {
    const SpecAlgorithm& known = of_tensorflow(entry);
    if (known.in_one_process && cluster_.workers() > 1) {
      if (literal())
        return about(
            "TensorFlow's nccl works inside one process, but there are {} workers; use nccl/xring, "
            "or remove validation: LITERAL",
            cluster_.workers());
      plan_.notes.add("spec.nccl-in-one-process",
                      "TensorFlow's nccl works inside one process and fails with {} workers; the "
                      "plan assumes that NCCL spans all workers",
                      cluster_.workers());
    }
    if (!known.halves_evenly || cluster_.workers() == 1) return std::nullopt;
    const auto uneven = [&](const Pack& pack) {
      return part.collective(pack).elements % cluster_.workers() != 0;
    };
    const auto first = std::find_if(part.packs.begin(), part.packs.end(), uneven);
    if (first == part.packs.end()) return std::nullopt;
    if (literal())
      return about(
          "TensorFlow's nccl/rechd fails for a pack of {} elements, because their number is not a "
          "multiple of {} (the number of workers); use nccl/xring, or remove validation: LITERAL",
          part.collective(*first).elements, cluster_.workers());
    plan_.notes.add("spec.uneven-halves",
                    "TensorFlow's nccl/rechd fails for {} of its {} packs, because their number of "
                    "elements is not a multiple of {} (the number of workers); the plan lets "
                    "halves differ by one element",
                    std::count_if(part.packs.begin(), part.packs.end(), uneven), part.packs.size(),
                    cluster_.workers());
    return std::nullopt;
  }

  void note_ignored_shards(const SpecEntry& entry) {
    if (entry.shards == 1) return;
    using Shards = SpecAlgorithm::Shards;
    switch (of_tensorflow(entry).shards) {
      case Shards::kUsed: break;
      case Shards::kIgnored:
      case Shards::kOneRing:
        plan_.notes.add("spec.shards-ignored", "TensorFlow ignores the {} shards of {}",
                        entry.shards, entry.name);
        break;
      case Shards::kAllHosts:
        plan_.notes.add("spec.shards-ignored",
                        "TensorFlow ignores the setting of {} shards, because {} always sums on "
                        "the CPUs of all {} workers",
                        entry.shards, entry.name, cluster_.workers());
        break;
      case Shards::kUsedByMultiWorkerAllReduce:
        if (is_contrib()) break;
        plan_.notes.add(
            "spec.shards-ignored",
            "tf_cnn_benchmarks ignores the setting of {} shards, because {} always sums on the CPU "
            "of worker 0; set api: MULTI_WORKER_ALL_REDUCE for {} shards",
            entry.shards, entry.name, entry.shards);
        break;
    }
  }

  [[nodiscard]] static const SpecAlgorithm& of_tensorflow(const SpecEntry& entry) {
    const SpecAlgorithm* const known = find_spec_algorithm(*entry.algorithm);
    TUTTI_CHECK(known != nullptr, "\"{}\" in a spec", entry.name);
    return *known;
  }

  /// Makes the serially launched packs of all entries wait for each other, because a device
  /// executes only one NCCL collective at a time. The packs run in descending order of the largest
  /// variable index in each pack.
  void chain_serial_packs() {
    const auto serial = [this](const Pack& pack) {
      return strategy_of(strategy_, pack).launch == Launch::kSerial;
    };
    const auto last_variable = [](const Pack& pack) {
      return std::max_element(
                 pack.payload.members.begin(), pack.payload.members.end(),
                 [](const Member& a, const Member& b) { return a.variable < b.variable; })
          ->variable;
    };
    std::vector<int> chain;
    std::vector<int> entries;
    for (int p = 0; p < static_cast<int>(plan_.packs.size()); ++p) {
      const Pack& pack = plan_.packs[p];
      if (!serial(pack)) continue;
      chain.push_back(p);
      if (entries.empty() || entries.back() != pack.entry) entries.push_back(pack.entry);
    }
    if (entries.size() < 2) return;  // the packs of a single entry are already chained
    std::stable_sort(chain.begin(), chain.end(), [&](int a, int b) {
      return last_variable(plan_.packs[a]) > last_variable(plan_.packs[b]);
    });
    for (std::size_t i = 0; i < chain.size(); ++i)
      plan_.packs[chain[i]].after = i == 0 ? -1 : chain[i - 1];
  }

  // --- differences between TensorFlow's behavior and its users' expectations ---

  void note_limits() {
    const bool limited = std::any_of(spec_.entries.begin(), spec_.entries.end(),
                                     [](const SpecEntry& e) { return e.limit >= 0; });
    if (!limited) return;
    AllReduceSpec other = spec_;
    const bool bytes = spec_.limit_unit == LimitUnit::kBytes;
    other.limit_unit = bytes ? LimitUnit::kElements : LimitUnit::kBytes;
    const std::vector<int> otherwise = core::entries_of(other, sizes());
    std::size_t moved = 0;
    for (std::size_t v = 0; v < otherwise.size(); ++v)
      moved += otherwise[v] != plan_.entry_of_gradient[v] ? 1 : 0;
    if (bytes) {
      plan_.notes.add("spec.limits-in-bytes",
                      "limits of all_reduce_spec are in bytes{}, but TensorFlow's code compares "
                      "numbers of elements: with limits in elements, {} of {} gradients would use "
                      "another entry; set limit_unit: ELEMENTS to simulate TensorFlow's code",
                      is_contrib() ? ", as its documentation says" : "", moved, otherwise.size());
    } else {
      plan_.notes.add(
          "spec.limits-in-elements",
          "limits of all_reduce_spec are in elements, because TensorFlow's code compares numbers "
          "of elements{}: with limits in bytes, {} of {} gradients would use another entry",
          is_contrib() ? ", although its documentation says bytes" : "", moved, otherwise.size());
    }
  }

  std::optional<StrategyProblem> order_of_results() {
    if (!is_contrib())
      return std::nullopt;  // tf_cnn_benchmarks keeps each variable together with its gradient
    const std::vector<int> order = core::result_order(plan_.entry_of_gradient);
    std::vector<int> others;  // variables that would get the gradient of another variable
    for (int v = 0; v < static_cast<int>(order.size()); ++v) {
      if (order[v] != v) others.push_back(v);
    }
    if (others.empty()) return std::nullopt;
    const auto given = [&](int v) -> const Variable& { return gradient(order[v]); };
    if (spec_.result_order == ResultOrder::kRestored) {
      plan_.notes.add(
          "spec.results-restored",
          "TensorFlow returns results in the order of the entries, so {} of {} "
          "variables would get the gradient of another variable: {} would get the gradient of {}. "
          "The plan gives each variable its own gradient (result_order)",
          others.size(), order.size(), gradient(others.front()).name, given(others.front()).name);
      return std::nullopt;
    }
    for (const int v : others) {
      if (gradient(v).shape == given(v).shape && gradient(v).elements == given(v).elements)
        continue;
      return about(
          "result_order: BY_ENTRY gives variable \"{}\" the gradient of \"{}\", which has a "
          "different shape, so TensorFlow's optimizer would fail; remove result_order",
          gradient(v).name, given(v).name);
    }
    plan_.notes.add(
        "spec.results-by-entry",
        "results are in the order of the entries, as in TensorFlow, so {} of {} "
        "variables are updated with the gradient of another variable: {} with the gradient of {}. "
        "The times do not change, because both variables have the same shape",
        others.size(), order.size(), gradient(others.front()).name, given(others.front()).name);
    return std::nullopt;
  }

  const Workload& workload_;
  const Strategy& strategy_;
  const AllReduceSpec& spec_;
  const Cluster& cluster_;
  const std::vector<Communicator>& communicators_;
  Plan plan_;
};

}  // namespace

tl::expected<Plan, StrategyProblem> plan_by_spec(const Workload& workload, const Strategy& strategy,
                                                 const Cluster& cluster,
                                                 const std::vector<Communicator>& communicators) {
  TUTTI_CHECK(strategy.spec.has_value(), "no spec in {}", to_string(strategy.algorithm));
  return SpecPlanner(workload, strategy, cluster, communicators).make();
}

}  // namespace tutti::core
