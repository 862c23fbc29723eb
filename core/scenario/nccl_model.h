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

/// Sets the minimum and the maximum number of channels to strategy.channels, unless environment
/// variables set them.
void set_nccl_channels(nccl::Settings& settings, std::optional<int> channels);

/// Changes the scenario as if it had the setting run { nccl: RINGS }.
void simulate_as_rings(Scenario& scenario);

/// The lower or the upper end of error bands.
enum class BandEnd { kLow, kHigh };
/// Sets the times of all NCCL collectives to the lower, or the upper, end of their error bands.
/// Returns false if there are none.
bool take_band_end(Scenario& scenario, BandEnd end);

/// Returns the predicted NCCL times with which the collective is simulated: the time of the whole
/// collective, or the times of its parts, in order.
std::vector<std::shared_ptr<const nccl::CollectiveTime>> nccl_times(const Collective& collective);
/// Describes NCCL's choice for a collective: "Ring LL128, 24 channels × 640 threads", or "inside
/// workers all_reduce by … and broadcast by …". Empty if the collective is not simulated with
/// NCCL's times.
std::string describe_nccl(const Collective& collective);

/// Describes NCCL's part in a prediction: the release, NCCL's choices for these collectives, and
/// the widest error band. Empty if there are no collectives. `where` is " inside workers" if NCCL
/// is used only there.
std::string nccl_note(const std::vector<const nccl::CollectiveTime*>& times,
                      std::string_view where = "");

/// Lists the collectives whose predicted time was raised because a link cannot carry their bytes in
/// less time. Empty if there are none.
std::string capped_note(const std::vector<const nccl::CollectiveTime*>& times);
/// Returns the link because of which the predicted time of the collective, or of one of its parts,
/// was raised. Empty if no time was raised.
std::string capped_at(const Collective& collective);

/// Returns notes for the user about NCCL's part in a prediction: nccl_note() of the plan's
/// collectives, or the reason why NCCL's cost model was not used. Packs that are fused at run time
/// are described by their gate instead.
std::vector<std::string> nccl_notes(const Scenario& scenario);

}  // namespace tutti::core
