#pragma once

#include <functional>

namespace tutti::core::synthesis {

/// Called now and then during long work, with the share that is done (0 … 1). The work stops
/// without a result if it returns false. Empty: the work goes on until it is done.
using GoOn = std::function<bool(double)>;

}  // namespace tutti::core::synthesis
