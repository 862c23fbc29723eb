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

/// Sets NCCL's minimum and maximum number of channels to strategy.channels, unless environment
/// variables set these numbers.
void set_nccl_channels(nccl::Settings& settings, std::optional<int> channels);

/// Changes the scenario as if it had the setting run { nccl: RINGS }.
void simulate_as_rings(Scenario& scenario);

/// The lower or the upper end of error bands.
enum class BandEnd { kLow, kHigh };
/// Sets the times of all NCCL collectives to the lower or upper end of their error bands. Returns
/// false if the plan has no NCCL collectives with predicted times.
bool take_band_end(Scenario& scenario, BandEnd end);

/// Returns the predicted NCCL times that a simulation of the collective uses: the time of the whole
/// collective, or the times of its parts, in order.
std::vector<std::shared_ptr<const nccl::CollectiveTime>> nccl_times(const Collective& collective);
/// Describes NCCL's choice for a collective: "Ring LL128, 24 channels × 640 threads", or "inside
/// workers all_reduce by … and broadcast by …". Empty if the collective is not simulated with
/// NCCL's times.
std::string describe_nccl(const Collective& collective);

/// Describes NCCL's part in a prediction: the release, NCCL's choices for the collectives of
/// `times`, and the widest error band. Empty if `times` is empty. `where` is " inside workers" if
/// NCCL is used only inside workers.
std::string nccl_note(const std::vector<const nccl::CollectiveTime*>& times,
                      std::string_view where = "");

/// Lists the collectives whose predicted time was increased, because a link cannot carry the bytes
/// of the collective in less time. Empty if no time was increased.
std::string capped_note(const std::vector<const nccl::CollectiveTime*>& times);
/// Returns the link that caused an increase of the predicted time of the collective or of one of
/// its parts. Empty if no time was increased.
std::string capped_at(const Collective& collective);

/// Returns notes for the user about NCCL's part in a prediction: nccl_note() of the plan's
/// collectives, or the reason why NCCL's cost model was not used. If packs are fused at run time,
/// the gate of the plan describes NCCL's choices instead of nccl_note().
std::vector<std::string> nccl_notes(const Scenario& scenario);

}  // namespace tutti::core
