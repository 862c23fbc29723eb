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

/// Applies strategy.channels: the least and the most channels, unless variables say them.
void set_nccl_channels(nccl::Settings& settings, std::optional<int> channels);

/// As if it had said run { nccl: RINGS }.
void simulate_as_rings(Scenario& scenario);

/// The ends of error bands.
enum class BandEnd { kLow, kHigh };
/// Has all of NCCL's collectives take what the faster, or the slower, of eight of ten measurements
/// took of the prediction. False if there are none.
bool take_band_end(Scenario& scenario, BandEnd end);

/// Those of NCCL's times that the collective is simulated by: its own, or of its parts, in their
/// order.
std::vector<std::shared_ptr<const nccl::CollectiveTime>> nccl_times(const Collective& collective);
/// Describes NCCL's choice for a collective: "Ring LL128, 24 channels × 640 threads", or "inside
/// workers all_reduce by … and broadcast by …". Empty if the collective is not simulated with
/// NCCL's times.
std::string describe_nccl(const Collective& collective);

/// What NCCL takes for these collectives: release, choices, the widest error band. Empty if there
/// are none. `where`: " inside workers", if that is all.
std::string nccl_note(const std::vector<const nccl::CollectiveTime*>& times,
                      std::string_view where = "");

/// Which of them take longer than the time model says, because a link could not carry their bytes
/// in less. Empty if none does.
std::string capped_note(const std::vector<const nccl::CollectiveTime*>& times);
/// The link by which the collective's time, or a part's, is capped; empty, as it should be, if none
/// is.
std::string capped_at(const Collective& collective);

/// What a reader of a prediction should know of NCCL's part in it: nccl_note() of the plan's
/// collectives, or why there is none. Of packs that are fused while they run, whoever fuses them
/// tells.
std::vector<std::string> nccl_notes(const Scenario& scenario);

}  // namespace tutti::core
