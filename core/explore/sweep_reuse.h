#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/explore/sweep_store.h"

namespace tutti::core {

/// Copies results from `earlier` to `store`, for the points that both sweeps have. A sweep with
/// more values than an earlier sweep therefore simulates only its new points. Points without a
/// result in `earlier`, and points that already have a result in `store`, are left out. Returns the
/// number of copied points.
/// ERRORS (requests): the sweeps have different scenarios, --set options, versions of Tutti or
/// fields. ERRORS (kRun): a file cannot be read or written.
Expected<std::int64_t> copy_results(SweepStore& store, SweepStore& earlier,
                                    const std::string& earlier_file);

}  // namespace tutti::core
