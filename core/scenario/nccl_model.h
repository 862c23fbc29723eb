#pragma once

#include <string>
#include <vector>

#include "core/scenario/library.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

struct Scenario;

/// Gives every collective of the plan that NCCL carries out as a whole (algorithm nccl; packs and exchanges) NCCL's choice, and what that takes. Where its
/// model does not know the machine, Scenario::why_rings says why, and they stay the rings that they are.
/// Complains of settings that NCCL would not take, and of a message where nothing is NCCL's. REQUIRES: the scenario has its plan.
void take_nccl_times(const proto::Strategy& strategy, const Library& library, Fields& fields, Scenario& scenario);

/// As if it had said run { nccl: RINGS }.
void simulate_as_rings(Scenario& scenario);

/// The ends of error bands.
enum class BandEnd { kLow, kHigh };
/// Has all of NCCL's collectives take what the faster, or the slower, of eight of ten measurements took of the prediction. False if there are none.
bool take_band_end(Scenario& scenario, BandEnd end);

/// What a reader of a prediction should know of NCCL's part in it: release, choices, error bands; or why there is none.
std::vector<std::string> nccl_notes(const Scenario& scenario);

}  // namespace tutti::core
