#pragma once

#include <string>
#include <vector>

namespace tutti::test {

/// A scenario whose predicted values are held against digests.
struct DigestCase {
  std::string name;  ///< "042" of the corpus, "06_resnet50_nccl" of the shipped ones
  std::string axes;  ///< "family=horovod algorithm=nccl …": what the generator chose; empty for shipped scenarios
  std::string text;
  std::string path;  ///< what errors call it, and where relative paths in it start
  bool shipped = false;
};

/// Where the corpus and the digests lie.
std::string digests_folder();
std::string corpus_path();

/// The scenarios of scenarios/*.textproto, in the order of their names.
std::vector<DigestCase> shipped_cases();
/// The scenarios of the corpus file, in its order. Throws std::runtime_error if it cannot be read.
std::vector<DigestCase> corpus_cases();
/// All of them. Throws std::runtime_error if there is none of that name.
DigestCase case_named(const std::string& name);

/// The corpus file: a line "=== 042 AXES" before each scenario.
std::vector<DigestCase> parse_corpus(const std::string& text);
std::string format_corpus(const std::vector<DigestCase>& cases);

/// The content of a file. Throws std::runtime_error if it cannot be read.
std::string content_of(const std::string& path);
/// Throws std::runtime_error if the file cannot be written.
void write_file(const std::string& path, const std::string& content);

}  // namespace tutti::test
