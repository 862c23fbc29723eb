#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/plot.h"
#include "core/explore/space.h"
#include "core/explore/sweep_columns.h"

namespace tutti::core {

/// The selection of what to draw of a sweep.
struct PlotOptions {
  std::string x;   ///< field of the horizontal axis; "": the field with the most numbers
  std::string by;  ///< field with one curve per value; "": a field with up to kMaxCurves values, if
                   ///< there is one
  std::string cost = "step_time";  ///< a name of kCosts
};

/// Adds measurements as dots, from a CSV table with the columns `x` (the plot's field) and `ms`.
/// ERRORS: the columns are missing, or the plot does not have a value of the field.
Expected<void> add_measured(Plot& plot, const std::string& text, const std::string& path);

/// Checks the options. ERRORS (requests): no such field or cost.
Expected<void> check(const Space& space, const PlotOptions& options);

/// Plots a cost over one of the fields, minimised over the fields that are not drawn; with lower
/// bounds and the best point. `outcomes` by point; nullopt if not done yet. ERRORS (requests): as
/// check(); nothing to draw.
Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options);

}  // namespace tutti::core
