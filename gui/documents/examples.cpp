#include "gui/documents/examples.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/base/file.h"
#include "core/base/number.h"
#include "core/text/csv.h"
#include "core/text/document.h"

namespace tutti::gui {

namespace fs = std::filesystem;

std::string leading_comment(const std::string& text) {
  std::istringstream lines(text);
  std::string remark;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    const auto first = line.find_first_not_of("# \t");
    if (first == std::string::npos) break;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    remark += (remark.empty() ? "" : " ") + line;
  }
  return remark;
}

namespace {

std::string name_in(const std::string& text) {
  core::Problems problems;
  for (const core::Value::Field& field : core::parse_document(text, "", problems).root.fields) {
    if (field.name == "name") return field.value.text;
  }
  return "";
}

struct Title {
  std::string question, title;
};

/// Reads the titles and questions of a folder's examples; the result is indexed by the number of
/// the example. Skips lines that have no valid number, because some examples have names without a
/// number.
std::map<int, Title> titles_in(const std::string& folder) {
  std::map<int, Title> titles;
  const std::string path = folder + "/examples.csv";
  const auto text = core::read_text_file(path);
  if (!text) return titles;
  core::Problems problems;
  const core::CsvTable table = core::parse_csv(*text, path, problems);
  const int number = table.column("number"), question = table.column("question"),
            title = table.column("title");
  if (number < 0 || question < 0 || title < 0) return titles;
  for (const core::CsvTable::Row& row : table.rows) {
    const auto cell = [&](int column) { return row.cells[static_cast<std::size_t>(column)].text; };
    if (const auto n = core::whole_number<int>(cell(number)))
      titles[*n] = {cell(question), cell(title)};
  }
  return titles;
}

/// Returns the number at the start of an example's file name, and the index of the first character
/// after it; nullopt if there is no number.
std::optional<std::pair<int, std::size_t>> example_number(const fs::path& file) {
  const std::string stem = file.stem().string();
  int number = 0;
  const auto [end, wrong] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  if (file.extension() != ".textproto" || wrong != std::errc() || number < 1) return std::nullopt;
  return std::pair(number, static_cast<std::size_t>(end - stem.data()));
}

}  // namespace

bool is_example(const std::string& path, const std::string& folder) {
  std::error_code status;
  const fs::path file = fs::weakly_canonical(path, status);
  return !status && example_number(file) && fs::exists(file, status) &&
         fs::equivalent(file.parent_path(), folder, status) && !status;
}

std::vector<Example> examples_in(const std::string& folder) {
  std::vector<Example> found;
  const std::map<int, Title> titles = titles_in(folder);
  std::error_code status;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, status)) {
    const auto number = example_number(entry.path());
    if (!number) continue;
    const auto text = core::read_text_file(entry.path().string());
    if (!text) continue;
    Example example;
    example.number = number->first;
    example.path = entry.path().string();
    if (const auto known = titles.find(example.number); known != titles.end()) {
      example.question = known->second.question;
      example.title = known->second.title;
    }
    if (example.title.empty()) example.title = name_in(*text);
    if (example.title.empty()) {
      example.title = entry.path().stem().string().substr(number->second);
      std::replace(example.title.begin(), example.title.end(), '_', ' ');
      example.title.erase(0, example.title.find_first_not_of(' '));
    }
    example.about = leading_comment(*text);
    found.push_back(std::move(example));
  }
  std::sort(found.begin(), found.end(), [](const Example& a, const Example& b) {
    return std::pair(a.number, a.path) < std::pair(b.number, b.path);
  });
  return found;
}

}  // namespace tutti::gui
