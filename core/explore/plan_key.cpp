#include "core/explore/plan_key.h"

#include <algorithm>
#include <set>

#include "core/base/random.h"
#include "core/edit/old_form_text.h"
#include "core/framework/registry.h"

namespace tutti::core {
namespace {

/// A 128-bit hash of a sequence of numbers. The hash consists of two 64-bit hashes with different
/// initial values, both of which mix the numbers with SplitMix64's finalizer.
class Hash {
 public:
  void add(std::int64_t number) {
    for (std::uint64_t& half : key_)
      half = Random(half ^ static_cast<std::uint64_t>(number)).next();
  }
  [[nodiscard]] PlanKey key() const { return key_; }

 private:
  PlanKey key_{0x243f6a8885a308d3u, 0x13198a2e03707344u};
};

}  // namespace

bool decides_packing_only(const FieldPath& field) {
  static const std::set<std::string> own{"strategy.bytes_per_pack",
                                         "strategy.num_packs",
                                         "strategy.agg_small_grads_max_bytes",
                                         "strategy.agg_small_grads_max_group",
                                         "strategy.agg_small_grads_exact_group",
                                         "strategy.all_reduce_merge_scope"};
  std::string name;
  for (const PathStep& step : present_path(field)) name += (name.empty() ? "" : ".") + step.field;
  const auto has = [&](const FrameworkKind& kind) {
    return std::find(kind.packing_fields.begin(), kind.packing_fields.end(), name) !=
           kind.packing_fields.end();
  };
  return own.contains(name) || std::any_of(framework_kinds().begin(), framework_kinds().end(), has);
}

PlanKey plan_key(const Plan& plan) {
  Hash hash;
  hash.add(std::ssize(plan.packs));
  for (const Pack& pack : plan.packs) {
    hash.add(std::ssize(pack.payload.members));
    for (const Member& member : pack.payload.members) {
      for (const std::int64_t number :
           {std::int64_t{member.variable}, member.first, member.count, member.offset})
        hash.add(number);
    }
    const Collective& collective = plan.collective(pack);
    for (const std::int64_t number :
         {collective.elements,
          std::int64_t{size_of(collective.type).count()},
          static_cast<std::int64_t>(collective.type),
          pack.copied_in.count(),
          pack.copied_out.count(),
          pack.divided_before.count(),
          pack.divided_after.count(),
          pack.converted_in.count(),
          pack.converted_out.count(),
          pack.payload.instance_key,
          std::int64_t{pack.after},
          std::int64_t{pack.answers},
          std::int64_t{collective.root},
          std::int64_t{pack.needs_all_gradients},
          std::int64_t{pack.entry},
          std::int64_t{pack.turn},
          std::int64_t{pack.also_needs},
          static_cast<std::int64_t>(pack.phase),
          static_cast<std::int64_t>(pack.payload.content),
          std::int64_t{pack.payload.on_read},
          std::int64_t{pack.payload.reduction ? static_cast<int>(*pack.payload.reduction) : -1}})
      hash.add(number);
  }
  hash.add(std::int64_t{plan.computation_waits});
  hash.add(static_cast<std::int64_t>(plan.update));
  hash.add(
      plan.packs.empty() ? 0 : plan.planned(plan.packs.front().collective).launch_overhead.count());
  for (const int entry : plan.entry_of_gradient) hash.add(entry);
  hash.add(plan.checkpoint_every);
  if (plan.graph) {
    // Only the name of the graph's file is hashed and not its content, because files do not change
    // during a sweep.
    for (const char c : plan.graph->file) hash.add(c);
    hash.add(plan.graph->tasks());
    hash.add(plan.graph_pace_ppm);
  }
  if (plan.gate) {
    for (const char c : plan.gate->name()) hash.add(c);
    for (const std::int64_t number : plan.gate->settings()) hash.add(number);
  }
  return hash.key();
}

}  // namespace tutti::core
