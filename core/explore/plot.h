#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/plot_axis.h"

namespace tutti::core {

/// A line through dots; bounds are dashed lines without dots.
struct Curve {
  std::string name;
  std::vector<std::optional<double>> y;  ///< one per value of the x axis; nullopt: not known
  bool dashed = false;                   ///< the curve is a bound rather than a result
  bool dots_alone = false;               ///< the curve is a measurement: dots without a line
};

/// A diagram of a cost over the values of an axis.
struct Plot {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<std::string> x;  ///< the values of the x axis, as typed; "": the field is not written
  bool bytes = false;          ///< the values are sizes in bytes
  std::vector<Curve> curves;
  struct Mark {
    std::size_t curve = 0, x = 0;
    std::string text;
  };
  std::optional<Mark> best;
};

/// The size of a picture, in pixels, and its margins.
struct PlotLook {
  double width = 860, height = 480;                     ///< without the legend
  double left = 74, right = 24, top = 44, bottom = 58;  ///< margins, with titles and labels
  bool legend = true;
  Scale x = Scale::kAuto, y = Scale::kAuto;
  double dot = 4;  ///< radius of measured dots
};

/// Draws a plot as SVG. Numbers on the axis are placed by value (logarithmically if they are far
/// apart); values that are not numbers, or 0 on a logarithmic axis, are to the left of them; others
/// are side by side. REQUIRES: every curve has a y for every x.
std::string to_svg(const Plot& plot, const PlotLook& look = {});

/// Formats a size with powers of 1024: "64 KiB", "1.5 MiB", "100 B".
std::string show_binary(double bytes);

}  // namespace tutti::core
