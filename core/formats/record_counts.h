#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tutti::core {

/// How many records of a file were used, and which were not: by name, so that a reader can see what
/// is missing.
class RecordCounts {
 public:
  using ByName = std::map<std::string, std::int64_t, std::less<>>;

  void use(std::string_view name, std::int64_t records = 1) { add(used_, name, records); }
  /// Records whose kind is known, and that say nothing that is imported.
  void ignore(std::string_view name, std::int64_t records = 1) { add(ignored_, name, records); }
  /// Records of kinds that the reader does not know.
  void unknown(std::string_view name, std::int64_t records = 1) { add(unknown_, name, records); }
  /// Records that would be used, but lack something: `why` says what.
  void incomplete(std::string_view why, std::int64_t records = 1) {
    add(incomplete_, why, records);
  }

  [[nodiscard]] const ByName& used() const { return used_; }
  [[nodiscard]] const ByName& ignored() const { return ignored_; }
  [[nodiscard]] const ByName& unknown() const { return unknown_; }
  [[nodiscard]] const ByName& incomplete() const { return incomplete_; }
  static std::int64_t sum(const ByName& records) {
    std::int64_t all = 0;
    for (const auto& [name, number] : records) all += number;
    return all;
  }

 private:
  /// A file may have any number of names; those beyond this are counted together.
  static constexpr std::size_t kMaxNames = 200;
  static constexpr std::size_t kLongestName = 80;

  static void add(ByName& to, std::string_view name, std::int64_t records) {
    name = name.substr(0, kLongestName);
    if (const auto known = to.find(name); known != to.end()) {
      known->second += records;
    } else {
      to[std::string(to.size() < kMaxNames ? name : std::string_view("others"))] += records;
    }
  }

  ByName used_, ignored_, unknown_, incomplete_;
};

}  // namespace tutti::core
