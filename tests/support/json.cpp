#include "tests/support/json.h"

#include "core/base/file.h"
#include "tests/support/clusters.h"

namespace tutti::test {

core::Value parse_or_throw(const std::string& text, const std::string& name) {
  core::Problems problems;
  core::Document document = core::parse_json(text, name, problems);
  if (!problems.empty()) throw std::runtime_error(problems.take().value().message());
  return std::move(document.root);
}

core::Value load_data(const std::string& name) {
  const std::string path = source_folder() + "/tests/data/" + name;
  const auto text = core::read_text_file(path);
  if (!text) throw std::runtime_error(text.error().message());
  return parse_or_throw(*text, path);
}

}  // namespace tutti::test
