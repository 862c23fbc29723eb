#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/plot_axis.h"

namespace tutti::core {

/// A curve of a plot: a line through dots.
struct Curve {
  std::string name;
  std::vector<std::optional<double>> y;  ///< the y value for each value of the x axis; nullopt if
                                         ///< it is unknown
  bool dashed = false;      ///< true for a bound, which is drawn as a dashed line without dots
  bool dots_alone = false;  ///< true for measurements, which are drawn as dots without a line
};

/// A diagram that shows a cost for each value of a field.
struct Plot {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<std::string> x;  ///< values of the x axis, as the user wrote them; an empty text
                               ///< means that the field is not set
  bool bytes = false;          ///< true if the values of the x axis are sizes in bytes
  std::vector<Curve> curves;
  struct Mark {
    std::size_t curve = 0, x = 0;
    std::string text;
  };
  std::optional<Mark> best;
};

/// The size and margins of a picture in pixels, and the scales of its axes.
struct PlotLook {
  double width = 860, height = 480;  ///< size of the picture without the legend
  /// The widths of the margins, which contain the titles and labels.
  double left = 74, right = 24, top = 44, bottom = 58;
  bool legend = true;
  Scale x = Scale::kAuto, y = Scale::kAuto;
  double dot = 4;  ///< radius of the dots of measurements
};

/// Draws a plot as SVG. PlotAxis::of_values() places the values of the x axis. REQUIRES: every
/// curve has exactly one y value for each x value.
std::string to_svg(const Plot& plot, const PlotLook& look = {});

/// Formats a size with powers of 1024: "64 KiB", "1.5 MiB", "100 B".
std::string show_binary(double bytes);

}  // namespace tutti::core
