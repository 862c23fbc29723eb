#include "tools/tutti/write_report_html.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/text/shown.h"
#include "core/text/svg.h"

namespace tutti::tools {
namespace {

using core::as_xml;
using core::Time;

// The policy makes browsers refuse to load anything, whatever the names in a timeline contain.
constexpr std::string_view kReportHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body{font:15px/1.45 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:2em auto;padding:0 1.5em;max-width:80em}
h1{font-size:1.6em;margin:0 0 .2em}h2{font-size:1.2em;margin:2em 0 .5em;border-bottom:1px solid #ccc}
p,li{max-width:60em}.figures{display:flex;flex-wrap:wrap;gap:1em;margin:1em 0}
.figure{border:1px solid #ccc;border-radius:6px;padding:.6em 1em;min-width:9em}
.figure b{display:block;font-size:1.6em;font-weight:600}.figure span,.more{color:#555;font-size:.9em}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92em}
td,th{padding:3px 10px;text-align:right;border-bottom:1px solid #e4e4e4;vertical-align:top;white-space:nowrap;font-variant-numeric:tabular-nums}
th{color:#555;font-weight:600;white-space:nowrap}td.l,th.l{text-align:left;white-space:normal;overflow-wrap:anywhere}
figure{margin:1em 0;overflow-x:auto}svg{max-width:100%;height:auto}
pre{background:#f5f5f5;padding:1em;overflow-x:auto;font-size:.85em}
@media print{body{margin:0;max-width:none}h2{break-after:avoid}tr{break-inside:avoid}}
</style></head><body>
)";

/// The heading of a column, without the signs that table_text() interprets.
struct Heading {
  std::string text;
  bool left = false;
  bool optional = false;  ///< true: the column is left out if it is empty in all rows
};

Heading heading_of(std::string_view title) {
  Heading heading;
  if (title.starts_with('?')) {
    heading.optional = true;
    title.remove_prefix(1);
  }
  if (title.starts_with('<')) {
    heading.left = true;
    title.remove_prefix(1);
  } else if (title.starts_with('>')) {
    title.remove_prefix(1);
  }
  if (title.starts_with('!')) title.remove_prefix(1);
  heading.text = title;
  return heading;
}

std::string cell(std::string_view tag, bool left, const std::string& text) {
  return fmt::format("<{0}{1}>{2}</{0}>", tag, left ? " class=\"l\"" : "", as_xml(text));
}

}  // namespace

std::string headline_html(const std::vector<HeadlineFigure>& figures) {
  std::string html = "<div class=\"figures\">\n";
  for (const HeadlineFigure& figure : figures)
    html += fmt::format("<div class=\"figure\">{}<b>{}</b><span>{}</span></div>\n",
                        as_xml(figure.name), as_xml(figure.value), as_xml(figure.remark));
  return html + "</div>\n";
}

std::string table_html(const std::vector<core::Report>& rows, int most) {
  if (rows.empty() || most <= 0) return "";
  std::vector<Heading> headings;
  std::vector<std::vector<std::string>> cells;
  for (const core::ReportField& field : rows.front().fields()) {
    if (!field.title.empty()) headings.push_back(heading_of(field.title));
  }
  for (const core::Report& row : rows) {
    if (std::ssize(cells) == most) break;
    std::vector<std::string>& shown_row = cells.emplace_back();
    for (const core::ReportField& field : row.fields()) {
      if (!field.title.empty()) shown_row.push_back(shown(field));
    }
  }
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < headings.size(); ++c) {
    const bool empty =
        std::all_of(cells.begin(), cells.end(), [&](const auto& row) { return row[c].empty(); });
    if (!headings[c].optional || !empty) columns.push_back(c);
  }
  std::string html = "<div class=\"wide\"><table><thead><tr>";
  for (const std::size_t c : columns) html += cell("th", headings[c].left, headings[c].text);
  html += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : cells) {
    html += "<tr>";
    for (const std::size_t c : columns) html += cell("td", headings[c].left, row[c]);
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (rows.size() > cells.size())
    html += fmt::format("<p class=\"more\">{} more rows are left out (--rows).</p>\n",
                        core::show_count(std::ssize(rows) - std::ssize(cells)));
  return html;
}

std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html;
  for (const auto& [name, value] : facts) {
    if (!value.empty())
      html += "<tr>" + cell("th", true, name) + cell("td", true, value) + "</tr>\n";
  }
  return html.empty() ? "" : "<table><tbody>\n" + html + "</tbody></table>\n";
}

std::string list_html(const std::vector<std::string>& sentences) {
  std::string html;
  for (const std::string& sentence : sentences) html += "<li>" + as_xml(sentence) + "</li>\n";
  return html.empty() ? "" : "<ul>\n" + html + "</ul>\n";
}

std::string stacked_times_svg(const std::vector<StackedTime>& bars) {
  constexpr std::array kColours{core::palette::kSkyBlue, core::palette::kBlue,
                                core::palette::kGreen,   core::palette::kVermilion,
                                core::palette::kGrey,    core::palette::kOrange};
  constexpr double kWidth = 1100, kTotal = 90, kBar = 26, kRow = 38;
  double name_width = 90;
  for (const StackedTime& bar : bars)
    name_width = std::max(name_width, 16 + 7.0 * static_cast<double>(bar.name.size()));
  name_width = std::min(name_width, kWidth / 3);
  Time longest(1);
  for (const StackedTime& bar : bars) {
    Time sum;
    for (const auto& [name, time] : bar.parts) sum += time;
    longest = std::max(longest, sum);
  }
  const auto width_of = [&](Time time) {
    return static_cast<double>(time.count()) / static_cast<double>(longest.count()) *
           (kWidth - name_width - kTotal);
  };
  core::SvgPicture picture;
  double y = 4;
  std::vector<std::string> names;  // in the order of their colours
  for (const StackedTime& bar : bars) {
    picture.text(4, y + 18, bar.name);
    double x = name_width;
    Time sum;
    for (const auto& [name, time] : bar.parts) {
      auto known = std::find(names.begin(), names.end(), name);
      if (known == names.end()) known = names.insert(names.end(), name);
      const auto colour = static_cast<std::size_t>(known - names.begin()) % kColours.size();
      const double width = width_of(time);
      sum += time;
      picture.add(
          fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" "
                      "fill=\"{}\"><title>{}</title></rect>\n",
                      x, y, width, kBar, kColours[colour], as_xml(name + ": " + core::show(time))));
      const std::string text = core::show(time);
      if (width > 8.0 * static_cast<double>(text.size()))
        picture.text(x + 4, y + 18, text, colour == 1 ? " fill=\"white\"" : " fill=\"black\"");
      x += width;
    }
    picture.text(x + 6, y + 18, core::show(sum), " font-weight=\"bold\"");
    y += kRow;
  }
  double x = name_width;
  for (std::size_t i = 0; i < names.size(); ++i) {
    picture.add(
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                    y, kColours[i % kColours.size()]));
    picture.text(x + 17, y + 11, names[i]);
    x += 40 + 7.2 * static_cast<double>(names[i].size());
  }
  return picture.document(kWidth, y + 20);
}

std::string section_html(const std::string& title, const std::string& content) {
  return content.empty() ? "" : "<h2>" + as_xml(title) + "</h2>\n" + content;
}

std::string page_html(const std::string& title, const std::string& body) {
  std::string page(kReportHead);
  constexpr std::string_view kTitle = "{title}";
  page.replace(page.find(kTitle), kTitle.size(), as_xml(title));
  return page + "<h1>" + as_xml(title) + "</h1>\n" + body + "</body></html>\n";
}

}  // namespace tutti::tools
