#pragma once

#include <functional>

namespace tutti::core::synthesis {

/// Called repeatedly during a long computation, with the completed share (0 … 1). If the function
/// returns false, the computation stops without a result. If the function is empty, the computation
/// runs to its end.
using GoOn = std::function<bool(double)>;

}  // namespace tutti::core::synthesis
