#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/text/document.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace tutti::core {

/// Remembers where each field of a message was written.
/// Keyed by the message's address: the message must stay where it was when it was bound.
class SourceMap {
 public:
  explicit SourceMap(std::string file) : file_(std::move(file)) {}

  void add_message(const google::protobuf::Message& message, Position at) {
    places_[{&message, "", 0}] = at;
  }
  void add_field(const google::protobuf::Message& message, const std::string& field, int index,
                 Position at) {
    places_[{&message, field, index}] = at;
  }

  /// Records that something written in the message was left out of it because it did not fit.
  void add_misfit(const google::protobuf::Message& message) { misfits_.insert(&message); }
  /// True if everything that was written in the message, and in the messages inside it, is in it.
  /// Nothing is built from a message that is not whole, since it differs from what its author
  /// wrote.
  [[nodiscard]] bool whole(const google::protobuf::Message& message) const {
    return !misfits_.contains(&message);
  }

  /// Returns the location where the message begins.
  [[nodiscard]] Location at(const google::protobuf::Message& message) const;
  /// Returns the location of a field's value (`index` for repeated fields); where its message
  /// begins if it was not written.
  [[nodiscard]] Location at(const google::protobuf::Message& message, const std::string& field,
                            int index = 0) const;
  /// Returns the location that stands for the file as a whole.
  [[nodiscard]] Location file() const { return {file_, 0, 0}; }

 private:
  using Key = std::tuple<const google::protobuf::Message*, std::string, int>;
  std::string file_;
  std::map<Key, Position> places_;
  std::set<const google::protobuf::Message*> misfits_;
};

/// Returns the subject of a problem as the schema names it: "Network", or "Network.latency_us".
std::string schema_name(const google::protobuf::Message& message, const std::string& field = "");

/// Messages in fields that the schema of the enclosing message does not define; used by programs
/// that add schemas of their own.
class GuestMessages {
 public:
  GuestMessages();
  GuestMessages(GuestMessages&&) noexcept;
  GuestMessages& operator=(GuestMessages&&) noexcept;
  ~GuestMessages();

  /// Allows messages of type `host` to have a field `field` that holds a message of the same type
  /// as `prototype`.
  void expect(const google::protobuf::Descriptor& host, const std::string& field,
              const google::protobuf::Message& prototype);
  [[nodiscard]] bool expected(const google::protobuf::Descriptor& host,
                              const std::string& field) const;
  /// Adds a message for an expected field and returns it; null if there is one already. Its address
  /// does not change.
  google::protobuf::Message* add(const std::string& field);
  /// Returns the message that was written in `field`; null if none was.
  [[nodiscard]] const google::protobuf::Message* find(const std::string& field) const;
  /// Calls `visitor` for each expected field, in the order in which they were declared.
  void visit(
      const std::function<void(const google::protobuf::Descriptor& host, const std::string& field,
                               const google::protobuf::Descriptor& message)>& visitor) const;

 private:
  struct Guest;
  std::vector<Guest> guests_;
};

/// Parses a file that a scenario names, and fills `message` from it as bind() does. If no field of
/// the message is in it, the file is something else: one problem says so and quotes nothing, since
/// a scenario of unknown origin may name a file whose content is not to be printed.
Document bind_named_file(const std::string& text, const std::string& path,
                         google::protobuf::Message& message, SourceMap& sources,
                         Problems& problems);

/// Fills `message` from a document according to the message's schema. Every value that does not fit
/// is reported and left out, so that the messages around it are not whole (SourceMap::whole()):
/// unknown fields and enum values (with the nearest known name), wrong types, numbers that do not
/// fit or are not finite, fields given twice. With `json`, JSON's conventions (camel-case names,
/// numbers in quotes, null) are accepted. `guests`: additional fields that are allowed; receives
/// those that were written.
void bind(const Value& document, google::protobuf::Message& message, SourceMap& sources,
          Problems& problems, GuestMessages* guests = nullptr);

}  // namespace tutti::core
