#pragma once

#include <functional>

namespace tutti::core::synthesis {

/// A callback that a long computation calls repeatedly with the fraction of the work that is done
/// (0 … 1). If the callback returns false, the computation stops and has no result. If there is no
/// callback, the computation always runs to its end.
using GoOn = std::function<bool(double)>;

}  // namespace tutti::core::synthesis
