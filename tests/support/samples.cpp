#include "tests/support/samples.h"

#include <stdexcept>

#include "core/base/file.h"
#include "tests/support/clusters.h"

namespace tutti::test {

std::string sample_path(const std::string& file) {
  return source_folder() + "/tests/data/traces/" + file;
}

std::string sample(const std::string& file) {
  const auto text = core::read_text_file(sample_path(file), core::TextSource::kAnything);
  if (!text) throw std::runtime_error(text.error().message());
  return *text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t found = 0;
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    ++found;
  }
  if (found == 0) throw std::runtime_error("no " + from);
  return text;
}

}  // namespace tutti::test
