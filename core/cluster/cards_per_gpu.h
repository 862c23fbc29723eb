#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/cluster/machine.h"

namespace tutti::core {

/// The number of network cards for each GPU. The values equal those of the enum `CardsPerGpu` in
/// core/proto/machine.proto.
enum class CardsPerGpu {
  kAsDeclared,  ///< the cards that the machine file declares
  kOneForFour,
  kOneForTwo,
  kOne,
  kTwo,
  kFour
};

/// Parses the value of a command-line option: "1/4", "1/2", "1", "2" or "4".
std::optional<CardsPerGpu> parse_cards_per_gpu(std::string_view name);
/// Returns the accepted values of parse_cards_per_gpu(), separated by commas.
std::string cards_per_gpu_names();

/// Returns the machine with this number of network cards for each GPU. If the number of cards or
/// their rate changes, all cards are replaced: each new card is attached where the nearest card of
/// its GPU was attached, over links with the same parameters, and has that card's transport and
/// number of devices. A card for several GPUs is attached near the first of them. `of_card` is the
/// rate of a new card; nullopt: the rate of the replaced card.
/// ERRORS: the machine has no GPU, or a GPU has no network card whose attachment could be used; the
/// number of GPUs is not divisible by the number of GPUs that share a card.
Expected<std::shared_ptr<const Machine>> with_cards(const Machine& machine, CardsPerGpu cards,
                                                    std::optional<Bandwidth> of_card);

}  // namespace tutti::core
