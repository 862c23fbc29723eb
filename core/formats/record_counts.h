#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tutti::core {

/// Counts the used and the unused records of a file, by kind, so that the user can see what an
/// import has omitted.
class RecordCounts {
 public:
  using ByName = std::map<std::string, std::int64_t, std::less<>>;

  void use(std::string_view name, std::int64_t records = 1) { add(used_, name, records); }
  /// Counts records of a known kind that the import does not use.
  void ignore(std::string_view name, std::int64_t records = 1) { add(ignored_, name, records); }
  /// Counts records of a kind that the reader does not know.
  void unknown(std::string_view name, std::int64_t records = 1) { add(unknown_, name, records); }
  /// Counts records that cannot be used because data is missing. `why` states what is missing.
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
  /// The maximum number of kinds that are counted separately. Records of all further kinds are
  /// counted together as "others".
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
