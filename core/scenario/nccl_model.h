#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scenario/library.h"
#include "core/text/fields.h"

namespace tutti::core {

struct Collective;
struct Scenario;
namespace nccl {
struct CollectiveTime;
struct Settings;
}  // namespace nccl

/// Applies strategy.channels as the minimum and maximum number of channels, unless variables set
/// them.
void set_nccl_channels(nccl::Settings& settings, std::optional<int> channels);

/// Changes the scenario as if it had run { nccl: RINGS }.
void simulate_as_rings(Scenario& scenario);

/// Selects an end of error bands.
enum class BandEnd { kLow, kHigh };
/// Sets the times of all NCCL collectives to the lower, or the upper, end of their error bands.
/// Returns false if there are none.
bool take_band_end(Scenario& scenario, BandEnd end);

/// Returns the NCCL times with which the collective is simulated: its own, or those of its parts,
/// in order.
std::vector<std::shared_ptr<const nccl::CollectiveTime>> nccl_times(const Collective& collective);
/// Describes NCCL's choice for a collective: "Ring LL128, 24 channels × 640 threads", or "inside
/// workers all_reduce by … and broadcast by …". Empty if the collective is not simulated with
/// NCCL's times.
std::string describe_nccl(const Collective& collective);

/// Describes NCCL's choices for these collectives: release, choices, the widest error band. Empty
/// if there are none. `where` is " inside workers" if NCCL is used only there.
std::string nccl_note(const std::vector<const nccl::CollectiveTime*>& times,
                      std::string_view where = "");

/// Lists the collectives whose predicted time was raised, because a link could not carry their
/// bytes in less. Empty if there are none.
std::string capped_note(const std::vector<const nccl::CollectiveTime*>& times);
/// Returns the link that limited the time of the collective or of a part; empty, as it should be,
/// if there is none.
std::string capped_at(const Collective& collective);

/// Notes for the user on NCCL's part in a prediction: nccl_note() of the plan's collectives, or the
/// reason why there is none. Packs that are fused at run time are described by their gate instead.
std::vector<std::string> nccl_notes(const Scenario& scenario);

}  // namespace tutti::core
