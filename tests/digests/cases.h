#pragma once

#include <string>
#include <vector>

namespace tutti::test {

/// A scenario whose predicted values have digests.
struct DigestCase {
  std::string name;  ///< such as "042" (corpus), "06_resnet50_nccl" (shipped) or
                     ///< "algorithm_swing"
  std::string axes;  ///< the generator's choices: "family=horovod algorithm=nccl …"
  std::string text;
  std::string path;  ///< the name in errors, and the base of relative paths
  bool shipped = false;
};

/// Returns the folder of the corpus and the digests.
std::string digests_folder();
std::string corpus_path();

/// Returns the scenarios of scenarios/*.textproto, sorted by name.
std::vector<DigestCase> shipped_cases();
/// Returns a scenario for each shipped algorithm file that is correct: an all-reduce, or another
/// collective, over two or four nodes.
std::vector<DigestCase> algorithm_cases();
/// Returns the scenarios of the corpus file, in its order. Throws std::runtime_error if it cannot
/// be read.
std::vector<DigestCase> corpus_cases();
/// Returns the case with this name, from the corpus, the shipped scenarios or the algorithm files.
/// Throws std::runtime_error if there is none.
DigestCase case_named(const std::string& name);

/// Reads the corpus file, in which a line "=== 042 AXES" precedes each scenario.
std::vector<DigestCase> parse_corpus(const std::string& text);
/// The inverse of parse_corpus().
std::string format_corpus(const std::vector<DigestCase>& cases);

/// Returns the content of a file. Throws std::runtime_error if it cannot be read.
std::string content_of(const std::string& path);
/// Writes a file. Throws std::runtime_error if it cannot be written.
void write_file(const std::string& path, const std::string& content);

}  // namespace tutti::test
