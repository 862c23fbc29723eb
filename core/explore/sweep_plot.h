#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/plot.h"
#include "core/explore/space.h"
#include "core/explore/sweep_columns.h"

namespace tutti::core {

/// What of a sweep is drawn.
struct PlotOptions {
  std::string x;  ///< the field to draw over; "": the one with the most numbers
  std::string
      by;  ///< a curve for each value of this field; "": one with up to kMostCurves values, if there is one left
  std::string cost = "step_time";  ///< a name of kCosts
};

/// Adds what was measured as dots: a CSV table with the columns `x` (the plot's field) and `ms`. ERRORS: it has no such columns, or
/// a value of the field that the plot does not have.
Expected<void> add_measured(Plot& plot, const std::string& text, const std::string& path);

/// ERRORS (requests): no such field or cost.
Expected<void> check(const Space& space, const PlotOptions& options);

/// A cost over one of the fields, the best there is over the fields that are not drawn; with what is the least possible, and the
/// best point. `outcomes` by point; nothing where it is not done yet.
/// ERRORS (requests): as check(); nothing to draw.
Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options);

}  // namespace tutti::core
