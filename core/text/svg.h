#pragma once

#include <string>
#include <string_view>

namespace tutti::core {

/// Colours that colour-blind people can distinguish.
/// SOURCE: Okabe & Ito, "Color Universal Design", 2008.
namespace palette {
inline constexpr const char* kBlack = "#000000";
inline constexpr const char* kOrange = "#e69f00";
inline constexpr const char* kSkyBlue = "#56b4e9";
inline constexpr const char* kGreen = "#009e73";
inline constexpr const char* kBlue = "#0072b2";
inline constexpr const char* kVermilion = "#d55e00";
inline constexpr const char* kPurple = "#cc79a7";
inline constexpr const char* kGrey = "#999999";
}  // namespace palette

/// Builds an SVG picture on a white background. A later element covers earlier elements.
/// Coordinates are in pixels, measured from the upper left corner. The parameter `more` contains
/// further XML attributes, as a text that begins with a space.
class SvgPicture {
 public:
  /// Adds the text `content`, whose baseline begins at (x, y). Characters with a meaning in XML are
  /// escaped.
  void text(double x, double y, std::string_view content, std::string_view more = "");
  void line(double x1, double y1, double x2, double y2, std::string_view stroke,
            std::string_view more = "");
  void circle(double x, double y, double radius, std::string_view fill, std::string_view more = "");
  /// Adds a line through points. `points` contains "x,y " for each point.
  void polyline(std::string_view points, std::string_view stroke, std::string_view more = "");
  /// Adds an SVG element unchanged.
  void add(std::string_view element) { body_ += element; }
  /// Returns the picture as an SVG file.
  [[nodiscard]] std::string document(double width, double height) const;

 private:
  std::string body_;
};

}  // namespace tutti::core
