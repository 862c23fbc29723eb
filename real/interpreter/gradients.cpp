#include "real/interpreter/gradients.h"

#include <fmt/format.h>

namespace tutti::real {

using core::Rank;

namespace {

std::uint64_t key_of(std::int32_t step, std::size_t pack) {
  return static_cast<std::uint64_t>(step) << 32 ^
         static_cast<std::uint64_t>(pack) * 0x9e3779b97f4a7c15u;
}

}  // namespace

Operation operation_of(core::Reduction reduction) {
  switch (reduction) {
    case core::Reduction::kMin: return Operation::kMin;
    case core::Reduction::kMax: return Operation::kMax;
    case core::Reduction::kProduct: return Operation::kProduct;
    default: return Operation::kSum;
  }
}

bool host_holds_data(const core::Collective& collective, core::Rank host) {
  return collective.root >= collective.contributors && host < collective.schedule->ranks() &&
         collective.kind != core::CollectiveKind::kAllReduce &&
         collective.schedule->lanes(host) > 0;
}

Reduced reduced_of(core::Reduction reduction, const core::Collective& collective,
                   std::uint64_t key) {
  const auto n = static_cast<std::int32_t>(collective.contributors);
  return {
      collective.type, operation_of(reduction), key, n,
      reduction == core::Reduction::kMean && n > 1 && core::reduces(collective.kind) ? 1.0 / n : 1};
}

core::Bytes Gradients::bytes_of(const core::Scenario& scenario) {
  core::Bytes bytes;
  for (const core::Pack& pack : scenario.plan.packs)
    bytes += scenario.plan.collective(pack).buffer_bytes();
  return bytes;
}

Reduced Gradients::reduced(std::int32_t step, std::size_t pack) const {
  const core::Pack& of = scenario_.plan.packs[pack];
  return reduced_of(core::reduction_of(scenario_.strategy, of), scenario_.plan.collective(of),
                    key_of(step, pack));
}

std::vector<Rank> Gradients::holders(std::size_t pack) const {
  std::vector<Rank> ranks = replicas_;
  if (host_holds_data(scenario_.plan.collective(scenario_.plan.packs[pack]), host_))
    ranks.push_back(host_);
  return ranks;
}

void Gradients::fill(std::int32_t first, std::int32_t count) {
  first_ = first;
  const std::size_t packs = scenario_.plan.packs.size();
  sets_.resize(std::max(sets_.size(), static_cast<std::size_t>(count)));
  for (std::int32_t step = first; step < first + count; ++step) {
    auto& set = sets_[step - first];
    set.resize(packs);
    for (std::size_t p = 0; p < packs; ++p) {
      if (!core::takes_part(scenario_.plan, scenario_.plan.packs[p], step)) continue;
      const core::Collective& collective = scenario_.plan.collective(scenario_.plan.packs[p]);
      const std::vector<Rank> ranks = holders(p);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (gives_back(p, r)) continue;
        if (set[p].size() == r)
          set[p].push_back(devices_.take(ranks[r], collective.buffer_bytes().count(), false));
        fill(reduced(step, p), collective.contract(), ranks[r], set[p][r].get());
      }
    }
  }
}

void Gradients::fill(const Reduced& reduced, const core::Contract& contract, Rank rank,
                     std::byte* buffer) {
  if (devices_.host_reaches(rank)) return fill_inputs(reduced, contract, rank, buffer);
  const core::Range input = contract.input(rank);
  const std::int64_t item = core::size_of(reduced.type).count();
  std::vector<std::byte> inputs(input.count * item);
  fill_inputs(reduced, rank, inputs.data(), input.count, input.offset);
  devices_.copy_now(buffer + (input.offset + contract.input_shift) * item, inputs.data(),
                    input.count * item);
}

std::optional<WrongElement> Gradients::find_wrong(std::int32_t step, std::size_t pack) const {
  const core::Collective& collective = scenario_.plan.collective(scenario_.plan.packs[pack]);
  std::vector<const std::byte*> results;
  std::vector<std::vector<std::byte>> fetched;
  const std::vector<Rank> ranks = holders(pack);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    results.push_back(data(step, pack, r));
    if (devices_.host_reaches(ranks[r])) continue;
    fetched.emplace_back(static_cast<std::size_t>(collective.buffer_bytes().count()));
    devices_.copy_now(fetched.back().data(), results.back(), collective.buffer_bytes().count());
    results.back() = fetched.back().data();
  }
  const int answered = scenario_.plan.packs[pack].answers;
  if (answered < 0)
    return find_wrong_element(reduced(step, pack), collective.contract(), ranks, results);
  // The pull delivers the result of the push: the sum over all replicas.
  results.resize(replicas_.size());
  return find_wrong_element(reduced(step, static_cast<std::size_t>(answered)), collective.elements,
                            replicas_, results);
}

core::Expected<void> Gradients::verify(std::int32_t step) const {
  for (std::size_t p = 0; p < scenario_.plan.packs.size(); ++p) {
    if (!core::takes_part(scenario_.plan, scenario_.plan.packs[p], step)) continue;
    const auto wrong = find_wrong(step, p);
    if (!wrong) continue;
    const core::PartId device =
        scenario_.plan.collective(scenario_.plan.packs[p]).group.device(wrong->rank);
    return tl::make_unexpected(core::Error::run(
        {core::ProblemCode::kWrongResult},
        fmt::format("step {}: element {} of pack {} is wrong on rank {} ({}): it is {:.17g}, but "
                    "must be {:.17g} ± {:.2g}",
                    step, wrong->element, p, wrong->rank, scenario_.cluster->part_name(device),
                    wrong->got, wrong->expected, wrong->tolerance)));
  }
  return {};
}

}  // namespace tutti::real
