#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/base/check.h"

namespace tutti::core {

std::string to_string(const Location& where) {
  if (where.file.empty()) return "";
  if (where.line == 0) return where.file;
  if (where.column == 0) return fmt::format("{}:{}", where.file, where.line);
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

std::string to_string(const Problem& problem) {
  const std::string where = to_string(problem.where);
  return where.empty() ? problem.text : where + ": " + problem.text;
}

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(ProblemCode::kCount)>
    kNamesOfCodes = {"invalid",    "syntax",       "missing",       "unknown-field", "unknown-name",
                     "wrong-type", "too-small",    "too-large",     "duplicate",     "conflict",
                     "unused",     "unsupported",  "timeout",       "lost",          "wrong-result",
                     "protocol",   "incompatible", "out-of-memory", "system",        "damaged",
                     "stopped"};

}  // namespace

std::string_view to_string(ProblemCode code) {
  return kNamesOfCodes.at(static_cast<std::size_t>(code));
}

std::optional<ProblemCode> parse_problem_code(std::string_view name) {
  const auto* const found = std::find(kNamesOfCodes.begin(), kNamesOfCodes.end(), name);
  if (found == kNamesOfCodes.end()) return std::nullopt;
  return static_cast<ProblemCode>(found - kNamesOfCodes.begin());
}

Error Error::request(std::string text, Location where) {
  return request(ProblemKind{}, std::move(text), std::move(where));
}

Error Error::request(ProblemKind kind, std::string text, Location where) {
  std::vector<Problem> problems;
  problems.push_back({std::move(where), std::move(text), std::move(kind)});
  return {ErrorKind::kRequest, std::move(problems)};
}

Error Error::run(std::string text) { return run(ProblemKind{}, std::move(text)); }

Error Error::run(ProblemKind kind, std::string text) {
  Error error = request(std::move(kind), std::move(text));
  error.kind_ = ErrorKind::kRun;
  return error;
}

std::string Error::message() const {
  std::string text;
  for (const Problem& problem : problems_) {
    if (!text.empty()) text += '\n';
    text += to_string(problem);
  }
  return text;
}

void Problems::add(Problem problem) {
  if (spoiled_.contains(problem.where)) return;
  if (full()) {
    ++left_out_;
  } else {
    problems_.push_back(std::move(problem));
  }
}

tl::unexpected<Error> Problems::take() {
  TUTTI_CHECK(!problems_.empty(), "an error needs at least one problem");
  // Sort the problems by file, and by position within a file. Files keep the order in which their
  // first problems were reported.
  std::vector<std::string> files;
  for (const Problem& problem : problems_) {
    if (std::find(files.begin(), files.end(), problem.where.file) == files.end())
      files.push_back(problem.where.file);
  }
  const auto place = [&files](const Problem& problem) {
    const auto file = std::find(files.begin(), files.end(), problem.where.file) - files.begin();
    return std::tuple(file, problem.where.line, problem.where.column);
  };
  std::stable_sort(problems_.begin(), problems_.end(),
                   [&place](const Problem& a, const Problem& b) { return place(a) < place(b); });
  if (full()) {
    // The message does not state the number of further problems, because the caller may have
    // stopped checking.
    Problem& rest = problems_.emplace_back();
    rest.where.file = files.front();
    rest.text = fmt::format("only the first {} problems are shown; fix them to see the rest", kMax);
  }
  return tl::make_unexpected(Error(ErrorKind::kRequest, std::move(problems_)));
}

namespace {

/// Returns the Levenshtein distance of two texts if it is at most `limit`; otherwise, returns a
/// larger number. Only one row of the distance matrix is in memory. Every entry is at least the
/// difference of its row and column numbers, so only entries within `limit` of the diagonal are
/// computed (Ukkonen 1985). An unknown name is compared with hundreds of names.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t too_far = limit + 1;
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return too_far;
  std::vector<std::size_t> row(b.size() + 1, too_far);
  for (std::size_t j = 0; j <= std::min(b.size(), limit); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = std::min(b.size(), i + limit);
    std::size_t diagonal = row[first - 1];
    row[first - 1] = first == 1 ? std::min(i, too_far) : too_far;
    std::size_t smallest = row[first - 1];
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min(substituted, std::min(row[j], row[j - 1]) + 1);
      smallest = std::min(smallest, row[j]);
    }
    if (smallest > limit) return too_far;
  }
  return row[b.size()];
}

/// Returns the name in lower case, with '_' in place of '-'. Differences in these characters are
/// the least important ones.
std::string normalized(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

/// Returns how dissimilar a written name and a candidate are; 0 if they are equal after
/// normalization. If the result is above `limit`, it is not exact.
std::size_t dissimilarity(const std::string& written, const std::string& candidate,
                          std::size_t limit) {
  if (written == candidate) return 0;
  // Frequent mistakes are to type only the beginning of a name ("resnet50") or another part of it
  // ("h100").
  if (written.size() >= 3 && candidate.starts_with(written)) return 1;
  const std::size_t edits = edit_distance(written, candidate, limit);
  const bool part = written.size() >= 3 && candidate.find(written) != std::string::npos;
  // Or a longer name ("batch_size" for "batch").
  const bool longer = candidate.size() >= 4 && written.starts_with(candidate + '_');
  return part || longer ? std::min<std::size_t>(edits, 2) : edits;
}

/// Returns the letters and digits of a name: "ResNet-50" and "resnet50" have the same ones.
std::string letters_and_digits(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result += c;
  }
  return result;
}

/// Returns a dissimilarity that ignores all punctuation, if the written name is a candidate or a
/// part of it: "p4d.24xlarge" is a part of "ec2-p4d-24xlarge". Otherwise, returns a large number.
/// `name`: the letters and digits of the written name.
std::size_t dissimilarity_without_punctuation(const std::string& name,
                                              const std::string& candidate) {
  constexpr std::size_t kNone = 1000;
  if (name.size() < 3) return kNone;
  const std::string other = letters_and_digits(candidate);
  return other.starts_with(name) ? 1 : other.find(name) != std::string::npos ? 2 : kNone;
}

}  // namespace

std::string did_you_mean(std::string_view written, const std::vector<std::string>& candidates) {
  constexpr std::size_t kMaxSuggestions = 4;
  const std::string name = normalized(written.substr(0, 64));
  const std::string letters = letters_and_digits(name);
  std::vector<const std::string*> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3);
  for (const std::string& candidate : candidates) {
    const std::string other = normalized(candidate);
    const std::size_t distance = std::min(dissimilarity(name, other, best_distance),
                                          dissimilarity_without_punctuation(letters, other));
    if (distance > best_distance) continue;
    if (distance < best_distance) best.clear();
    best_distance = distance;
    best.push_back(&candidate);
  }
  if (best.empty()) return "";
  best.resize(std::min(best.size(), kMaxSuggestions));
  std::string text;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (i > 0) text += i + 1 == best.size() ? " or " : ", ";
    text += '"' + *best[i] + '"';
  }
  return "; did you mean " + text + "?";
}

}  // namespace tutti::core
