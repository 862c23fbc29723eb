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

/// Returns a copy of the machine with the given number of network cards for each GPU. If the number
/// or the rate of the machine's cards differs from the requested one, all cards are replaced by new
/// ones. Each new card is a copy of the old card that is nearest to the GPU of the new card, with
/// the same links, transport and number of NIC devices (Part::nic_devices). If several GPUs share a
/// new card, the first of these GPUs determines which old card is copied. `of_card` is the rate of
/// a new card; nullopt: the rate of the old card that was copied.
/// REQUIRES: `cards` is not kAsDeclared.
/// ERRORS: the machine has no GPU; a GPU has no route to a network card, so there is no card to
/// copy; the number of GPUs is not divisible by the number of GPUs that share a card.
Expected<std::shared_ptr<const Machine>> with_cards(const Machine& machine, CardsPerGpu cards,
                                                    std::optional<Bandwidth> of_card);

}  // namespace tutti::core
