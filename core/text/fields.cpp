#include "core/text/fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor& descriptor(const Message& message, const std::string& name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  TUTTI_CHECK(field != nullptr && !field->is_repeated(), "{} has no single field {}",
              message.GetDescriptor()->name(), name);
  return *field;
}

std::int64_t integer_value(const Message& message, const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32
             ? message.GetReflection()->GetInt32(message, &field)
             : message.GetReflection()->GetInt64(message, &field);
}

}  // namespace

bool Fields::has(const Message& message, const std::string& field) const {
  return message.GetReflection()->HasField(message, &descriptor(message, field));
}

std::optional<double> Fields::number(const Message& message, const std::string& field,
                                     const std::string& what, Bounds bounds) {
  if (!has(message, field)) return std::nullopt;
  const double value = message.GetReflection()->GetDouble(message, &descriptor(message, field));
  const bool high_enough = bounds.or_equal ? value >= bounds.least : value > bounds.least;
  if (high_enough && value <= bounds.most) return value;
  const auto code = high_enough ? ProblemCode::kTooLarge : ProblemCode::kTooSmall;
  const std::string least =
      fmt::format("{} {}", bounds.or_equal ? "at least" : "above", bounds.least);
  complain_at(message, field, code, "{}: {} must be {} (got {})", what, field,
              high_enough ? fmt::format("at most {}", bounds.most) : least, value);
  return std::nullopt;
}

std::optional<double> Fields::required(const Message& message, const std::string& field,
                                       const std::string& what, Bounds bounds,
                                       const std::string& remedy) {
  if (!has(message, field)) {
    // Report the problem at the position of the field. If a wrong value was already reported at
    // this position, no second problem is added.
    complain_at(message, field, ProblemCode::kMissing, "{}: {} is missing{}", what, field,
                remedy.empty() ? "" : "; " + remedy);
    return std::nullopt;
  }
  return number(message, field, what, bounds);
}

std::optional<std::int64_t> Fields::integer(const Message& message, const std::string& field,
                                            const std::string& what, std::int64_t least,
                                            std::int64_t most) {
  if (!has(message, field)) return std::nullopt;
  const std::int64_t value = integer_value(message, descriptor(message, field));
  if (value >= least && value <= most) return value;
  complain_at(message, field, value < least ? ProblemCode::kTooSmall : ProblemCode::kTooLarge,
              "{}: {} must be {} (got {})", what, field,
              value < least ? fmt::format("at least {}", least) : fmt::format("at most {}", most),
              value);
  return std::nullopt;
}

}  // namespace tutti::core
