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

  void add_message(const google::protobuf::Message& message, Position at) { places_[{&message, "", 0}] = at; }
  void add_field(const google::protobuf::Message& message, const std::string& field, int index, Position at) {
    places_[{&message, field, index}] = at;
  }

  /// Something that was written in the message is not in it, because it did not fit.
  void add_misfit(const google::protobuf::Message& message) { misfits_.insert(&message); }
  /// True if everything that was written in the message, and in the messages inside it, is in it. A message that is not
  /// whole differs from what its author wrote, so nothing is built of it.
  [[nodiscard]] bool whole(const google::protobuf::Message& message) const { return !misfits_.contains(&message); }

  /// Where the message begins.
  [[nodiscard]] Location at(const google::protobuf::Message& message) const;
  /// Where the value of a field stands (`index` for repeated fields); where its message begins if it was not written.
  [[nodiscard]] Location at(const google::protobuf::Message& message, const std::string& field, int index = 0) const;
  /// The file as a whole.
  [[nodiscard]] Location file() const { return {file_, 0, 0}; }

 private:
  using Key = std::tuple<const google::protobuf::Message*, std::string, int>;
  std::string file_;
  std::map<Key, Position> places_;
  std::set<const google::protobuf::Message*> misfits_;
};

/// What problems are about: "Network", or "Network.latency_us".
std::string schema_name(const google::protobuf::Message& message, const std::string& field = "");

/// Messages in fields that the schema of the message around them does not have: those of programs that bring schemas along.
class GuestMessages {
 public:
  GuestMessages();
  GuestMessages(GuestMessages&&) noexcept;
  GuestMessages& operator=(GuestMessages&&) noexcept;
  ~GuestMessages();

  /// Messages of type `host` may have a field `field` that holds a message like `prototype`.
  void expect(const google::protobuf::Descriptor& host, const std::string& field,
              const google::protobuf::Message& prototype);
  [[nodiscard]] bool expected(const google::protobuf::Descriptor& host, const std::string& field) const;
  /// A message for a field that is expected, which stays where it is; null if there is one already.
  google::protobuf::Message* add(const std::string& field);
  /// The message that was written in `field`; null if none was.
  [[nodiscard]] const google::protobuf::Message* find(const std::string& field) const;
  /// What is expected, in that order.
  void visit(const std::function<void(const google::protobuf::Descriptor& host, const std::string& field,
                                      const google::protobuf::Descriptor& message)>& visitor) const;

 private:
  struct Guest;
  std::vector<Guest> guests_;
};

/// Fills `message` from a document, by the message's schema. Every value that does not fit is a problem, and is left
/// out, so that the messages around it are not whole (SourceMap::whole()): unknown fields and enum values (with the nearest known name), wrong types, numbers that do not fit or are not
/// finite, fields given twice. JSON's conventions (camel-case names, numbers in quotes, null) are accepted with
/// `json`. `guests`: what may be written besides; what was is in there then.
void bind(const Value& document, google::protobuf::Message& message, SourceMap& sources, Problems& problems,
          GuestMessages* guests = nullptr);

}  // namespace tutti::core
