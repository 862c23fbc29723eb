#include "core/text/svg.h"

#include <fmt/format.h>

#include "core/text/shown.h"

namespace tutti::core {

void SvgPicture::text(double x, double y, std::string_view content, std::string_view more) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, as_xml(content));
}

void SvgPicture::line(double x1, double y1, double x2, double y2, std::string_view stroke,
                      std::string_view more) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1, y1,
      x2, y2, stroke, more);
}

void SvgPicture::circle(double x, double y, double radius, std::string_view fill,
                        std::string_view more) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"{}/>\n", x, y,
                       radius, fill, more);
}

void SvgPicture::polyline(std::string_view points, std::string_view stroke, std::string_view more) {
  body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", points, stroke,
                       more);
}

std::string SvgPicture::document(double width, double height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, body_);
}

}  // namespace tutti::core
