#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/text/report.h"

// The parts of an HTML page that needs no other file: no scripts, no fonts, no pictures from
// elsewhere. All functions escape their arguments, except the content of a section and the body of
// the page, which are HTML already.

namespace tutti::tools {

/// A number that is shown in large type, with its name above and an explanation below.
struct HeadlineFigure {
  std::string name, value, remark;
};
std::string headline_html(const std::vector<HeadlineFigure>& figures);

/// Returns the titled fields of reports as a table (see table_text()), with at most `most` rows and
/// a sentence about the rows that were left out. Returns an empty text if there are no rows.
std::string table_html(const std::vector<core::Report>& rows, int most);

/// Returns names and values as a table with two columns. Pairs with an empty value are left out.
std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts);

std::string list_html(const std::vector<std::string>& sentences);

/// A time, divided into named parts.
struct StackedTime {
  std::string name;
  std::vector<std::pair<std::string, core::Time>> parts;
};
/// Draws each time as a bar of its parts, all on the same scale, with the names of the parts below.
std::string stacked_times_svg(const std::vector<StackedTime>& bars);

/// Returns a section with a heading; an empty text if there is no content.
std::string section_html(const std::string& title, const std::string& content);

/// Returns the page.
std::string page_html(const std::string& title, const std::string& body);

}  // namespace tutti::tools
