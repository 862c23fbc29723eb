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

/// Stores, for each field of a message, where the field is written in the text. Messages are
/// identified by their addresses, so messages must not be moved after bind().
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

  /// Records that a value in the text of `message` was left out, because `message` cannot store it.
  void add_partial(const google::protobuf::Message& message) { partial_.insert(&message); }
  /// True if every value in the text of the message was stored, including the values of messages
  /// inside the message. If the result is false, callers must not use the message, because it
  /// differs from its text.
  [[nodiscard]] bool whole(const google::protobuf::Message& message) const {
    return !partial_.contains(&message);
  }

  /// Returns the location at which the message begins.
  [[nodiscard]] Location at(const google::protobuf::Message& message) const;
  /// Returns the location of a field's value; for a repeated field, the location of the element
  /// with this index. If the field was not written, returns the location at which the message
  /// begins.
  [[nodiscard]] Location at(const google::protobuf::Message& message, const std::string& field,
                            int index = 0) const;
  /// Returns the location that stands for the file as a whole.
  [[nodiscard]] Location file() const { return {file_, 0, 0}; }

 private:
  using Key = std::tuple<const google::protobuf::Message*, std::string, int>;
  std::string file_;
  std::map<Key, Position> places_;
  std::set<const google::protobuf::Message*> partial_;
};

/// Returns the subject of a problem in the form of the schema: "Network", or "Network.latency_us".
std::string schema_name(const google::protobuf::Message& message, const std::string& field = "");

/// Messages that a program adds to Tutti's schema: such a message is the value of a field that the
/// schema of the enclosing message does not define.
class GuestMessages {
 public:
  GuestMessages();
  GuestMessages(GuestMessages&&) noexcept;
  GuestMessages& operator=(GuestMessages&&) noexcept;
  ~GuestMessages();

  /// Allows a field named `field` in messages of type `host`. The field's value is a message of the
  /// same type as `prototype`.
  void expect(const google::protobuf::Descriptor& host, const std::string& field,
              const google::protobuf::Message& prototype);
  [[nodiscard]] bool expected(const google::protobuf::Descriptor& host,
                              const std::string& field) const;
  /// Adds a message for an expected field and returns the message. Returns null if the field
  /// already has a message. The address of the message does not change.
  google::protobuf::Message* add(const std::string& field);
  /// Returns the message of `field`; null if it was not written.
  [[nodiscard]] const google::protobuf::Message* find(const std::string& field) const;
  /// Calls `visitor` for each field for which expect() was called, in the order of these calls.
  void visit(
      const std::function<void(const google::protobuf::Descriptor& host, const std::string& field,
                               const google::protobuf::Descriptor& message)>& visitor) const;

 private:
  struct Guest;
  std::vector<Guest> guests_;
};

/// Parses a file whose path is written in a scenario, and fills `message` from the file as bind()
/// does. If the file has none of the message's fields, the only reported problem is that the file
/// has another type. The text of this problem does not quote the file, because a scenario of
/// unknown origin may name a file whose content must not be printed.
Document bind_named_file(const std::string& text, const std::string& path,
                         google::protobuf::Message& message, SourceMap& sources,
                         Problems& problems);

/// Fills `message` from a document according to the message's schema. Invalid values are reported
/// and left out, and SourceMap::whole() is then false for all messages that contain them. The
/// invalid values are: unknown fields and enum values (reported with the most similar known name),
/// values of a wrong type, numbers that are out of range or not finite, and fields that occur
/// twice. JSON's conventions (camel-case names, numbers in quotes, null) are accepted. `guests`
/// defines additional fields that are allowed, and stores their messages.
void bind(const Value& document, google::protobuf::Message& message, SourceMap& sources,
          Problems& problems, GuestMessages* guests = nullptr);

}  // namespace tutti::core
