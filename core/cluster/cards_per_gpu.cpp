#include "core/cluster/cards_per_gpu.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

struct Ratio {
  std::string_view name;
  int cards;  ///< cards for `gpus` GPUs
  int gpus;
};
/// The ratios, indexed by enumerator. kAsDeclared has no ratio.
constexpr std::array<Ratio, 6> kRatios{
    {{"", 0, 0}, {"1/4", 1, 4}, {"1/2", 1, 2}, {"1", 1, 1}, {"2", 2, 1}, {"4", 4, 1}}};

/// Replaces all network cards of a machine.
class Replacing {
 public:
  explicit Replacing(const Machine& machine) : machine_(machine), index_(machine.parts().size()) {
    for (std::size_t p = 0; p < machine.parts().size(); ++p) {
      if (machine.parts()[p].kind == PartKind::kNic) continue;
      index_[p] = static_cast<int>(parts_.size());
      parts_.push_back(machine.parts()[p]);
    }
    for (const MachineLink& link : machine.links()) {
      if (is_card(link.from) || is_card(link.to)) continue;
      links_.push_back(link);
      links_.back().from = index_[link.from];
      links_.back().to = index_[link.to];
    }
  }

  /// Adds a card that is attached as the card `like` was.
  void add(int like, std::optional<Bandwidth> rate) {
    const int card = static_cast<int>(parts_.size());
    Part part = machine_.parts()[like];
    part.name = fmt::format("nic{}", count_++);
    if (rate) part.nic = *rate;
    parts_.push_back(std::move(part));
    for (const MachineLink& link : machine_.links()) {
      if (link.from != like && link.to != like) continue;
      MachineLink ours = link;
      ours.from = link.from == like ? card : index_[link.from];
      ours.to = link.to == like ? card : index_[link.to];
      links_.push_back(std::move(ours));
    }
  }

  std::shared_ptr<const Machine> take() {
    return std::make_shared<const Machine>(machine_.name(), std::move(parts_), std::move(links_),
                                           machine_.rings_inside(), machine_.rings_across());
  }

 private:
  [[nodiscard]] bool is_card(int part) const {
    return machine_.parts()[part].kind == PartKind::kNic;
  }

  const Machine& machine_;
  std::vector<int> index_;  ///< for each part of `machine_`: its index in parts_
  std::vector<Part> parts_;
  std::vector<MachineLink> links_;
  int count_ = 0;
};

}  // namespace

std::optional<CardsPerGpu> parse_cards_per_gpu(std::string_view name) {
  for (std::size_t r = 1; r < kRatios.size(); ++r) {
    if (kRatios[r].name == name) return static_cast<CardsPerGpu>(r);
  }
  return std::nullopt;
}

std::string cards_per_gpu_names() {
  std::string all;
  for (std::size_t r = 1; r < kRatios.size(); ++r)
    all.append(r == 1 ? "" : ", ").append(kRatios[r].name);
  return all;
}

Expected<std::shared_ptr<const Machine>> with_cards(const Machine& machine, CardsPerGpu cards,
                                                    std::optional<Bandwidth> of_card) {
  TUTTI_CHECK(cards != CardsPerGpu::kAsDeclared, "machine {}: no number of cards was given",
              machine.name());
  const auto wrong = [&](ProblemCode code, const std::string& why) {
    return tl::make_unexpected(Error::request(
        {code, "cards_per_gpu"}, fmt::format("machine \"{}\": {}", machine.name(), why)));
  };
  const Ratio ratio = kRatios[static_cast<std::size_t>(cards)];
  const int gpus = static_cast<int>(machine.gpus().size());
  if (gpus == 0)
    return wrong(ProblemCode::kConflict,
                 "the machine has no GPUs, so cards_per_gpu has no effect; remove cards_per_gpu");
  if (gpus % ratio.gpus != 0)
    return wrong(ProblemCode::kConflict,
                 fmt::format("{} GPUs cannot share cards in groups of {}", gpus, ratio.gpus));
  const int all = gpus / ratio.gpus * ratio.cards;
  const auto has_rate = [&](int card) { return !of_card || machine.parts()[card].nic == *of_card; };
  const std::vector<int>& old = machine.nics();
  if (static_cast<int>(old.size()) == all && std::all_of(old.begin(), old.end(), has_rate))
    return std::make_shared<const Machine>(machine);
  Replacing replacing(machine);
  for (int card = 0; card < all; ++card) {
    const int gpu = machine.gpus()[card / ratio.cards * ratio.gpus];
    const int nearest = machine.nearest_nic(gpu);
    if (nearest < 0)
      return wrong(ProblemCode::kMissing,
                   fmt::format("{} has no route to a network card that cards_per_gpu could copy; "
                               "declare a nic, and a link that connects it to this GPU",
                               machine.parts()[gpu].name));
    replacing.add(old[nearest], of_card);
  }
  return replacing.take();
}

}  // namespace tutti::core
