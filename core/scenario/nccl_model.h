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

/// Sets the minimum and the maximum number of NCCL's channels to `channels` (strategy.channels),
/// unless the scenario sets NCCL's environment variables for these numbers.
void set_nccl_channels(nccl::Settings& settings, std::optional<int> channels);

/// Changes the scenario as if it had the setting `run { nccl: RINGS }`.
void simulate_as_rings(Scenario& scenario);

/// Selects the lower or the upper end of error bands.
enum class BandEnd { kLow, kHigh };
/// Replaces the predicted times of all NCCL collectives by the lower or upper end of their error
/// bands. Returns false if the plan has no predicted time of an NCCL collective.
bool take_band_end(Scenario& scenario, BandEnd end);

/// Returns the NCCL times with which a collective is simulated: the time of the whole collective,
/// or the times of its parts inside workers, in order.
std::vector<std::shared_ptr<const nccl::CollectiveTime>> nccl_times(const Collective& collective);
/// Describes NCCL's choice for a collective, such as "Ring LL128, 24 channels × 640 threads" or
/// "inside workers all_reduce by … and broadcast by …". Empty if no NCCL time is used for the
/// collective.
std::string describe_nccl(const Collective& collective);

/// Returns a note with the release of NCCL, its choices for the collectives of `times`, and a band
/// that covers the error bands of all these times. Empty if `times` is empty. `where` is " inside
/// workers" if only the parts of collectives inside workers use NCCL.
std::string nccl_note(const std::vector<const nccl::CollectiveTime*>& times,
                      std::string_view where = "");

/// Returns a note with the number of collectives whose predicted time was increased because a link
/// cannot transfer their bytes faster, and with the name of one such link. Empty if no time was
/// increased.
std::string capped_note(const std::vector<const nccl::CollectiveTime*>& times);
/// Returns the link that is too slow for the predicted time of the collective or of one of its
/// parts, so that this time was increased. Empty if no predicted time was increased.
std::string capped_at(const Collective& collective);

/// Returns notes for the user about NCCL in a prediction: nccl_note() for the plan's collectives,
/// or the reason why NCCL's cost model was not used. If packs are fused at run time, notes
/// on choices are left out, because NCCL's choices are then only known at run time; the simulator
/// adds these notes (sim/run/fusing.h).
std::vector<std::string> nccl_notes(const Scenario& scenario);

}  // namespace tutti::core
