#pragma once

// Notes explain those parts of a plan that a user might not expect. A note consists of a sentence
// for people and a code for programs and tests. The code stays the same when the wording of the
// sentence changes.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tutti::core {

struct Note {
  std::string_view code;  ///< a string literal that names the subject and the statement:
                          ///< "tensorflow.auto-is-ring"
  std::string text;

  bool operator==(const Note&) const = default;
};

/// A list of notes in the order in which they were added. A text that was already added is not
/// added again.
class Notes {
 public:
  /// Adds a note. `code` must outlive the list of notes, so it should be a string literal.
  template <class... Args>
  void add(std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
    add(Note{code, fmt::format(format, std::forward<Args>(args)...)});
  }
  void add(Note note) {
    const auto same = [&](const Note& other) { return other.text == note.text; };
    if (std::none_of(all_.begin(), all_.end(), same)) all_.push_back(std::move(note));
  }
  void add(const Notes& notes) {
    for (const Note& note : notes.all_) add(note);
  }

  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] bool has(std::string_view code) const {
    return std::any_of(begin(), end(), [&](const Note& note) { return note.code == code; });
  }
  [[nodiscard]] std::vector<std::string_view> codes() const {
    std::vector<std::string_view> codes;
    for (const Note& note : all_) codes.push_back(note.code);
    return codes;
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Note& note : all_) texts.push_back(note.text);
    return texts;
  }

  bool operator==(const Notes&) const = default;

 private:
  std::vector<Note> all_;
};

}  // namespace tutti::core
